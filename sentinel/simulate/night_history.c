/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/night_history.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define FALSE_ALARMS_A_MONTH 0.05
#define STAGE1_ALPHA 0.01

void night_plan_default(enum night_world world, size_t series, struct night_plan *ret_plan)
{
	*ret_plan = (struct night_plan){
		.boots = night_world_boots(world),
		.iterations = night_world_iterations(world),
		.window = 20,
		.noise_nights = 60,
		.pairs = 6,
		.layouts = 2,
		.stage1_alpha = STAGE1_ALPHA,
		.stage2_alpha = verdict_stage2_alpha(FALSE_ALARMS_A_MONTH, series, STAGE1_ALPHA),
		.minimum_effect_percent = 1,
	};
}

static size_t night_size(const struct night_plan *plan)
{
	return plan->boots * plan->iterations;
}

void night_history_init(const struct night_plan *plan, const struct night_series *series,
			struct night_history *ret_history)
{
	*ret_history = (struct night_history){
		.plan = *plan,
		.series = *series,
		.badness =
			memory_array((plan->noise_nights + 1) * night_size(plan), sizeof(double)),
		.values = memory_array(plan->window + 1, sizeof(double)),
	};
}

void night_history_free(struct night_history *history)
{
	free(history->badness);
	free(history->values);
}

static double *iterations_of(const struct night_history *history, size_t night)
{
	return history->badness + night * night_size(&history->plan);
}

const double *night_history_tonight(const struct night_history *history)
{
	return iterations_of(history, history->plan.noise_nights);
}

const double *night_history_last(const struct night_history *history)
{
	return iterations_of(history, (history->nights - 1) % history->plan.noise_nights);
}

void night_history_measure(struct night_history *history, double step)
{
	const struct night_plan *plan = &history->plan;
	auto_free double *boots = memory_array(plan->boots, sizeof(*boots));
	double *badness = iterations_of(history, plan->noise_nights);
	history->layout = night_series_layout(&history->series);
	night_series_advance(&history->series);
	for (size_t i = 0; i < plan->boots; i++, badness += plan->iterations) {
		night_series_boot(&history->series, step + history->layout, plan->iterations,
				  badness);
		boots[i] = verdict_boot_value(badness, plan->iterations, history->noise.within);
	}
	history->values[plan->window] =
		verdict_night_value(boots, plan->boots, history->noise.boot);
}

static struct verdict_rule rule_of(const struct night_history *history, double alpha)
{
	return (struct verdict_rule){
		.alpha = alpha,
		.minimum_effect_percent = history->plan.minimum_effect_percent,
		.deviation_floor = night_world_deviation_floor(history->series.world),
	};
}

void night_history_stage1(const struct night_history *history, struct verdict *ret_verdict)
{
	const struct night_plan *plan = &history->plan;
	struct verdict_rule rule = rule_of(history, plan->stage1_alpha);
	size_t nights = history->nights < plan->window ? history->nights : plan->window;
	verdict_stage1_nights(history->values, nights, history->values[plan->window], plan->boots,
			      &rule, ret_verdict);
}

/* The boot value of one fresh boot. */
static double retest_boot(const struct night_history *history, double location,
			  double *scratch_badness)
{
	size_t iterations = history->plan.iterations;
	night_series_boot(&history->series, location, iterations, scratch_badness);
	return verdict_boot_value(scratch_badness, iterations, history->noise.within);
}

void night_history_stage2(struct night_history *history, double step, double flagged_change,
			  struct verdict *ret_verdict)
{
	const struct night_plan *plan = &history->plan;
	auto_free double *scratch = memory_array(plan->iterations, sizeof(*scratch));
	auto_free struct verdict_pair *pairs = memory_array(plan->pairs, sizeof(*pairs));
	double baseline[VERDICT_LAYOUTS_LIMIT] = {history->last_layout};
	double head[VERDICT_LAYOUTS_LIMIT] = {history->layout};
	for (size_t i = 0; i < plan->layouts && plan->layouts > 1; i++) {
		baseline[i] = night_series_layout(&history->series);
		head[i] = night_series_layout(&history->series);
	}
	for (size_t i = 0; i < plan->pairs; i++) {
		size_t layout = i % plan->layouts;
		pairs[i].layout = layout;
		pairs[i].baseline = retest_boot(history, baseline[layout], scratch);
		pairs[i].head = retest_boot(history, step + head[layout], scratch);
	}
	struct verdict_rule rule = rule_of(history, plan->stage2_alpha);
	struct verdict_noise noise = {
		.deviation = history->noise.boot,
		.degrees = history->noise.boot_degrees,
		.layout_deviation = history->noise.group,
		.layout_degrees = history->noise.group_degrees,
	};
	verdict_stage2(pairs, plan->pairs, flagged_change, &noise, &rule, ret_verdict);
}

void night_history_accept(struct night_history *history)
{
	const struct night_plan *plan = &history->plan;
	memcpy(iterations_of(history, history->nights % plan->noise_nights),
	       iterations_of(history, plan->noise_nights), night_size(plan) * sizeof(double));
	history->values[history->nights % plan->window] = history->values[plan->window];
	history->last_layout = history->layout;
	history->nights++;
}

void night_history_learn(struct night_history *history)
{
	const struct night_plan *plan = &history->plan;
	size_t count = plan->noise_nights * plan->boots;
	auto_free struct components_boot *boots = memory_array(count, sizeof(*boots));
	for (size_t i = 0; i < count; i++)
		boots[i] = (struct components_boot){
			.group = i / plan->boots,
			.badness = history->badness + i * plan->iterations,
			.count = plan->iterations,
		};
	components_estimate(boots, count, &history->noise);
}

void night_history_begin(struct night_history *history)
{
	/* Twice, since the first values are made without knowing the noise. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < history->plan.noise_nights; i++) {
			night_history_measure(history, 0);
			night_history_accept(history);
		}
		night_history_learn(history);
	}
}
