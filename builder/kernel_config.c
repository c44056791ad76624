/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/kernel_config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/json.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define CONFIG_LIMIT_BYTES (8 << 20)
#define MERGE_TIMEOUT_SECONDS 120.0
#define FRAGMENT_NAME_BYTES 48
#define ORIGIN_LIMIT_BYTES 200

/* "tinyconfig" and "x86_64_defconfig" are targets of make; what has a slash is a file. */
static bool is_target(const char *base)
{
	return !strchr(base, '/') && text_ends_with(base, "config");
}

static int read_input(const char *path, char **ret_text, struct error *err)
{
	if (file_read(path, CONFIG_LIMIT_BYTES, ret_text, NULL, err) == 0)
		return 0;
	if (err)
		err->kind = ERROR_USAGE;
	return error_prefix(err, "kernel configuration");
}

static int check_base(const char *base, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	if (!base[0] || base[0] == '-' ||
	    (is_target(base) && strspn(base, allowed) != strlen(base)))
		return error_set(err, ERROR_USAGE,
				 "kernel configuration \"%s\" is neither a target such as "
				 "tinyconfig nor a file",
				 base);
	return 0;
}

static int add_file_digest(json_t *array, const char *path, struct error *err)
{
	struct digest digest;
	auto_free char *text = NULL;
	if (read_input(path, &text, err) < 0)
		return -1;
	digest_text(text, &digest);
	json_array_append_new(array, json_string(digest.hex));
	return 0;
}

int kernel_config_inputs(const struct policy_tree *policy, struct digest *ret_digest,
			 struct error *err)
{
	auto_json json_t *inputs = json_object();
	json_t *base = json_array();
	json_t *fragments = json_array();
	json_t *modules = json_array();
	json_object_set_new(inputs, "base", base);
	json_object_set_new(inputs, "fragments", fragments);
	json_object_set_new(inputs, "modules", modules);
	if (check_base(policy->config, err) < 0)
		return -1;
	if (is_target(policy->config))
		json_array_append_new(base, json_foreign(policy->config, strlen(policy->config)));
	else if (add_file_digest(base, policy->config, err) < 0)
		return -1;
	for (size_t i = 0; i < policy->fragments.count; i++)
		if (add_file_digest(fragments, policy->fragments.items[i], err) < 0)
			return -1;
	for (size_t i = 0; i < policy->modules.count; i++)
		json_array_append_new(modules, json_foreign(policy->modules.items[i],
							    strlen(policy->modules.items[i])));
	auto_free char *text = json_to_text(inputs);
	digest_text(text, ret_digest);
	return 0;
}

static int read_wanted(const struct policy_tree *policy, struct config_symbols *ret_wanted,
		       struct error *err)
{
	for (size_t i = 0; i < policy->fragments.count; i++) {
		auto_free char *text = NULL;
		const char *path = policy->fragments.items[i];
		const char *slash = strrchr(path, '/');
		if (read_input(path, &text, err) < 0 ||
		    config_symbols_parse(text, slash ? slash + 1 : path, ret_wanted, err) < 0)
			return -1;
	}
	return 0;
}

/* A base that no tree knows is the operator's mistake, not a kernel that does not build. */
static int make_base(const struct kbuild *kbuild, const struct policy_tree *policy,
		     const char *candidate, struct kbuild_result *ret_result, struct error *err)
{
	if (!is_target(policy->config)) {
		*ret_result = (struct kbuild_result){.made = true};
		return file_copy(policy->config, candidate, err);
	}
	const char *const arguments[] = {policy->config, NULL};
	if (kbuild_make(kbuild, arguments, ret_result, err) < 0)
		return -1;
	if (ret_result->made || (!strstr(ret_result->reason, "No rule to make target") &&
				 !strstr(ret_result->reason, "Can't find default configuration")))
		return 0;
	error_set(err, ERROR_USAGE, "the tree knows no configuration \"%s\": %s", policy->config,
		  ret_result->reason);
	kbuild_result_free(ret_result);
	return -1;
}

/*
 * The kernel's own script knows how its fragments are merged. It splits names at spaces and writes
 * temporary files where it runs, so it gets plain names in the folder of the configuration.
 */
static int merge_fragments(const struct kbuild *kbuild, const struct policy_tree *policy,
			   struct kbuild_result *ret_result, struct error *err)
{
	size_t count = policy->fragments.count;
	auto_free char *script = text_format("%s/scripts/kconfig/merge_config.sh", kbuild->work);
	auto_free char *names = memory_array(count, FRAGMENT_NAME_BYTES);
	auto_free const char **argv = memory_array(count + 5, sizeof(*argv));
	memcpy(argv, (const char *[]){"sh", script, "-m", ".config"}, 4 * sizeof(*argv));
	for (size_t i = 0; i < count; i++) {
		char *name = names + FRAGMENT_NAME_BYTES * i;
		snprintf(name, FRAGMENT_NAME_BYTES, "fragment-%zu.config", i);
		auto_free char *copy = text_format("%s/%s", kbuild->objects, name);
		if (file_copy(policy->fragments.items[i], copy, err) < 0)
			return -1;
		argv[4 + i] = name;
	}
	static const char *const environment[] = {"KCONFIG_CONFIG=.config", NULL};
	struct process_command command = {.argv = argv,
					  .environment = environment,
					  .folder = kbuild->objects,
					  .stdout_path = kbuild->log_path,
					  .stderr_path = kbuild->log_path,
					  .timeout_seconds = MERGE_TIMEOUT_SECONDS};
	auto_process_result struct process_result process = {0};
	char how[64];
	if (process_run(&command, &process, err) < 0)
		return -1;
	*ret_result = (struct kbuild_result){.made = process_succeeded(&process)};
	if (!ret_result->made)
		ret_result->reason =
			text_format("scripts/kconfig/merge_config.sh: %s",
				    process_describe(&process, MERGE_TIMEOUT_SECONDS, how));
	return 0;
}

