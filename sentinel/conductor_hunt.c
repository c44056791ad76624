/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/judge.h"
#include "sentinel/planner.h"

/* One hunt while it is worked on. */
struct chase {
	struct context *context;
	struct store_hunt *hunt;
	struct commit_range range;
	struct commit_graph *graph;
	bool *excluded;
	char *search_plan;
	char *confirm_plan;
	struct store_hunt_event *events;
	size_t event_count;
	char *stop_reason; /* why the hunt cannot go on, or NULL; owned */
};

static void chase_free(struct chase *chase)
{
	commit_range_free(&chase->range);
	commit_graph_free(&chase->graph);
	free(chase->excluded);
	free(chase->search_plan);
	free(chase->confirm_plan);
	store_hunt_events_free(chase->events, chase->event_count);
	free(chase->stop_reason);
}

static int plan_text(struct context *context, const char *const *series, size_t count,
		     char **ret_text, struct error *err)
{
	auto_plan struct plan plan = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, series, count, &plan, err) <
	    0)
		return -1;
	*ret_text = plan_to_text(&plan);
	return 0;
}

static int chase_plans(struct chase *chase, const char *const *confirm_series, size_t confirm_count,
		       struct error *err)
{
	const char *own[] = {chase->hunt->series};
	if (plan_text(chase->context, own, 1, &chase->search_plan, err) < 0)
		return -1;
	if (!confirm_count)
		return plan_text(chase->context, own, 1, &chase->confirm_plan, err);
	return plan_text(chase->context, confirm_series, confirm_count, &chase->confirm_plan, err);
}

static int chase_open(struct chase *chase, const char *const *confirm_series, size_t confirm_count,
		      struct error *err)
{
	if (source_tree_range(chase->context->source, chase->hunt->good, chase->hunt->bad,
			      &chase->range, err) < 0 ||
	    commit_graph_create(chase->range.count, chase->range.parents,
				chase->range.parent_counts, &chase->graph, err) < 0)
		return -1;
	chase->excluded = memory_array(chase->range.count, sizeof(bool));
	for (size_t i = 1; i < chase->range.count; i++)
		chase->excluded[i] = !chase->range.relevant[i];
	return chase_plans(chase, confirm_series, confirm_count, err);
}

static int commit_index(const struct chase *chase, const char *id, size_t *ret_index,
			struct error *err)
{
	for (size_t i = 0; i < chase->range.count; i++)
		if (strcmp(chase->range.ids[i], id) == 0) {
			*ret_index = i;
			return 0;
		}
	return error_set(
		err, ERROR_STATE,
		"hunt %lld remembers commit %s, which is not between its ends; was the tree "
		"rewritten?",
		(long long)chase->hunt->id, id);
}

static int chase_next(struct chase *chase, struct hunt_step *ret_step, struct error *err)
{
	store_hunt_events_free(chase->events, chase->event_count);
	chase->events = NULL;
	chase->event_count = 0;
	if (store_get_hunt_events(chase->context->store, chase->hunt->id, &chase->events,
				  &chase->event_count, err) < 0)
		return -1;
	auto_free struct hunt_event *events = memory_array(chase->event_count, sizeof(*events));
	for (size_t i = 0; i < chase->event_count; i++) {
		const struct store_hunt_event *stored = &chase->events[i];
		events[i] = (struct hunt_event){
			.kind = stored->kind, .stage = stored->stage, .value = stored->value};
		if (commit_index(chase, stored->commit, &events[i].commit, err) < 0)
			return -1;
		if (stored->other[0] &&
		    commit_index(chase, stored->other, &events[i].other, err) < 0)
			return -1;
	}
	struct hunt_problem problem = {chase->graph, chase->excluded, chase->hunt->rule};
	return hunt_next(&problem, events, chase->event_count, ret_step, err);
}

/* It was said that this commit shares another's image. Asked for again, it wants fresh boots. */
static bool is_known_twin(const struct chase *chase, const char *commit)
{
	for (size_t i = 0; i < chase->event_count; i++)
		if (chase->events[i].kind == HUNT_SAME_IMAGE &&
		    strcmp(chase->events[i].commit, commit) == 0)
			return true;
	return false;
}

/* A commit that this hunt has booted or given up already and that has the same image. */
static int find_same_image(const struct chase *chase, const char *commit, const char *image_digest,
			   const struct store_hunt_event **ret_event, struct error *err)
{
	*ret_event = NULL;
	if (is_known_twin(chase, commit))
		return 0;
	for (size_t i = 0; i < chase->event_count; i++) {
		const struct store_hunt_event *event = &chase->events[i];
		if (!event->trial || strcmp(event->commit, commit) == 0)
			continue;
		auto_store_trial struct store_trial trial = {0};
		if (store_get_trial(chase->context->store, event->trial, &trial, err) < 0)
			return -1;
		if (trial.image_digest && strcmp(trial.image_digest, image_digest) == 0) {
			*ret_event = event;
			return 0;
		}
	}
	return 0;
}

