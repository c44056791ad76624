/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "sentinel/command.h"
#include "sentinel/conductor.h"

static void print_build(const struct context *context, const char *commit,
			const struct store_build *build)
{
	if (context->json) {
		context_print_json(json_pack(
			"{s:s, s:s, s:s, s:b, s:s?, s:s?, s:s?, s:f, s:s?}", "commit", commit,
			"tree", build->tree_id, "key", build->key, "built", !build->failed,
			"image_digest", build->image_digest, "release", build->release, "reason",
			build->reason, "seconds", build->seconds, "log", build->log_path));
		return;
	}
	if (build->failed)
		printf("%s does not build: %s\nlog: %s\n", short_id(commit), build->reason,
		       build->log_path);
	else
		printf("%s is built: %s, image %.16s, artifact %.16s\n", short_id(commit),
		       build->release, build->image_digest, build->key);
}

int cmd_build(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	      struct error *err)
{
	char commit[OBJECT_ID_SIZE];
	struct store_build build = {0};
	if (context_open_for_work(context, err) < 0 || context_open_artifacts(context, err) < 0 ||
	    context_resolve(context, arguments->operands[0], commit, err) < 0 ||
	    conductor_build(context, commit, 0, &build, err) < 0)
		return -1;
	print_build(context, commit, &build);
	*ret_exit_code = build.failed ? EXIT_REGRESSION : 0;
	store_build_free(&build);
	return 0;
}