/* make rebuilds everything that looks at a .config with a new time. */
static int install(const char *candidate, const char *text, const char *objects, struct error *err)
{
	auto_free char *path = text_format("%s/.config", objects);
	auto_free char *present = NULL;
	if (file_exists(path) && file_read(path, CONFIG_LIMIT_BYTES, &present, NULL, err) == 0 &&
	    strcmp(present, text) == 0)
		return 0;
	return file_copy(candidate, path, err);
}

/* CANDIDATE becomes the configuration of the build. */
static int adopt(const char *candidate, const struct config_symbols *wanted, const char *objects,
		 struct kernel_config *ret_config, struct error *err)
{
	auto_config_symbols struct config_symbols final = {0};
	auto_free char *text = NULL;
	if (file_read(candidate, CONFIG_LIMIT_BYTES, &text, NULL, err) < 0 ||
	    config_symbols_parse(text, candidate, &final, err) < 0 ||
	    config_symbols_check(wanted, &final, err) < 0 ||
	    install(candidate, text, objects, err) < 0)
		return -1;
	config_symbols_digest(&final, &ret_config->digest);
	ret_config->has_modules = strstr(text, "\nCONFIG_MODULES=y\n") != NULL;
	return 0;
}

bool kernel_config_reads(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	/* Kconfig asks the compiler through Makefiles and scripts. */
	return text_starts_with(name, "Kconfig") || text_starts_with(name, "Makefile") ||
	       text_starts_with(path, "scripts/") || text_ends_with(name, "config") ||
	       text_ends_with(name, ".sh") || text_ends_with(name, ".include");
}

/* What the candidate in the folder was made of: "INPUTS-AND-TOOLCHAIN TREE". */
struct origin {
	char inputs[DIGEST_SIZE];
	char tree[OBJECT_ID_SIZE];
};

static int forget(const char *path, struct error *err)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", path);
	return 0;
}

static struct origin wanted_origin(const struct kbuild *kbuild,
				   const struct kernel_config_request *request)
{
	struct origin origin = {0};
	struct digest digest;
	auto_free char *text =
		text_format("%s %s", request->inputs->hex, kbuild->toolchain->identity);
	digest_text(text, &digest);
	memcpy(origin.inputs, digest.hex, DIGEST_SIZE);
	snprintf(origin.tree, sizeof(origin.tree), "%s", request->tree_id);
	return origin;
}

static int is_current(const struct kernel_config_request *request, const char *origin_path,
		      const struct origin *wanted, bool *ret_current, struct error *err)
{
	struct origin present = {0};
	auto_free char *text = NULL;
	bool differs = true;
	if (file_exists(origin_path) &&
	    file_read(origin_path, ORIGIN_LIMIT_BYTES, &text, NULL, err) < 0)
		return -1;
	if (text && sscanf(text, "%64s %40s", present.inputs, present.tree) == 2 &&
	    strcmp(present.inputs, wanted->inputs) == 0 &&
	    source_tree_differs(request->source, present.tree, wanted->tree, kernel_config_reads,
				&differs, err) < 0)
		return -1;
	*ret_current = !differs;
	return 0;
}

/* tinyconfig honours no KCONFIG_CONFIG, so the candidate is made in an object folder of its own. */
static int make_candidate(const struct kbuild *kbuild, const struct policy_tree *policy,
			  const char *candidate, struct kbuild_result *ret_result,
			  struct error *err)
{
	static const char *const complete[] = {"olddefconfig", NULL};
	auto_kbuild_result struct kbuild_result result = {0};
	if (make_base(kbuild, policy, candidate, &result, err) < 0)
		return -1;
	if (result.made && policy->fragments.count &&
	    merge_fragments(kbuild, policy, &result, err) < 0)
		return -1;
	if (result.made && kbuild_make(kbuild, complete, &result, err) < 0)
		return -1;
	*ret_result = result;
	result = (struct kbuild_result){0};
	return 0;
}

int kernel_config_make(const struct kbuild *kbuild, const struct kernel_config_request *request,
		       struct kernel_config *ret_config, struct kbuild_result *ret_result,
		       struct error *err)
{
	auto_config_symbols struct config_symbols wanted = {0};
	auto_kbuild_result struct kbuild_result result = {.made = true};
	auto_free char *candidate = text_format("%s/.config", request->folder);
	auto_free char *origin_path = text_format("%s/made-of", request->folder);
	struct origin origin = wanted_origin(kbuild, request);
	auto_free char *origin_line = text_format("%s %s\n", origin.inputs, origin.tree);
	struct kbuild aside = *kbuild;
	aside.objects = request->folder;
	bool current;
	if (read_wanted(request->policy, &wanted, err) < 0 ||
	    file_make_folders(request->folder, err) < 0 ||
	    is_current(request, origin_path, &origin, &current, err) < 0)
		return -1;
	if (!current && (forget(origin_path, err) < 0 || forget(candidate, err) < 0 ||
			 make_candidate(&aside, request->policy, candidate, &result, err) < 0))
		return -1;
	if (result.made && adopt(candidate, &wanted, kbuild->objects, ret_config, err) < 0)
		return -1;
	if (result.made && !current &&
	    file_write_durable(origin_path, origin_line, strlen(origin_line), err) < 0)
		return -1;
	*ret_result = result;
	result = (struct kbuild_result){0};
	return 0;
}
