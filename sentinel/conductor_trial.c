/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <stdio.h>
#include <string.h>

#include "bench/channel.h"
#include "bench/extract.h"
#include "bench/sealed_file.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/planner.h"

static void set_text(char **field, const char *value)
{
	free(*field);
	*field = value ? text_copy(value) : NULL;
}

static int step_build(struct context *context, struct store_trial *trial, struct error *err)
{
	struct store_build build = {0};
	if (conductor_build(context, trial->commit, trial->layout, &build, err) < 0)
		return -1;
	trial->state = build.failed ? TRIAL_FAILED_BUILD : TRIAL_BUILT;
	set_text(&trial->key, build.key);
	set_text(&trial->image_digest, build.image_digest);
	set_text(&trial->reason, build.reason);
	if (build.failed)
		trial->ended_seconds = clock_utc_seconds();
	store_build_free(&build);
	return store_update_trial(context->store, trial, err);
}

static char *trial_folder(const struct context *context, const struct store_trial *trial)
{
	return text_format("%s/trials/%lld-%lld", context->state_folder, (long long)trial->id,
			   (long long)trial->attempts);
}

static const struct policy_benchmark *step_benchmark(const struct context *context,
						     const struct plan_step *step)
{
	for (size_t i = 0; i < context->policy.benchmark_count; i++)
		if (strcmp(context->policy.benchmarks[i].name, step->benchmark) == 0)
			return &context->policy.benchmarks[i];
	return NULL;
}

/* What the agent found the program's file to be; see runner_run(). */
static char *program_digest(const struct sealed_file *sealed, const char *program)
{
	auto_free char *fact = text_format(AGENT_PROGRAM_FACT "%s", program);
	const char *digest = json_string_value(json_object_get(sealed->environment, fact));
	return digest ? text_copy(digest) : NULL;
}

static void add_sample(struct store_sample *sample, const struct policy_benchmark *benchmark,
		       const struct plan_step *step, const struct sealed_file *sealed,
		       const struct run_result *run, const struct extracted *extracted)
{
	bool valid = extracted->fault == EXTRACT_OK;
	auto_text struct text command = {0};
	for (char **word = step->argv; *word; word++)
		text_printf(&command, "%s%s", word == step->argv ? "" : " ", *word);
	*sample = (struct store_sample){
		.series = planner_series_name(benchmark, step->cell),
		.iteration = run->iteration,
		.valid = valid,
		.value = valid ? extracted->value : 0,
		.resolution = valid ? extracted->resolution : 0,
		.unit = text_copy(benchmark->unit),
		.higher_is_better = benchmark->better == POLICY_HIGHER,
		.command = text_take(&command),
		.program = program_digest(sealed, step->argv[0]),
		.fault = valid ? NULL
			       : text_format("%s: %s", extract_fault_name(extracted->fault),
					     extracted->evidence),
	};
}

struct sample_list {
	struct store_sample *samples;
	size_t count;
	size_t invalid;
};

static void sample_list_free(struct sample_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->samples[i].series);
		free(list->samples[i].unit);
		free(list->samples[i].command);
		free(list->samples[i].program);
		free(list->samples[i].fault);
	}
	free(list->samples);
}

