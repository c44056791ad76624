/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/judge.h"
#include "sentinel/night.h"
#include "sentinel/night_step.h"
#include "sentinel/planner.h"

/* The flagged series that are compared with one and the same kernel. */
struct round {
	int64_t number;
	const char *reference;
	char *plan;
};

static void round_free(struct round *round)
{
	free(round->plan);
}

static int plan_round(struct context *context, const struct verdict_list *flagged,
		      struct round *round, struct error *err)
{
	auto_plan struct plan plan = {0};
	auto_free const char **names = memory_array(flagged->count, sizeof(*names));
	size_t count = 0;
	for (size_t i = 0; i < flagged->count; i++)
		if (planner_is_retested(&flagged->items[i], round->reference))
			names[count++] = flagged->items[i].series;
	if (planner_plan(context->benchmarks, context->benchmark_count, names, count, &plan, err) <
	    0)
		return -1;
	round->plan = plan_to_text(&plan);
	return 0;
}

static int run_boot(struct context *context, struct store_night *night, const struct round *round,
		    int64_t boot, bool *ret_ended, struct error *err)
{
	const char *commit = planner_retest_is_head(boot) ? night->head : round->reference;
	size_t layout = planner_retest_layout(boot, night->layouts);
	log_notice("night %lld: retest pair %lld of %lld, %s, layout %zu", (long long)night->id,
		   (long long)boot / 2 + 1, (long long)night->retest_pairs, short_id(commit),
		   layout);
	auto_store_trial struct store_trial trial = {0};
	if (conductor_trial(context, PURPOSE_RETEST, night->id,
			    planner_retest_sequence(round->number, boot), commit, layout,
			    round->plan, &trial, err) < 0)
		return -1;
	if (trial.state == TRIAL_STORED)
		return 0;
	/* The plain build is the kernel that is judged; without another one its pair is missing. */
	if (layout && trial.state != TRIAL_FAILED_HOST) {
		log_notice("night %lld: layout %zu of %s is left out: %s", (long long)night->id,
			   layout, short_id(commit), trial.reason ? trial.reason : "unknown");
		return 0;
	}
	*ret_ended = true;
	return night_step_kernel_failed(context, night, &trial, err);
}

static int run_round(struct context *context, struct store_night *night,
		     const struct verdict_list *flagged, struct round *round, bool *ret_ended,
		     struct error *err)
{
	if (plan_round(context, flagged, round, err) < 0)
		return -1;
	for (int64_t i = 0; i < 2 * night->retest_pairs && !*ret_ended; i++)
		if (run_boot(context, night, round, i, ret_ended, err) < 0)
			return -1;
	return 0;
}

/* One round a reference, in the order in which they stand in the verdicts. */
static int run_rounds(struct context *context, struct store_night *night,
		      const struct verdict_list *flagged, bool *ret_ended, struct error *err)
{
	*ret_ended = false;
	for (size_t i = 0; i < flagged->count && !*ret_ended; i++) {
		auto_cleanup(round_free) struct round round = {
			.number = planner_retest_round(flagged->items, i),
			.reference = flagged->items[i].reference,
		};
		if (round.number < 0)
			continue;
		if (run_round(context, night, flagged, &round, ret_ended, err) < 0)
			return -1;
	}
	return 0;
}

static int judge_one(struct context *context, const struct store_night *night,
		     const struct history *history, const struct verdict_list *stage1, size_t index,
		     struct verdict_list *stage2, struct error *err)
{
	const struct store_verdict *flagged = &stage1->items[index];
	int64_t first = planner_retest_sequence(planner_retest_round_of(stage1->items, index), 0);
	auto_boots struct boot_list boots = {0};
	if (store_boots(context->store, PURPOSE_RETEST, night->id, NULL, flagged->series,
			&boots.items, &boots.count, err) < 0)
		return -1;
	size_t begin = 0;
	while (begin < boots.count && boots.items[begin].sequence < first)
		begin++;
	size_t end = begin;
	while (end < boots.count && boots.items[end].sequence < first + 2 * night->retest_pairs)
		end++;
	if (judge_stage2(history, flagged, stage1->count, boots.items + begin, end - begin,
			 &stage2->items[stage2->count], err) < 0)
		return -1;
	stage2->count++;
	return 0;
}

static int judge_all(struct context *context, const struct store_night *night,
		     const struct verdict_list *stage1, struct verdict_list *stage2,
		     struct error *err)
{
	auto_history struct history history = {0};
	if (history_load(context->store, &context->policy, night, &history, err) < 0)
		return -1;
	stage2->items = memory_array(stage1->count, sizeof(*stage2->items));
	for (size_t i = 0; i < stage1->count; i++)
		if (stage1->items[i].verdict.state == VERDICT_FLAGGED &&
		    judge_one(context, night, &history, stage1, i, stage2, err) < 0)
			return -1;
	return 0;
}

int night_step_retest(struct context *context, struct store_night *night, struct error *err)
{
	bool ended;
	auto_verdicts struct verdict_list stage1 = {0};
	auto_verdicts struct verdict_list stage2 = {0};
	auto_verdicts struct verdict_list all = {0};
	if (store_get_verdicts(context->store, night->id, 1, &stage1.items, &stage1.count, err) <
		    0 ||
	    run_rounds(context, night, &stage1, &ended, err) < 0)
		return -1;
	if (ended)
		return 0;
	if (judge_all(context, night, &stage1, &stage2, err) < 0 ||
	    store_put_verdicts(context->store, night->id, 2, stage2.items, stage2.count, err) < 0 ||
	    history_conclusions(context->store, night->id, &all.items, &all.count, err) < 0)
		return -1;
	enum night_state next = planner_night_after(NIGHT_RETESTING, all.items, all.count);
	if (strcmp(night->kind, "judge") == 0)
		next = NIGHT_DONE;
	auto_free char *outcome = planner_outcome(all.items, all.count);
	return night_step_to(context, night, next, outcome, err);
}
