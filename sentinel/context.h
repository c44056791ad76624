/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_CONTEXT_H
#define SENTINEL_CONTEXT_H

/*
 * What one run of the program works with: the options, the policy, the store, and the rooms that
 * are opened on demand. Functions that open something return at once when it is open already.
 */

#include <stdbool.h>

#include "bench/machine/machine.h"
#include "builder/build.h"
#include "policies/policy.h"
#include "sentinel/base/error.h"
#include "sentinel/base/json.h"
#include "sentinel/store.h"

struct context {
	const char *config_path;
	const char *state_option; /* --state, or NULL */
	bool json;

	char *state_folder;
	struct policy policy;
	bool policy_loaded;
	struct store *store;
	int lock;
	struct source_tree *source;
	struct artifact_store *artifacts;
	struct machine *machine;

	/* What [night] names; valid once the policy is loaded. */
	const struct policy_tree *tree;
	const struct policy_machine *machine_policy;
	const struct policy_benchmark **benchmarks;
	size_t benchmark_count;

	/* Where the time of this run went. */
	double started_seconds; /* monotonic */
	size_t builds;
	double build_seconds;
	size_t boots;
	double boot_seconds;
};

int context_load_policy(struct context *context, struct error *err);
/* Policy and store, for commands that only look. */
int context_open_store(struct context *context, struct error *err);
/* Policy, store and the lock that says who works in this state folder. */
int context_open_for_work(struct context *context, struct error *err);
int context_open_source(struct context *context, struct error *err);
/* Source and artifacts: all that a build needs. */
int context_open_artifacts(struct context *context, struct error *err);
/* The same and the machine: all that a trial needs. */
int context_open_bench(struct context *context, struct error *err);
void context_close(struct context *context);

/* A revision to a commit id; fetches once when it is not known yet. */
int context_resolve(struct context *context, const char *revision,
		    char ret_id[static OBJECT_ID_SIZE], struct error *err);
/* A notice: where the time of this run went. */
void context_tell_time(const struct context *context);

/* Where the agent lies: installed, beside the program in a build folder, or as the variable
   SENTINEL_AGENT says; the shipped policies are looked for in the same way. The caller frees it. */
int context_agent_path(char **ret_path, struct error *err);

/* Prints VALUE on stdout, indented, and releases it. */
void context_print_json(json_t *value);
/* The first ten digits of an object id, as mails and tables show it; static buffers, four in turn.
 */
const char *short_id(const char *id);

#endif