/* One run's output -> one sample, by the benchmark's policy as it is today. */
static int extract_run(const struct context *context, const struct plan *plan,
		       const struct sealed_file *sealed, const struct run_result *run,
		       struct sample_list *list, struct error *err)
{
	if (run->iteration < 0)
		return 0;
	if (run->step >= plan->step_count)
		return error_set(err, ERROR_STATE, "sealed file names step %zu of %zu", run->step,
				 plan->step_count);
	const struct plan_step *step = &plan->steps[run->step];
	const struct policy_benchmark *benchmark = step_benchmark(context, step);
	if (!benchmark)
		return error_set(err, ERROR_USAGE, "benchmark %s is no longer in the configuration",
				 step->benchmark);
	struct policy_case *cells;
	size_t count;
	if (policy_benchmark_cases(benchmark, &cells, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (strcmp(cells[i].name, step->cell) != 0)
			continue;
		struct extracted extracted;
		result = extract_number(benchmark, &cells[i], run, &extracted, err);
		if (result < 0 && err->kind == ERROR_USAGE) {
			/* The pattern met output that it cannot cope with: no number. */
			extracted = (struct extracted){.fault = EXTRACT_INCOMPLETE};
			snprintf(extracted.evidence, sizeof(extracted.evidence), "%.255s",
				 err->message);
			result = 0;
		}
		if (result == 0) {
			list->invalid += extracted.fault != EXTRACT_OK;
			add_sample(&list->samples[list->count++], benchmark, step, sealed, run,
				   &extracted);
		}
	}
	policy_cases_free(cells, count);
	return result;
}

static int import(struct context *context, struct store_trial *trial, const char *sealed_path,
		  struct error *err)
{
	auto_free char *bytes = NULL;
	size_t length;
	auto_sealed_file struct sealed_file sealed = {0};
	auto_plan struct plan plan = {0};
	if (file_read(sealed_path, SEALED_FILE_LIMIT_BYTES, &bytes, &length, err) < 0 ||
	    sealed_file_from_text(bytes, length, &sealed, err) < 0 ||
	    plan_from_text(trial->plan, strlen(trial->plan), "stored plan", &plan, err) < 0)
		return -1;
	auto_cleanup(sample_list_free) struct sample_list list = {0};
	list.samples = memory_array(sealed.run_count, sizeof(*list.samples));
	for (size_t i = 0; i < sealed.run_count; i++)
		if (extract_run(context, &plan, &sealed, &sealed.runs[i], &list, err) < 0)
			return -1;
	set_text(&trial->reason, sealed.fault);
	if (store_import(context->store, trial, bytes, length, list.samples, list.count, err) < 0)
		return -1;
	log_notice("trial %lld: %s stored %zu samples%s in %.1f s", (long long)trial->id,
		   short_id(trial->commit), list.count - list.invalid,
		   list.invalid ? ", some runs gave no valid number" : "", trial->seconds);
	return 0;
}

static int apply_outcome(struct context *context, struct store_trial *trial,
			 const struct machine_outcome *outcome, struct error *err)
{
	int64_t limit = context->policy.night.attempts;
	trial->state = trial_after_outcome(outcome->phase, outcome->cause, trial->attempts, limit);
	set_text(&trial->phase, trial_phase_name(outcome->phase));
	set_text(&trial->cause, trial_cause_name(outcome->cause));
	set_text(&trial->reason, outcome->reason);
	set_text(&trial->console_path, outcome->console_path);
	set_text(&trial->trusted_boot_id, outcome->trusted_boot_id);
	set_text(&trial->suspect_boot_id, outcome->suspect_boot_id);
	trial->seconds = outcome->seconds;
	context->boots++;
	context->boot_seconds += outcome->seconds;
	if (trial_is_final(trial->state))
		trial->ended_seconds = clock_utc_seconds();
	if (trial->state == TRIAL_STORED) {
		if (import(context, trial, outcome->sealed_path, err) == 0)
			return 0;
		if (err->kind != ERROR_STATE)
			return -1;
		/* A file that says what cannot be is as good as damaged: never stuck on it. */
		trial->state = trial_after_outcome(PHASE_BENCHMARK, CAUSE_DAMAGED_SEAL,
						   trial->attempts, limit);
		set_text(&trial->cause, trial_cause_name(CAUSE_DAMAGED_SEAL));
		set_text(&trial->reason, err->message);
	}
	log_notice("trial %lld: %s %s: %s: %s (attempt %lld of %lld)", (long long)trial->id,
		   short_id(trial->commit), trial->phase, trial->cause,
		   trial->reason ? trial->reason : "no reason known", (long long)trial->attempts,
		   (long long)limit);
	return store_update_trial(context->store, trial, err);
}

/* What a trial hands to its machine; rebuilt from the store after an interruption. */
struct assembly {
	struct artifact artifact;
	struct ticket ticket;
	char *folder;
	struct machine_trial trial;
};

static void assembly_free(struct assembly *assembly)
{
	artifact_free(&assembly->artifact);
	ticket_free(&assembly->ticket);
	free(assembly->folder);
}

static int assemble(struct context *context, const struct store_trial *trial, bool *ret_found,
		    struct assembly *assembly, struct error *err)
{
	if (artifact_store_get(context->artifacts, trial->key, ret_found, &assembly->artifact,
			       err) < 0)
		return -1;
	if (!*ret_found)
		return 0;
	if (plan_from_text(trial->plan, strlen(trial->plan), "stored plan", &assembly->ticket.plan,
			   err) < 0)
		return -1;
	memcpy(assembly->ticket.token, trial->token, TOKEN_SIZE);
	assembly->ticket.release = text_copy(assembly->artifact.release);
	assembly->folder = trial_folder(context, trial);
	assembly->trial =
		(struct machine_trial){&assembly->artifact, &assembly->ticket, assembly->folder};
	return 0;
}

/* The artifact is gone (the store was cleaned): build it again. */
static int start_over(struct context *context, struct store_trial *trial, struct error *err)
{
	trial->state = TRIAL_QUEUED;
	return store_update_trial(context->store, trial, err);
}

static int step_jump(struct context *context, struct store_trial *trial, struct error *err)
{
	bool found;
	auto_cleanup(assembly_free) struct assembly assembly = {0};
	if (token_create(trial->token, err) < 0)
		return -1;
	trial->attempts++; /* the try is counted before the jump */
	if (assemble(context, trial, &found, &assembly, err) < 0)
		return -1;
	if (!found) {
		trial->attempts--;
		return start_over(context, trial, err);
	}
	struct digest identity;
	if (conductor_identity(context, &identity, err) < 0)
		return -1;
	set_text(&trial->identity, identity.hex);
	set_text(&trial->clock, machine_facts(context->machine)->clock);
	trial->state = TRIAL_ARMED;
	if (store_update_trial(context->store, trial, err) < 0 ||
	    file_make_folders(assembly.folder, err) < 0)
		return -1;
	auto_machine_outcome struct machine_outcome outcome = {0};
	if (machine_run_trial(context->machine, &assembly.trial, &outcome, err) < 0)
		return -1;
	return apply_outcome(context, trial, &outcome, err);
}

/* Found ARMED: we were stopped while the machine was away. */
static int step_recover(struct context *context, struct store_trial *trial, struct error *err)
{
	bool found;
	auto_cleanup(assembly_free) struct assembly assembly = {0};
	auto_machine_outcome struct machine_outcome outcome = {0};
	if (assemble(context, trial, &found, &assembly, err) < 0)
		return -1;
	if (!found)
		return start_over(context, trial, err);
	if (machine_recover_trial(context->machine, &assembly.trial, &outcome, err) < 0)
		return -1;
	if (outcome.phase == PHASE_SEALED)
		return apply_outcome(context, trial, &outcome, err);
	log_notice("trial %lld: %s was interrupted; once more", (long long)trial->id,
		   short_id(trial->commit));
	trial->attempts--; /* our own end is nobody's fault */
	trial->state = TRIAL_BUILT;
	return store_update_trial(context->store, trial, err);
}

static int run_trial(struct context *context, struct store_trial *trial, struct error *err)
{
	static int (*const steps[])(struct context *, struct store_trial *, struct error *) = {
		[TRIAL_QUEUED] = step_build,
		[TRIAL_BUILT] = step_jump,
		[TRIAL_ARMED] = step_recover,
	};
	while (!trial_is_final(trial->state))
		if (interrupt_check(err) < 0 || steps[trial->state](context, trial, err) < 0)
			return -1;
	return 0;
}

int conductor_trial(struct context *context, enum trial_purpose purpose, int64_t owner,
		    int64_t sequence, const char *commit, size_t layout, const char *plan,
		    struct store_trial *ret_trial, struct error *err)
{
	struct store_trial trial = {0};
	if (store_queue_trial(context->store, purpose, owner, sequence, commit, layout,
			      context->machine_policy->name, plan, &trial, err) < 0)
		return -1;
	/* Asked for again: the operator has mended the host. */
	if (trial.state == TRIAL_FAILED_HOST) {
		trial.state = TRIAL_QUEUED;
		trial.attempts = 0;
		trial.ended_seconds = 0;
	}
	if (run_trial(context, &trial, err) < 0) {
		store_trial_free(&trial);
		return -1;
	}
	*ret_trial = trial;
	return 0;
}
