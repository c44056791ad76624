/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/build.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "builder/artifact_manifest.h"
#include "builder/kbuild.h"
#include "builder/kernel_config.h"
#include "builder/kernel_image.h"
#include "builder/layout.h"
#include "builder/modules.h"
#include "builder/object_folder.h"
#include "builder/toolchain.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/json.h"
#include "sentinel/base/text.h"

#define MINIMUM_FREE_BYTES (INT64_C(2) << 30)

/* One build while it is under way; all paths lie below the build folder. */
struct job {
	struct source_tree *source;
	const struct policy_tree *policy;
	const char *tree_id;
	size_t layout;
	const char *flags; /* of the layout */
	struct toolchain toolchain;
	struct digest config_inputs;
	char key[DIGEST_SIZE];
	char *objects;
	char *config_folder;
	char *staging;
	char *log_path;
	char *progress;
	struct kbuild kbuild;
	struct kernel_config config;
	struct kbuild_result outcome; /* of the last step of make */
};

static void job_free(struct job *job)
{
	toolchain_free(&job->toolchain);
	kbuild_result_free(&job->outcome);
	free(job->objects);
	free(job->config_folder);
	free(job->staging);
	free(job->log_path);
	free(job->progress);
}
#define auto_job __attribute__((cleanup(job_free)))

static void compute_recipe(const struct digest *config_inputs, const struct toolchain *toolchain,
			   struct digest *ret_recipe)
{
	auto_json json_t *parts =
		json_pack("{s:i, s:s, s:s}", "format", ARTIFACT_FORMAT, "config_inputs",
			  config_inputs->hex, "toolchain", toolchain->identity);
	auto_free char *text = json_to_text(parts);
	digest_text(text, ret_recipe);
}

/* The plain layout's key is the one that it had before there were others. */
static void compute_key(const char *tree_id, const struct digest *recipe, const char *flags,
			char ret_key[static DIGEST_SIZE])
{
	struct digest digest;
	auto_free char *text = text_format("tree %s\nrecipe %s\n%s%s%s", tree_id, recipe->hex,
					   *flags ? "flags " : "", flags, *flags ? "\n" : "");
	digest_text(text, &digest);
	memcpy(ret_key, digest.hex, DIGEST_SIZE);
}

int build_recipe(const struct policy_tree *policy, struct digest *ret_recipe, struct error *err)
{
	auto_toolchain struct toolchain toolchain = {0};
	struct digest config_inputs;
	if (toolchain_detect(&toolchain, err) < 0 ||
	    kernel_config_inputs(policy, &config_inputs, err) < 0)
		return -1;
	compute_recipe(&config_inputs, &toolchain, ret_recipe);
	return 0;
}

int build_key(const struct policy_tree *policy, const char *tree_id, size_t layout,
	      char ret_key[static DIGEST_SIZE], struct error *err)
{
	struct digest recipe;
	const char *flags;
	if (layout_flags(layout, &flags, err) < 0 || build_recipe(policy, &recipe, err) < 0)
		return -1;
	compute_key(tree_id, &recipe, flags, ret_key);
	return 0;
}

void build_plain_key(const struct digest *recipe, const char *tree_id,
		     char ret_key[static DIGEST_SIZE])
{
	compute_key(tree_id, recipe, "", ret_key);
}

/* kbuild itself refuses such folders, and a kernel would be blamed for it. */
static int check_name(const char *folder, struct error *err)
{
	if (strpbrk(folder, " :\t\n"))
		return error_set(err, ERROR_USAGE,
				 "kernels cannot be built in \"%s\": choose a state folder without "
				 "spaces and colons in its path",
				 folder);
	return 0;
}

static int prepare(struct job *job, const char *folder, struct error *err)
{
	struct digest recipe;
	if (check_name(folder, err) < 0 || layout_flags(job->layout, &job->flags, err) < 0 ||
	    toolchain_detect(&job->toolchain, err) < 0 ||
	    kernel_config_inputs(job->policy, &job->config_inputs, err) < 0)
		return -1;
	compute_recipe(&job->config_inputs, &job->toolchain, &recipe);
	compute_key(job->tree_id, &recipe, job->flags, job->key);
	/* One for each layout: a change of the compiler's options would make everything anew. */
	job->objects = job->layout ? text_format("%s/objects-layout-%zu", folder, job->layout)
				   : text_format("%s/objects", folder);
	/* Below the objects, so that it is repaired with them. */
	job->config_folder = text_format("%s/.configuration", job->objects);
	job->staging = text_format("%s/staging", folder);
	job->log_path = text_format("%s/logs/%s.log", folder, job->key);
	job->progress = text_format("building %.12s", job->tree_id);
	return 0;
}

