/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/judge.h"
#include "sentinel/planner.h"

/* The trial that an interruption left unfinished, or the next free number. */
static int next_sequence(struct context *context, const char *commit, int64_t *ret_sequence,
			 struct error *err)
{
	struct store_trial *trials;
	size_t count;
	if (store_list_trials(context->store, PURPOSE_MEASURE, 0, NULL, 100000, &trials, &count,
			      err) < 0)
		return -1;
	int64_t next = 0;
	int64_t unfinished = -1;
	for (size_t i = 0; i < count; i++) {
		if (trials[i].sequence >= next)
			next = trials[i].sequence + 1;
		if (!trial_is_final(trials[i].state) && strcmp(trials[i].commit, commit) == 0)
			unfinished = trials[i].sequence;
	}
	store_trials_free(trials, count);
	*ret_sequence = unfinished >= 0 ? unfinished : next;
	return 0;
}

static json_t *boot_json(const struct store_boot *boot)
{
	json_t *values = json_array();
	for (size_t i = 0; i < boot->count; i++)
		json_array_append_new(values, json_real(boot->values[i]));
	return json_pack("{s:s, s:s, s:s, s:o, s:I}", "series", boot->series, "unit", boot->unit,
			 "command", boot->command, "values", values, "invalid_runs",
			 (json_int_t)boot->invalid);
}

static void print_boot(const struct store_boot *boot)
{
	printf("  %-44s", boot->series);
	for (size_t i = 0; i < boot->count; i++)
		printf(" %g", boot->values[i]);
	printf(" %s", boot->unit);
	if (boot->invalid)
		printf("  (%zu runs gave no valid number)", boot->invalid);
	putchar('\n');
}

static int print_trial(struct context *context, const struct store_trial *trial, struct error *err)
{
	struct store_boot *boots;
	size_t count;
	if (store_boots(context->store, PURPOSE_MEASURE, 0, trial->commit, NULL, &boots, &count,
			err) < 0)
		return -1;
	json_t *series = json_array();
	if (!context->json)
		printf("trial %lld of %s: %s%s%s\nclock: %s\nconsole: %s\n", (long long)trial->id,
		       short_id(trial->commit), trial_state_name(trial->state),
		       trial->reason ? ": " : "", trial->reason ? trial->reason : "",
		       trial->clock ? trial->clock : "none",
		       trial->console_path ? trial->console_path : "none");
	for (size_t i = 0; i < count; i++) {
		if (boots[i].trial != trial->id)
			continue;
		if (context->json)
			json_array_append_new(series, boot_json(&boots[i]));
		else
			print_boot(&boots[i]);
	}
	store_boots_free(boots, count);
	if (!context->json) {
		json_decref(series);
		return 0;
	}
	context_print_json(json_pack(
		"{s:I, s:s, s:s, s:s?, s:s?, s:s?, s:o}", "trial", (json_int_t)trial->id, "commit",
		trial->commit, "state", trial_state_name(trial->state), "reason", trial->reason,
		"clock", trial->clock, "console", trial->console_path, "series", series));
	return 0;
}

int cmd_measure(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		struct error *err)
{
	char commit[OBJECT_ID_SIZE];
	int64_t sequence;
	auto_plan struct plan plan = {0};
	auto_store_trial struct store_trial trial = {0};
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    context_resolve(context, arguments->operands[0], commit, err) < 0 ||
	    planner_plan(context->benchmarks, context->benchmark_count, NULL, 0, &plan, err) < 0 ||
	    next_sequence(context, commit, &sequence, err) < 0)
		return -1;
	auto_free char *text = plan_to_text(&plan);
	if (conductor_trial(context, PURPOSE_MEASURE, 0, sequence, commit, 0, text, &trial, err) <
	    0)
		return -1;
	if (trial.state == TRIAL_FAILED_HOST)
		return error_set(err, ERROR_SYSTEM,
				 "trial %lld failed for this host's own reasons: %s",
				 (long long)trial.id, trial.reason ? trial.reason : "unknown");
	*ret_exit_code = trial.state == TRIAL_STORED ? 0 : EXIT_REGRESSION;
	return print_trial(context, &trial, err);
}
