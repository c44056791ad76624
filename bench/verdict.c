/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/verdict.h"

#include <math.h>

#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static const char *const state_names[] = {
	[VERDICT_UNCHANGED] = "unchanged",       [VERDICT_FLAGGED] = "flagged",
	[VERDICT_REGRESSION] = "regression",     [VERDICT_IMPROVEMENT] = "improvement",
	[VERDICT_NOT_REPEATED] = "not-repeated", [VERDICT_NO_DATA] = "no-data",
};

const char *verdict_state_name(enum verdict_state state)
{
	return state_names[state];
}

double verdict_boot_value(const double *badness, size_t count)
{
	return stats_huber(badness, count, stats_median_deviation(badness, count));
}

static double minimum_effect(const struct verdict_rule *rule)
{
	return log1p(rule->minimum_effect_percent / 100);
}

/* Series that repeat exactly have no error: then any step at all is infinitely many of them. */
static double in_standard_errors(double step, double standard_error)
{
	if (standard_error > 0)
		return step / standard_error;
	return step == 0 ? 0 : copysign(INFINITY, step);
}

/*
 * Completes a verdict that has change, deviation and degrees; SPREAD is the standard error of the
 * change in deviations of one boot. True when the change exceeds MINIMUM and chance, towards the
 * side of DIRECTION's sign.
 */
static bool test_change(struct verdict *verdict, double direction, double spread, double minimum,
			double alpha)
{
	double step = direction < 0 ? -verdict->change : verdict->change;
	double standard_error = verdict->deviation * spread;
	double quantile = distribution_t_quantile_upper(alpha, verdict->degrees);
	verdict->threshold = fmax(quantile * standard_error, minimum);
	verdict->p_value =
		distribution_t_upper(in_standard_errors(step, standard_error), verdict->degrees);
	return step > verdict->threshold;
}

void verdict_stage1(const double *baseline, size_t baseline_count, const double *boots,
		    size_t boot_count, const struct verdict_rule *rule, struct verdict *ret_verdict)
{
	struct verdict verdict = {
		.state = VERDICT_NO_DATA,
		.p_value = 1,
		.baseline_boots = baseline_count,
		.boots = boot_count,
	};
	if (baseline_count && boot_count) {
		struct pooled pooled = {0};
		pooled_add(&pooled, baseline, baseline_count);
		pooled_add(&pooled, boots, boot_count);
		verdict.degrees = (double)pooled.degrees;
		verdict.deviation = fmax(pooled_deviation(&pooled), rule->deviation_floor);
		verdict.change = stats_huber(boots, boot_count, verdict.deviation) -
				 stats_huber(baseline, baseline_count, verdict.deviation);
		verdict.change_percent = stats_percent(verdict.change);
	}
	if (verdict.degrees > 0) {
		double spread = sqrt(1 / (double)baseline_count + 1 / (double)boot_count);
		bool moved = test_change(&verdict, verdict.change, spread, minimum_effect(rule),
					 rule->alpha);
		verdict.state = moved ? VERDICT_FLAGGED : VERDICT_UNCHANGED;
	}
	*ret_verdict = verdict;
}

static double mean_difference(const double *baseline, const double *boots, size_t count,
			      double deviation)
{
	auto_free double *differences = memory_array(count, sizeof(*differences));
	for (size_t i = 0; i < count; i++)
		differences[i] = boots[i] - baseline[i];
	return stats_huber(differences, count, M_SQRT2 * deviation);
}

/* Stage 1 and the fresh boots estimate the same deviation: each weighs by its degrees. */
static void pool_deviation(const double *baseline, const double *boots, size_t count,
			   const struct verdict *flagged, struct verdict *verdict)
{
	struct pooled pooled = {0};
	pooled_add(&pooled, baseline, count);
	pooled_add(&pooled, boots, count);
	double sum_of_squares =
		pooled.sum_of_squares + flagged->degrees * flagged->deviation * flagged->deviation;
	verdict->degrees = (double)pooled.degrees + flagged->degrees;
	if (verdict->degrees > 0)
		verdict->deviation = sqrt(sum_of_squares / verdict->degrees);
}

void verdict_stage2(const double *baseline, const double *boots, size_t count,
		    const struct verdict *flagged, const struct verdict_rule *rule,
		    struct verdict *ret_verdict)
{
	struct verdict verdict = {
		.state = VERDICT_NO_DATA,
		.p_value = 1,
		.baseline_boots = count,
		.boots = count,
	};
	if (count) {
		pool_deviation(baseline, boots, count, flagged, &verdict);
		verdict.deviation = fmax(verdict.deviation, rule->deviation_floor);
		verdict.change = mean_difference(baseline, boots, count, verdict.deviation);
		verdict.change_percent = stats_percent(verdict.change);
	}
	if (count && verdict.degrees > 0) {
		bool repeated = test_change(&verdict, flagged->change, sqrt(2 / (double)count),
					    minimum_effect(rule) / 2, rule->alpha);
		enum verdict_state confirmed =
			flagged->change > 0 ? VERDICT_REGRESSION : VERDICT_IMPROVEMENT;
		verdict.state = repeated ? confirmed : VERDICT_NOT_REPEATED;
	}
	*ret_verdict = verdict;
}