static int check_space(const char *folder, struct error *err)
{
	int64_t free_bytes;
	if (file_free_bytes(folder, &free_bytes, err) < 0)
		return -1;
	if (free_bytes < MINIMUM_FREE_BYTES)
		return error_set(err, ERROR_SYSTEM,
				 "%s has %lld MiB free; a build needs %lld MiB: make room", folder,
				 (long long)(free_bytes >> 20),
				 (long long)(MINIMUM_FREE_BYTES >> 20));
	return 0;
}

static int start_log(const struct job *job, const char *folder, struct error *err)
{
	auto_free char *logs = text_format("%s/logs", folder);
	if (file_make_folders(logs, err) < 0)
		return -1;
	if (unlink(job->log_path) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", job->log_path);
	return 0;
}

static int run_make(struct job *job, const char *const *arguments, struct error *err)
{
	kbuild_result_free(&job->outcome);
	return kbuild_make(&job->kbuild, arguments, &job->outcome, err);
}

static int stage_file(const struct job *job, const char *from, const char *to, struct error *err)
{
	auto_free char *source = text_format("%s/%s", job->objects, from);
	auto_free char *target = text_format("%s/%s", job->staging, to);
	return file_copy(source, target, err);
}

/* What depmod and libkmod need to know about built-in modules; old trees lack the second. */
static int stage_builtin_lists(const struct job *job, const char *release, struct error *err)
{
	static const char *const lists[] = {"modules.builtin", "modules.builtin.modinfo",
					    "modules.order"};
	auto_free char *folder = text_format("%s/modules/lib/modules/%s", job->staging, release);
	if (file_make_folders(folder, err) < 0)
		return -1;
	for (size_t i = 0; i < array_length(lists); i++) {
		auto_free char *source = text_format("%s/%s", job->objects, lists[i]);
		auto_free char *target = text_format("%s/%s", folder, lists[i]);
		if (file_exists(source) && file_copy(source, target, err) < 0)
			return -1;
	}
	return 0;
}

/* modules_install leaves links to the source tree and the objects, which no artifact may hold. */
static int remove_links(const struct job *job, const char *release, struct error *err)
{
	static const char *const links[] = {"build", "source"};
	for (size_t i = 0; i < array_length(links); i++) {
		auto_free char *path = text_format("%s/modules/lib/modules/%s/%s", job->staging,
						   release, links[i]);
		if (unlink(path) < 0 && errno != ENOENT)
			return error_errno(err, ERROR_SYSTEM, "cannot remove %s", path);
	}
	return 0;
}

static int stage_modules(struct job *job, const char *release, struct error *err)
{
	auto_free char *modules = text_format("%s/modules", job->staging);
	auto_free char *cpio = text_format("%s/%s", job->staging, ARTIFACT_MODULES_CPIO);
	auto_free char *install_path = text_format("INSTALL_MOD_PATH=%s", modules);
	const char *const arguments[] = {install_path, "INSTALL_MOD_STRIP=1", "modules_install",
					 NULL};
	bool written;
	if (job->config.has_modules ? run_make(job, arguments, err) < 0
				    : stage_builtin_lists(job, release, err) < 0)
		return -1;
	if (!job->outcome.made)
		return 0;
	if (remove_links(job, release, err) < 0)
		return -1;
	return modules_pack(modules, release, &job->policy->modules, job->toolchain.depmod, cpio,
			    &written, err);
}

static int stage(struct job *job, struct error *err)
{
	auto_artifact struct artifact artifact = {0};
	auto_free char *image = text_format("%s/%s", job->staging, ARTIFACT_IMAGE);
	const struct artifact_sources sources = {.tree = job->tree_id,
						 .config_inputs = job->config_inputs.hex};
	if (file_remove_tree(job->staging, err) < 0 || file_make_folders(job->staging, err) < 0 ||
	    stage_file(job, "arch/x86/boot/bzImage", ARTIFACT_IMAGE, err) < 0 ||
	    stage_file(job, ".config", ARTIFACT_CONFIG, err) < 0 ||
	    stage_file(job, "System.map", ARTIFACT_SYMBOLS, err) < 0 ||
	    kernel_image_identity(image, &artifact.release, &artifact.version, err) < 0 ||
	    stage_modules(job, artifact.release, err) < 0)
		return -1;
	if (!job->outcome.made)
		return 0;
	memcpy(artifact.key, job->key, DIGEST_SIZE);
	memcpy(artifact.config_digest, job->config.digest.hex, DIGEST_SIZE);
	artifact.toolchain = text_copy(job->toolchain.text);
	return artifact_manifest_write(job->staging, &artifact, &sources, err);
}

/* Configuration, image, modules; afterwards job->outcome says whether the sources build. */
static int make_everything(struct job *job, struct error *err)
{
	const struct kernel_config_request request = {.policy = job->policy,
						      .source = job->source,
						      .tree_id = job->tree_id,
						      .inputs = &job->config_inputs,
						      .folder = job->config_folder};
	if (kernel_config_make(&job->kbuild, &request, &job->config, &job->outcome, err) < 0)
		return -1;
	if (!job->outcome.made)
		return 0;
	const char *const targets[] = {"bzImage", job->config.has_modules ? "modules" : NULL, NULL};
	if (run_make(job, targets, err) < 0)
		return -1;
	return job->outcome.made ? stage(job, err) : 0;
}

static int build(struct job *job, const char *folder, struct error *err)
{
	auto_object_folder struct object_folder objects = {.lock = -1};
	const char *work;
	if (check_space(folder, err) < 0 || start_log(job, folder, err) < 0 ||
	    source_tree_checkout(job->source, job->tree_id, &work, err) < 0 ||
	    check_name(work, err) < 0 ||
	    object_folder_open(job->objects, (double)job->policy->build_timeout_seconds, &objects,
			       err) < 0)
		return -1;
	job->kbuild = (struct kbuild){
		.toolchain = &job->toolchain,
		.folder = folder,
		.work = work,
		.objects = job->objects,
		.log_path = job->log_path,
		.progress = job->progress,
		.flags = job->flags,
		.jobs = job->policy->jobs,
		.timeout_seconds = (double)job->policy->build_timeout_seconds,
	};
	if (object_folder_begin(&objects, err) < 0 || make_everything(job, err) < 0)
		return -1;
	/* A make that was killed may have left half a file. */
	return job->outcome.timed_out ? 0 : object_folder_end(&objects, err);
}

static int publish(const struct job *job, struct artifact_store *store, struct build_result *result,
		   struct error *err)
{
	bool found;
	if (!job->outcome.made) {
		result->state = BUILD_FAILED;
		result->reason = text_copy(job->outcome.reason);
		result->timed_out = job->outcome.timed_out;
		return 0;
	}
	if (artifact_store_put(store, job->key, job->staging, err) < 0 ||
	    file_remove_tree(job->staging, err) < 0 ||
	    artifact_store_get(store, job->key, &found, &result->artifact, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_STATE, "artifact %s was damaged while it was stored",
				 job->key);
	result->state = BUILD_OK;
	return 0;
}

int build_kernel(struct source_tree *source, const struct policy_tree *policy, const char *tree_id,
		 size_t layout, const char *folder, struct artifact_store *store,
		 struct build_result *ret_result, struct error *err)
{
	double start = clock_monotonic_seconds();
	auto_job struct job job = {
		.source = source, .policy = policy, .tree_id = tree_id, .layout = layout};
	auto_build_result struct build_result result = {0};
	auto_free char *absolute = NULL;
	if (file_make_folders(folder, err) < 0)
		return -1;
	absolute = realpath(folder, NULL);
	if (!absolute)
		return error_errno(err, ERROR_SYSTEM, "cannot find %s", folder);
	if (prepare(&job, absolute, err) < 0 ||
	    artifact_store_get(store, job.key, &result.reused, &result.artifact, err) < 0)
		return -1;
	if (!result.reused &&
	    (build(&job, absolute, err) < 0 || publish(&job, store, &result, err) < 0))
		return -1;
	result.log_path = take(job.log_path);
	result.seconds = clock_monotonic_seconds() - start;
	*ret_result = result;
	result = (struct build_result){0};
	return 0;
}

void build_result_free(struct build_result *result)
{
	artifact_free(&result->artifact);
	free(result->log_path);
	free(result->reason);
	*result = (struct build_result){0};
}