static void make_untestable(struct store_hunt_event *event, const char *reason)
{
	event->kind = HUNT_UNTESTABLE;
	event->reason = text_copy(reason ? reason : "no reason known");
}

/* The boot value of the hunted series in one STORED trial; false when no run of it was valid. */
static int boot_value(struct chase *chase, const struct store_trial *trial, bool *ret_valid,
		      double *ret_value, struct error *err)
{
	struct store_boot *boots;
	size_t count;
	struct error unlike;
	*ret_valid = false;
	if (store_boots(chase->context->store, PURPOSE_HUNT, chase->hunt->id, NULL,
			chase->hunt->series, &boots, &count, err) < 0)
		return -1;
	if (judge_check_alike(boots, count, "this hunt", &unlike) < 0)
		chase->stop_reason = text_copy(unlike.message);
	for (size_t i = 0; i < count; i++) {
		if (boots[i].trial != trial->id || !boots[i].count)
			continue;
		struct series_boots *series;
		size_t series_count;
		series_group(&boots[i], 1, &series, &series_count);
		*ret_valid = true;
		*ret_value = series[0].values[0];
		series_free(series, series_count);
	}
	store_boots_free(boots, count);
	return 0;
}

static int measure(struct chase *chase, const struct hunt_step *step,
		   struct store_hunt_event *event, struct error *err)
{
	auto_store_trial struct store_trial trial = {0};
	const char *plan = step->stage == HUNT_CONFIRM ? chase->confirm_plan : chase->search_plan;
	if (conductor_trial(chase->context, PURPOSE_HUNT, chase->hunt->id,
			    (int64_t)chase->event_count, event->commit, plan, &trial, err) < 0)
		return -1;
	event->trial = trial.id;
	if (trial.state == TRIAL_FAILED_HOST)
		return error_set(
			err, ERROR_SYSTEM,
			"hunt %lld stops: trial %lld failed %lld times for this host's own "
			"reasons (%s); mend it, then run \"sentinel resume\"",
			(long long)chase->hunt->id, (long long)trial.id, (long long)trial.attempts,
			trial.reason ? trial.reason : "unknown");
	if (trial.state != TRIAL_STORED) {
		make_untestable(event, trial.reason);
		return 0;
	}
	bool valid;
	if (boot_value(chase, &trial, &valid, &event->value, err) < 0)
		return -1;
	if (!valid)
		make_untestable(event, "the benchmark gave no valid number");
	return 0;
}

/* Builds before booting: a kernel that does not build, or that was booted under another commit's
   name, needs no boot. */
static int answer_step(struct chase *chase, const struct hunt_step *step, struct error *err)
{
	struct store_hunt_event event = {.kind = HUNT_MEASURED, .stage = step->stage};
	memcpy(event.commit, chase->range.ids[step->commit], OBJECT_ID_SIZE);
	struct store_build build = {0};
	if (conductor_build(chase->context, event.commit, &build, err) < 0) {
		/* Both ends were built with this policy: what one between them lacks is its own. */
		if (err->kind != ERROR_USAGE || step->stage != HUNT_SEARCH)
			return -1;
		build = (struct store_build){.failed = true, .reason = text_copy(err->message)};
	}
	const struct store_hunt_event *same = NULL;
	int result = 0;
	if (build.failed) {
		make_untestable(&event, build.reason);
	} else {
		result = find_same_image(chase, event.commit, build.image_digest, &same, err);
		if (result == 0 && same && same->kind == HUNT_UNTESTABLE) {
			make_untestable(&event, same->reason);
		} else if (result == 0 && same) {
			event.kind = HUNT_SAME_IMAGE;
			memcpy(event.other, same->commit, OBJECT_ID_SIZE);
		} else if (result == 0) {
			result = measure(chase, step, &event, err);
		}
	}
	store_build_free(&build);
	if (result == 0 && !chase->stop_reason) {
		result = store_add_hunt_event(chase->context->store, chase->hunt->id, &event, err);
		if (event.kind == HUNT_UNTESTABLE)
			log_notice("hunt %lld: %s is skipped: %s", (long long)chase->hunt->id,
				   short_id(event.commit), event.reason);
		if (event.kind == HUNT_SAME_IMAGE)
			log_notice("hunt %lld: %s builds to the same kernel as %s",
				   (long long)chase->hunt->id, short_id(event.commit),
				   short_id(event.other));
	}
	free(event.reason);
	return result;
}

