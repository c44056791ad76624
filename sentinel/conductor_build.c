/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

/* The configuration counts as the operator wrote it: what kbuild makes of it changes whenever a
   commit adds a symbol. */
int conductor_identity(struct context *context, struct digest *ret_identity, struct error *err)
{
	struct digest recipe;
	if (build_recipe(context->tree, &recipe, err) < 0)
		return -1;
	auto_free char *all = text_format("machine %s\nrecipe %s\n",
					  machine_facts(context->machine)->identity, recipe.hex);
	digest_text(all, ret_identity);
	return 0;
}

static struct store_build remember_build(const struct context *context, const char *tree_id,
					 const char *key, const struct build_result *result)
{
	bool failed = result->state == BUILD_FAILED;
	struct store_build build = {
		.key = text_copy(key),
		.tree_name = text_copy(context->tree->name),
		.failed = failed,
		.image_digest = failed ? NULL : text_copy(result->artifact.image_digest),
		.release = failed ? NULL : text_copy(result->artifact.release),
		.toolchain = failed ? NULL : text_copy(result->artifact.toolchain),
		.config_digest = failed ? NULL : text_copy(result->artifact.config_digest),
		.reason = failed ? text_copy(result->reason) : NULL,
		.log_path = result->log_path ? text_copy(result->log_path) : NULL,
		/* Zero says nothing about what a build takes: nothing was built. */
		.seconds = result->reused ? 0 : result->seconds,
	};
	memcpy(build.tree_id, tree_id, OBJECT_ID_SIZE);
	return build;
}

int conductor_build(struct context *context, const char *commit, size_t layout,
		    struct store_build *ret_build, struct error *err)
{
	auto_commit_info struct commit_info info = {0};
	char key[DIGEST_SIZE];
	bool found;
	if (source_tree_commit_info(context->source, commit, &info, err) < 0 ||
	    build_key(context->tree, info.tree, layout, key, err) < 0 ||
	    store_get_build(context->store, key, &found, ret_build, err) < 0)
		return -1;
	if (found && ret_build->failed)
		return 0;
	struct artifact artifact = {0};
	if (found) {
		if (artifact_store_get(context->artifacts, key, &found, &artifact, err) < 0)
			return -1;
		artifact_free(&artifact);
		if (found)
			return 0;
		store_build_free(ret_build);
	}
	auto_free char *subject = text_one_line(info.subject, 60);
	auto_free char *name = layout ? text_format("%s, layout %zu", short_id(commit), layout)
				      : text_copy(short_id(commit));
	log_notice("build %s \"%s\"", name, subject);
	auto_free char *folder =
		text_format("%s/trees/%s", context->state_folder, context->tree->name);
	auto_build_result struct build_result result = {0};
	if (build_kernel(context->source, context->tree, info.tree, layout, folder,
			 context->artifacts, &result, err) < 0)
		return error_prefix(err, "commit %s", short_id(commit));
	*ret_build = remember_build(context, info.tree, key, &result);
	context->builds++;
	context->build_seconds += result.seconds;
	if (result.state == BUILD_FAILED)
		log_notice("build %s failed after %.0f s: %s", name, result.seconds, result.reason);
	else
		log_notice("build %s %s in %.0f s", name, result.reused ? "found" : "finished",
			   result.seconds);
	/* Out of time is told, and tried again when asked again. */
	if (result.timed_out)
		return 0;
	return store_put_build(context->store, ret_build, err);
}
