/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/chase.h"
#include "sentinel/hunt_evidence.h"
#include "sentinel/hunt_follow.h"
#include "sentinel/series.h"

static const char out_of_time[] = "the time of a hunt is used up ([hunt] maximum-time)";

/* It was said that this commit shares another's image. Asked for again, it wants fresh boots. */
static bool is_known_twin(const struct chase *chase, const char *commit)
{
	for (size_t i = 0; i < chase->event_count; i++)
		if (chase->stored[i].kind == HUNT_SAME_IMAGE &&
		    strcmp(chase->stored[i].commit, commit) == 0)
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
		const struct store_hunt_event *event = &chase->stored[i];
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

/* What a STORED trial says of the hunted series. */
static int read_boot(struct chase *chase, struct store_hunt_event *event, struct error *err)
{
	auto_cleanup(store_boot_free) struct store_boot boot = {0};
	struct error unlike;
	if (store_boot_of_trial(chase->context->store, event->trial, chase->hunt->series, &boot,
				err) < 0)
		return -1;
	if (!boot.count) {
		make_untestable(event, "the benchmark gave no valid number");
		return 0;
	}
	if (chase->reference.series &&
	    series_check_sides(&chase->reference, 1, &boot, 1, "this hunt", &unlike) < 0)
		chase->stop_reason = text_copy(unlike.message);
	hunt_event_of_boot(&boot, event->stage, chase->hunt->rule.noise.deviation, event);
	if (!chase->reference.series) {
		chase->reference = boot;
		boot = (struct store_boot){0};
	}
	return 0;
}

static int measure(struct chase *chase, struct store_hunt_event *event, struct error *err)
{
	auto_store_trial struct store_trial trial = {0};
	const char *plan = event->stage == HUNT_CONFIRM ? chase->confirm_plan : chase->search_plan;
	if (conductor_trial(chase->context, PURPOSE_HUNT, chase->hunt->id,
			    (int64_t)chase->event_count, event->commit, event->layout, plan, &trial,
			    err) < 0)
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
	return read_boot(chase, event, err);
}

static int build(struct chase *chase, const struct hunt_step *step, struct store_build *ret_build,
		 struct error *err)
{
	const char *commit = chase->range.ids[step->commit];
	if (conductor_build(chase->context, commit, step->layout, ret_build, err) == 0) {
		chase->built[step->commit] |= !ret_build->failed && step->layout == 0;
		return 0;
	}
	/* The ends that a night or an operator gave were built with this policy, so that it is at
	   fault when they lack something; what any other commit lacks is its own. */
	bool end = step->commit == 0 || step->commit == chase->range.count - 1;
	bool given = end && !chase->hunt->origin && step->layout == 0;
	if (err->kind != ERROR_USAGE || given)
		return -1;
	*ret_build = (struct store_build){.failed = true, .reason = text_copy(err->message)};
	return 0;
}

/* Builds before booting: a kernel that does not build, or that was booted under another commit's
   name, needs no boot. */
static int find_event(struct chase *chase, const struct hunt_step *step,
		      struct store_hunt_event *event, struct error *err)
{
	auto_cleanup(store_build_free) struct store_build known = {0};
	const struct store_hunt_event *same = NULL;
	if (build(chase, step, &known, err) < 0)
		return -1;
	if (known.failed) {
		make_untestable(event, known.reason);
		return 0;
	}
	if (find_same_image(chase, event->commit, known.image_digest, &same, err) < 0)
		return -1;
	if (!same)
		return measure(chase, event, err);
	if (same->kind == HUNT_UNTESTABLE) {
		make_untestable(event, same->reason);
		return 0;
	}
	event->kind = HUNT_SAME_IMAGE;
	memcpy(event->other, same->commit, OBJECT_ID_SIZE);
	return 0;
}

static int answer_step(struct chase *chase, const struct hunt_step *step, struct error *err)
{
	struct store_hunt_event event = {
		.kind = HUNT_MEASURED, .stage = step->stage, .layout = step->layout};
	memcpy(event.commit, chase->range.ids[step->commit], OBJECT_ID_SIZE);
	int result = find_event(chase, step, &event, err);
	if (result == 0 && event.kind == HUNT_UNTESTABLE)
		log_notice("hunt %lld: %s is skipped: %s", (long long)chase->hunt->id,
			   short_id(event.commit), event.reason);
	if (result == 0 && event.kind == HUNT_SAME_IMAGE)
		log_notice("hunt %lld: %s builds to the same kernel as %s",
			   (long long)chase->hunt->id, short_id(event.commit),
			   short_id(event.other));
	if (result == 0 && !chase->stop_reason)
		result = chase_add_event(chase, &event, err);
	free(event.reason);
	return result;
}

static void describe_step(const struct chase *chase, const struct hunt_step *step)
{
	const char *commit = chase->range.ids[step->commit];
	size_t boot = step->boots - (size_t)chase->hunt->retest_boots + 1;
	if (step->likeliest_probability > 0)
		log_notice("hunt %lld: %s, boot %zu: %s; likeliest so far %s (%.1f %%)",
			   (long long)chase->hunt->id, hunt_stage_name(step->stage), boot,
			   short_id(commit), short_id(chase->range.ids[step->likeliest]),
			   100 * step->likeliest_probability);
	else
		log_notice("hunt %lld: %s, boot %zu: %s", (long long)chase->hunt->id,
			   hunt_stage_name(step->stage), boot, short_id(commit));
}

static void take_answer(struct store_hunt *hunt, const struct hunt_answer *answer)
{
	hunt->probability = answer->probability;
	hunt->step = answer->step;
	hunt->step_lower = answer->step_lower;
	hunt->step_upper = answer->step_upper;
	hunt->layout_share = answer->layout_share;
	hunt->confirm_odds = answer->confirm_odds;
	hunt->more_steps = answer->more_steps;
	hunt->reproduce_pairs = (int64_t)answer->reproduce_pairs;
	hunt->confirm_pairs = (int64_t)answer->confirm_pairs;
	/* The retest was paid for by the night. */
	hunt->reproduce_boots = (int64_t)answer->reproduce_boots - hunt->retest_boots;
	hunt->boots = (int64_t)answer->boots - hunt->retest_boots;
	hunt->search_boots = (int64_t)answer->search_boots;
	hunt->confirm_boots = (int64_t)answer->confirm_boots;
	hunt->builds = (int64_t)answer->builds;
}

static int finish(struct chase *chase, const struct hunt_answer *answer, struct error *err)
{
	struct store_hunt *hunt = chase->hunt;
	bool late = chase->out_of_time && answer->kind == HUNT_CANNOT_TELL;
	const char *reason = late ? out_of_time : answer->reason;
	hunt->finished = true;
	free(hunt->kind);
	free(hunt->reason);
	hunt->kind = text_copy(hunt_answer_kind_name(answer->kind));
	hunt->reason = text_copy(reason ? reason : "");
	hunt->ended_seconds = clock_utc_seconds();
	if (answer->kind == HUNT_CULPRIT)
		memcpy(hunt->culprit, chase->range.ids[answer->culprit], OBJECT_ID_SIZE);
	take_answer(hunt, answer);
	auto_free char(*set)[OBJECT_ID_SIZE] = memory_array(answer->set_count, sizeof(*set));
	for (size_t i = 0; i < answer->set_count; i++)
		memcpy(set[i], chase->range.ids[answer->set[i]], OBJECT_ID_SIZE);
	log_notice("hunt %lld: %s%s%s after %lld boots", (long long)hunt->id, hunt->kind,
		   hunt->culprit[0] ? " " : "", hunt->culprit, (long long)hunt->boots);
	return store_finish_hunt(chase->context->store, hunt, (const char(*)[OBJECT_ID_SIZE])set,
				 answer->set_count, err);
}

static int give_up(struct chase *chase, struct error *err)
{
	size_t boots[HUNT_KNOWN + 1] = {0};
	for (size_t i = 0; i < chase->event_count; i++)
		boots[chase->stored[i].stage] += chase->stored[i].kind == HUNT_MEASURED;
	struct hunt_answer answer = {
		.kind = HUNT_CANNOT_TELL,
		.boots = boots[HUNT_REPRODUCE] + boots[HUNT_SEARCH] + boots[HUNT_CONFIRM],
		.reproduce_boots = boots[HUNT_REPRODUCE],
		.search_boots = boots[HUNT_SEARCH],
		.confirm_boots = boots[HUNT_CONFIRM],
		.reason = chase->stop_reason,
	};
	return finish(chase, &answer, err);
}

/* What follows from a culprit is stored before the answer: afterwards nobody would look. */
static int conclude(struct chase *chase, const struct hunt_answer *answer, struct error *err)
{
	if (answer->kind == HUNT_CULPRIT &&
	    (conductor_measure_revert(chase->context, chase->hunt,
				      chase->range.ids[answer->culprit], chase->search_plan,
				      err) < 0 ||
	     (answer->more_steps && hunt_follow_queue(chase, answer, err) < 0)))
		return -1;
	return finish(chase, answer, err);
}

static int pursue(struct chase *chase, struct error *err)
{
	for (;;) {
		struct hunt_step step = {0};
		if (interrupt_check(err) < 0 || chase_next(chase, &step, err) < 0)
			return -1;
		if (step.action == HUNT_FINISHED) {
			int result = conclude(chase, &step.answer, err);
			hunt_answer_free(&step.answer);
			return result;
		}
		if (!chase->out_of_time && chase_is_out_of_time(chase)) {
			/* As if the boots were used up: what is known so far is still told. */
			chase->out_of_time = true;
			chase->maximum_boots = step.boots;
			continue;
		}
		if (chase->out_of_time) {
			chase->stop_reason = text_copy(out_of_time);
		} else {
			/* One boot a question, whatever step.repeat allows: a kill then finds the
			   question again that it was at. */
			describe_step(chase, &step);
			if (answer_step(chase, &step, err) < 0)
				return -1;
		}
		if (chase->stop_reason)
			return give_up(chase, err);
	}
}

static int hunt_one(struct context *context, struct store_hunt *hunt,
		    const char *const *confirm_series, size_t confirm_count, struct error *err)
{
	struct store_hunt fresh;
	auto_chase struct chase chase = {.context = context, .hunt = hunt};
	/* It may have been finished as another one's follow-up meanwhile. */
	if (store_get_hunt(context->store, hunt->id, &fresh, err) < 0)
		return -1;
	store_hunt_free(hunt);
	*hunt = fresh;
	if (hunt->finished)
		return 0;
	if (chase_open(&chase, confirm_series, confirm_count, err) < 0) {
		if (err->kind != ERROR_USAGE)
			return -1;
		chase.stop_reason = text_copy(err->message);
		return give_up(&chase, err);
	}
	if (chase_load(&chase, err) < 0)
		return -1;
	log_notice("hunt %lld: %s between %s and %s, %zu commits", (long long)hunt->id,
		   hunt->series, short_id(hunt->good), short_id(hunt->bad), chase.range.count - 1);
	return pursue(&chase, err);
}

int conductor_hunt(struct context *context, struct store_hunt *hunt,
		   const char *const *confirm_series, size_t confirm_count, struct error *err)
{
	if (hunt_one(context, hunt, confirm_series, confirm_count, err) < 0)
		return -1;
	for (;;) {
		auto_cleanup(store_hunt_free) struct store_hunt next = {0};
		if (hunt_follow_next(context, hunt, &next, err) < 0)
			return -1;
		if (!next.id)
			return 0;
		if (hunt_one(context, &next, confirm_series, confirm_count, err) < 0)
			return -1;
	}
}

int conductor_rival(struct context *context, const struct store_hunt *hunt,
		    char ret_commit[static OBJECT_ID_SIZE], struct error *err)
{
	char suspect[OBJECT_ID_SIZE];
	return hunt_confirmed_pair(context->store, hunt, ret_commit, suspect, err);
}