static void describe_step(const struct chase *chase, const struct hunt_step *step)
{
	if (step->likeliest_probability > 0)
		log_notice("hunt %lld: %s, boot %zu: %s; likeliest so far %s (%.1f %%)",
			   (long long)chase->hunt->id, hunt_stage_name(step->stage),
			   step->boots + 1, short_id(chase->range.ids[step->commit]),
			   short_id(chase->range.ids[step->likeliest]),
			   100 * step->likeliest_probability);
	else
		log_notice("hunt %lld: %s, boot %zu: %s", (long long)chase->hunt->id,
			   hunt_stage_name(step->stage), step->boots + 1,
			   short_id(chase->range.ids[step->commit]));
}

static int finish(struct chase *chase, const struct hunt_answer *answer, struct error *err)
{
	struct store_hunt *hunt = chase->hunt;
	hunt->finished = true;
	free(hunt->kind);
	free(hunt->reason);
	hunt->kind = text_copy(hunt_answer_kind_name(answer->kind));
	hunt->reason = text_copy(answer->reason ? answer->reason : "");
	if (answer->kind == HUNT_CULPRIT)
		memcpy(hunt->culprit, chase->range.ids[answer->culprit], OBJECT_ID_SIZE);
	hunt->probability = answer->probability;
	hunt->step = answer->step;
	hunt->step_lower = answer->step_lower;
	hunt->step_upper = answer->step_upper;
	hunt->reproduce_pairs = (int64_t)answer->reproduce_pairs;
	hunt->confirm_pairs = (int64_t)answer->confirm_pairs;
	hunt->boots = (int64_t)answer->boots;
	auto_free char(*set)[OBJECT_ID_SIZE] = memory_array(answer->set_count, sizeof(*set));
	for (size_t i = 0; i < answer->set_count; i++)
		memcpy(set[i], chase->range.ids[answer->set[i]], OBJECT_ID_SIZE);
	log_notice("hunt %lld: %s%s%s after %zu boots", (long long)hunt->id, hunt->kind,
		   hunt->culprit[0] ? " " : "", hunt->culprit, answer->boots);
	return store_finish_hunt(chase->context->store, hunt, (const char(*)[OBJECT_ID_SIZE])set,
				 answer->set_count, err);
}

static int give_up(struct chase *chase, struct error *err)
{
	struct hunt_answer answer = {.kind = HUNT_CANNOT_TELL, .reason = chase->stop_reason};
	return finish(chase, &answer, err);
}

int conductor_hunt(struct context *context, struct store_hunt *hunt,
		   const char *const *confirm_series, size_t confirm_count, struct error *err)
{
	auto_cleanup(chase_free) struct chase chase = {.context = context, .hunt = hunt};
	if (chase_open(&chase, confirm_series, confirm_count, err) < 0) {
		if (err->kind != ERROR_USAGE)
			return -1;
		chase.stop_reason = text_copy(err->message);
		return give_up(&chase, err);
	}
	log_notice("hunt %lld: %s between %s and %s, %zu commits", (long long)hunt->id,
		   hunt->series, short_id(hunt->good), short_id(hunt->bad), chase.range.count - 1);
	for (;;) {
		struct hunt_step step = {0};
		if (interrupt_check(err) < 0 || chase_next(&chase, &step, err) < 0)
			return -1;
		if (step.action == HUNT_FINISHED) {
			int result = 0;
			if (step.answer.kind == HUNT_CULPRIT)
				result = conductor_measure_revert(
					context, hunt, chase.range.ids[step.answer.culprit],
					chase.search_plan, err);
			if (result == 0)
				result = finish(&chase, &step.answer, err);
			hunt_answer_free(&step.answer);
			return result;
		}
		describe_step(&chase, &step);
		if (answer_step(&chase, &step, err) < 0)
			return -1;
		if (chase.stop_reason)
			return give_up(&chase, err);
	}
}

int conductor_rival(struct context *context, const struct store_hunt *hunt,
		    char ret_commit[static OBJECT_ID_SIZE], struct error *err)
{
	struct store_hunt_event *events;
	size_t count;
	if (store_get_hunt_events(context->store, hunt->id, &events, &count, err) < 0)
		return -1;
	memcpy(ret_commit, hunt->good, OBJECT_ID_SIZE);
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == HUNT_MEASURED && events[i].stage == HUNT_CONFIRM &&
		    strcmp(events[i].commit, hunt->culprit) != 0)
			memcpy(ret_commit, events[i].commit, OBJECT_ID_SIZE);
	store_hunt_events_free(events, count);
	return 0;
}
