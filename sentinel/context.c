/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/context.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

/* "STATE/WHAT"; the caller frees it. */
static char *context_path(const struct context *context, const char *what)
{
	return text_format("%s/%s", context->state_folder, what);
}

/* The folder that holds this program, or NULL. */
static char *program_folder(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length < 0)
		return NULL;
	path[length] = '\0';
	return text_copy(dirname(path));
}

static char *context_shipped_policies(void)
{
	const char *chosen = getenv("SENTINEL_POLICIES");
	if (chosen)
		return text_copy(chosen);
	auto_free char *folder = program_folder();
	if (folder) {
		auto_free char *installed = text_format("%s/../share/sentinel/policies", folder);
		if (file_is_folder(installed))
			return take(installed);
	}
	return text_copy(SENTINEL_SOURCE_POLICIES);
}

int context_agent_path(char **ret_path, struct error *err)
{
	const char *chosen = getenv("SENTINEL_AGENT");
	auto_free char *folder = program_folder();
	const char *const places[] = {"../libexec/sentinel/sentinel-agent",
				      "../bench/sentinel-agent"};
	if (chosen) {
		*ret_path = text_copy(chosen);
		return 0;
	}
	for (size_t i = 0; folder && i < array_length(places); i++) {
		auto_free char *path = text_format("%s/%s", folder, places[i]);
		if (file_exists(path)) {
			*ret_path = take(path);
			return 0;
		}
	}
	return error_set(
		err, ERROR_SYSTEM,
		"sentinel-agent is not beside this program; build or install it, or name it "
		"in the variable SENTINEL_AGENT");
}

static int choose_state_folder(struct context *context, struct error *err)
{
	const char *chosen =
		context->state_option ? context->state_option : getenv("SENTINEL_STATE");
	if (chosen) {
		context->state_folder = text_copy(chosen);
	} else {
		auto_free char *copy = text_copy(context->config_path);
		context->state_folder = text_format("%s/state", dirname(copy));
	}
	if (file_make_folders(context->state_folder, err) < 0)
		return error_prefix(err, "state folder");
	/* Children run in other folders. */
	char *absolute = realpath(context->state_folder, NULL);
	if (!absolute)
		return error_errno(err, ERROR_SYSTEM, "state folder %s", context->state_folder);
	free(context->state_folder);
	context->state_folder = absolute;
	return 0;
}

static int choose_benchmarks(struct context *context, struct error *err)
{
	const struct string_list *names = &context->policy.night.benchmarks;
	context->benchmarks = memory_array(names->count, sizeof(const struct policy_benchmark *));
	context->benchmark_count = names->count;
	for (size_t i = 0; i < names->count; i++)
		if (policy_find_benchmark(&context->policy, names->items[i],
					  &context->benchmarks[i], err) < 0)
			return -1;
	return 0;
}

int context_load_policy(struct context *context, struct error *err)
{
	if (context->policy_loaded)
		return 0;
	auto_free char *shipped = context_shipped_policies();
	if (policy_load(context->config_path, shipped, &context->policy, err) < 0)
		return -1;
	context->policy_loaded = true;
	if (policy_find_tree(&context->policy, context->policy.night.tree, &context->tree, err) <
		    0 ||
	    policy_find_machine(&context->policy, context->policy.night.machine,
				&context->machine_policy, err) < 0)
		return -1;
	return choose_benchmarks(context, err);
}

int context_open_store(struct context *context, struct error *err)
{
	if (context->store)
		return 0;
	if (context_load_policy(context, err) < 0 || choose_state_folder(context, err) < 0)
		return -1;
	auto_free char *path = context_path(context, "sentinel.db");
	return store_open(path, &context->store, err);
}

int context_open_for_work(struct context *context, struct error *err)
{
	if (context_open_store(context, err) < 0)
		return -1;
	if (context->lock >= 0)
		return 0;
	auto_free char *path = context_path(context, "lock");
	return file_lock(path, &context->lock, err);
}

int context_open_source(struct context *context, struct error *err)
{
	if (context->source)
		return 0;
	auto_free char *folder =
		text_format("%s/trees/%s", context->state_folder, context->tree->name);
	if (file_make_folders(folder, err) < 0)
		return -1;
	return source_tree_open(context->tree, folder, &context->source, err);
}

int context_open_artifacts(struct context *context, struct error *err)
{
	if (context_open_source(context, err) < 0)
		return -1;
	if (context->artifacts)
		return 0;
	auto_free char *folder = context_path(context, "artifacts");
	if (file_make_folders(folder, err) < 0)
		return -1;
	return artifact_store_open(folder, &context->artifacts, err);
}

int context_open_bench(struct context *context, struct error *err)
{
	if (context_open_artifacts(context, err) < 0)
		return -1;
	if (context->machine)
		return 0;
	auto_free char *agent = NULL;
	auto_free char *folder =
		text_format("%s/machines/%s", context->state_folder, context->machine_policy->name);
	if (context_agent_path(&agent, err) < 0 || file_make_folders(folder, err) < 0)
		return -1;
	return machine_open(context->machine_policy, context->benchmarks, context->benchmark_count,
			    agent, folder, &context->machine, err);
}

void context_close(struct context *context)
{
	machine_close(&context->machine);
	artifact_store_close(&context->artifacts);
	source_tree_close(&context->source);
	store_close(&context->store);
	cleanup_close(&context->lock);
	free(context->benchmarks);
	if (context->policy_loaded)
		policy_free(&context->policy);
	free(context->state_folder);
}

int context_resolve(struct context *context, const char *revision,
		    char ret_id[static OBJECT_ID_SIZE], struct error *err)
{
	struct error unknown;
	if (source_tree_resolve(context->source, revision, ret_id, &unknown) == 0)
		return 0;
	if (source_tree_fetch(context->source, err) < 0)
		return -1;
	return source_tree_resolve(context->source, revision, ret_id, err);
}

void context_tell_time(const struct context *context)
{
	log_notice("time: %zu builds %.0f s, %zu boots %.0f s, all %.0f s", context->builds,
		   context->build_seconds, context->boots, context->boot_seconds,
		   clock_monotonic_seconds() - context->started_seconds);
}

void context_print_json(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(value);
}

const char *short_id(const char *id)
{
	static char buffers[4][11];
	static unsigned int turn;
	char *buffer = buffers[turn++ % array_length(buffers)];
	snprintf(buffer, sizeof(buffers[0]), "%.10s", id);
	return buffer;
}
