/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/night.h"

#include <time.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/base/random.h"
#include "sentinel/base/text.h"
#include "sentinel/simulate/night_naive.h"

#define NOTICE_SECONDS 10.0

static const char *const rule_names[] = {
	[SIMULATE_NIGHT_TWO_DEVIATIONS] = "2 stdev of iterations above last night",
	[SIMULATE_NIGHT_THREE_DEVIATIONS] = "3 stdev of iterations above last night",
	[SIMULATE_NIGHT_WELCH_05] = "Welch on iterations, p < 0.05",
	[SIMULATE_NIGHT_WELCH_001] = "Welch on iterations, p < 0.001",
	[SIMULATE_NIGHT_STAGE1] = "Sentinel, stage 1 alone",
	[SIMULATE_NIGHT_TWO_STAGE] = "Sentinel",
	[SIMULATE_NIGHT_IMPROVEMENT] = "Sentinel, improvements",
};

const char *simulate_night_rule_name(enum simulate_night_rule rule)
{
	return rule_names[rule];
}

/* What the series of one night, or of all nights, came to. */
struct tally {
	size_t alarms[SIMULATE_NIGHT_RULES];
	size_t retests;
};

struct simulation {
	const struct simulate_night_options *options;
	struct night_history *histories;
	struct tally alarms;
	struct tally nights_with; /* one or more */
};

void simulate_night_defaults(enum night_world world, struct simulate_night_options *ret_options)
{
	*ret_options = (struct simulate_night_options){
		.world = world,
		.layout_share = 0.2,
		.series = NIGHT_WORLD_SERIES,
		.nights = 1000,
		.seed = 1,
	};
	night_plan_default(world, ret_options->series, &ret_options->plan);
}

static void begin(const struct simulate_night_options *options, struct simulation *simulation)
{
	*simulation = (struct simulation){
		.options = options,
		.histories = memory_array(options->series, sizeof(struct night_history)),
	};
	for (size_t i = 0; i < options->series; i++) {
		struct night_series series;
		struct night_history *history = &simulation->histories[i];
		night_series_init(options->world, night_world_noise(options->world, i),
				  options->layout_share, &series);
		night_history_init(&options->plan, &series, history);
		night_history_begin(history);
	}
}

static void simulation_free(struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->options->series; i++)
		night_history_free(&simulation->histories[i]);
	free(simulation->histories);
}

static void judge_naively(const struct night_history *history, struct tally *tonight)
{
	const double *last = night_history_last(history);
	const double *now = night_history_tonight(history);
	size_t count = history->plan.boots * history->plan.iterations;
	double p = naive_welch_p(last, now, count);
	tonight->alarms[SIMULATE_NIGHT_TWO_DEVIATIONS] += naive_deviations(last, now, count, 2);
	tonight->alarms[SIMULATE_NIGHT_THREE_DEVIATIONS] += naive_deviations(last, now, count, 3);
	tonight->alarms[SIMULATE_NIGHT_WELCH_05] += p < 0.05;
	tonight->alarms[SIMULATE_NIGHT_WELCH_001] += p < 0.001;
}

static void judge(struct night_history *history, struct tally *tonight)
{
	struct verdict stage1;
	struct verdict stage2;
	night_history_stage1(history, &stage1);
	if (stage1.state != VERDICT_FLAGGED)
		return;
	night_history_learn(history);
	night_history_stage2(history, 0, stage1.change, &stage2);
	tonight->retests++;
	tonight->alarms[SIMULATE_NIGHT_STAGE1] += stage1.change > 0;
	tonight->alarms[SIMULATE_NIGHT_TWO_STAGE] += stage2.state == VERDICT_REGRESSION;
	tonight->alarms[SIMULATE_NIGHT_IMPROVEMENT] += stage2.state == VERDICT_IMPROVEMENT;
}

static void pass_night(struct simulation *simulation, size_t night)
{
	const struct simulate_night_options *options = simulation->options;
	struct tally tonight = {0};
	for (size_t i = 0; i < options->series; i++) {
		struct night_history *history = &simulation->histories[i];
		/* Known well from so many boots, it need not be learned from every new one. */
		if ((night + i) % options->plan.noise_nights == 0)
			night_history_learn(history);
		night_history_measure(history, 0);
		judge_naively(history, &tonight);
		judge(history, &tonight);
		night_history_accept(history);
	}
	for (size_t rule = 0; rule < SIMULATE_NIGHT_RULES; rule++) {
		simulation->alarms.alarms[rule] += tonight.alarms[rule];
		simulation->nights_with.alarms[rule] += tonight.alarms[rule] > 0;
	}
	simulation->alarms.retests += tonight.retests;
	simulation->nights_with.retests += tonight.retests > 0;
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void report(const struct simulation *simulation, struct simulate_night_result *ret_result)
{
	double nights = (double)simulation->options->nights;
	for (size_t rule = 0; rule < SIMULATE_NIGHT_RULES; rule++) {
		double alarms = (double)simulation->alarms.alarms[rule];
		ret_result->rates[rule] = (struct simulate_night_rate){
			.per_1000_nights = 1000 * alarms / nights,
			.per_30_nights = 30 * alarms / nights,
			.nights_with = (double)simulation->nights_with.alarms[rule] / nights,
		};
	}
	ret_result->retests_a_night = (double)simulation->alarms.retests / nights;
	ret_result->nights_with_retest = (double)simulation->nights_with.retests / nights;
	ret_result->nights = simulation->options->nights;
}

void simulate_night(const struct simulate_night_options *options,
		    struct simulate_night_result *ret_result)
{
	double start = cpu_seconds();
	double notice = start;
	auto_cleanup(simulation_free) struct simulation simulation;
	random_seed(options->seed);
	begin(options, &simulation);
	for (size_t night = 0; night < options->nights; night++) {
		pass_night(&simulation, night);
		if (cpu_seconds() - notice < NOTICE_SECONDS)
			continue;
		notice = cpu_seconds();
		log_notice("simulated %zu of %zu nights", night + 1, options->nights);
	}
	report(&simulation, ret_result);
	ret_result->seconds = cpu_seconds() - start;
}
