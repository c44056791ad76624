/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define WINDOW_LIMIT 2.5 /* median deviations: beyond them a night is clipped */
/* What clipping takes from the deviation of normal values. */
#define WINDOW_CONSISTENCY 1.06
#define HISTORY_DEGREES_LIMIT 40.0
#define ASSUMED_LAYOUT_SHARE 0.5
#define LAYOUTS_DISAGREE 0.001 /* so seldom by chance */
#define NIGHTS_A_MONTH 30.0
#define LEAST_ALPHA 1e-6
#define GREATEST_ALPHA 0.01

static const char *const state_names[] = {
	[VERDICT_UNCHANGED] = "unchanged",
	[VERDICT_FLAGGED] = "flagged",
	[VERDICT_REGRESSION] = "regression",
	[VERDICT_IMPROVEMENT] = "improvement",
	[VERDICT_NOT_REPEATED] = "not-repeated",
	[VERDICT_NO_DATA] = "no-data",
	[VERDICT_KNOWN] = "known",
};

static const char *const basis_names[] = {
	[VERDICT_BY_BOOTS] = "boots",
	[VERDICT_BY_NIGHTS] = "nights",
	[VERDICT_BY_PAIRS] = "pairs",
};

const char *verdict_state_name(enum verdict_state state)
{
	return state_names[state];
}

const char *verdict_basis_name(enum verdict_basis basis)
{
	return basis_names[basis];
}

double verdict_boot_value(const double *badness, size_t count, double within_deviation)
{
	double scale =
		within_deviation > 0 ? within_deviation : stats_median_deviation(badness, count);
	return stats_huber(badness, count, scale);
}

double verdict_night_value(const double *boots, size_t count, double deviation)
{
	return stats_huber(boots, count, deviation);
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
 * Completes a verdict that has change and degrees. True when the change exceeds MINIMUM and chance,
 * towards the side of DIRECTION's sign.
 */
static bool test_change(struct verdict *verdict, double direction, double standard_error,
			double minimum, double alpha)
{
	double step = direction < 0 ? -verdict->change : verdict->change;
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
		double standard_error = verdict.deviation *
					sqrt(1 / (double)baseline_count + 1 / (double)boot_count);
		bool moved = test_change(&verdict, verdict.change, standard_error,
					 minimum_effect(rule), rule->alpha);
		verdict.state = moved ? VERDICT_FLAGGED : VERDICT_UNCHANGED;
	}
	*ret_verdict = verdict;
}

void verdict_window(const double *nights, size_t count, double floor,
		    struct verdict_window *ret_window)
{
	double median = stats_median(nights, count);
	double limit = WINDOW_LIMIT * stats_median_deviation(nights, count);
	auto_free double *clipped = memory_array(count, sizeof(*clipped));
	for (size_t i = 0; i < count; i++)
		clipped[i] = median + fmax(-limit, fmin(limit, nights[i] - median));
	double deviation = fmax(floor, WINDOW_CONSISTENCY * stats_deviation(clipped, count));
	*ret_window = (struct verdict_window){
		.location = stats_huber(nights, count, deviation),
		.deviation = deviation,
		.nights = count,
	};
}

void verdict_stage1_nights(const double *nights, size_t night_count, double tonight, size_t boots,
			   const struct verdict_rule *rule, struct verdict *ret_verdict)
{
	struct verdict verdict = {
		.state = VERDICT_NO_DATA,
		.basis = VERDICT_BY_NIGHTS,
		.p_value = 1,
		.baseline_boots = night_count,
		.boots = boots,
	};
	if (night_count >= VERDICT_NIGHTS_LEAST && boots) {
		struct verdict_window window;
		verdict_window(nights, night_count, rule->deviation_floor / sqrt((double)boots),
			       &window);
		verdict.change = tonight - window.location;
		verdict.change_percent = stats_percent(verdict.change);
		verdict.deviation = window.deviation;
		verdict.degrees = (double)night_count - 1;
		double standard_error = window.deviation * sqrt(1 + 1 / (double)night_count);
		bool moved = test_change(&verdict, verdict.change, standard_error,
					 minimum_effect(rule), rule->alpha);
		verdict.state = moved ? VERDICT_FLAGGED : VERDICT_UNCHANGED;
	}
	*ret_verdict = verdict;
}

/* The pairs of one layout: what they have in common is the step and the layout's own effect. */
struct layout_group {
	size_t pairs;
	double mean;
	double squares; /* of the differences about it */
};

static size_t group_pairs(const struct verdict_pair *pairs, size_t count,
			  struct layout_group groups[static VERDICT_LAYOUTS_LIMIT])
{
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct layout_group *group = &groups[pairs[i].layout];
		double difference = pairs[i].head - pairs[i].baseline;
		double before = difference - group->mean;
		used += group->pairs++ == 0;
		group->mean += before / (double)group->pairs;
		group->squares += before * (difference - group->mean);
	}
	return used;
}

/* A difference has twice the variance of a boot. */
static void pool_deviation(const struct layout_group *groups, const struct verdict_noise *noise,
			   struct verdict *verdict)
{
	double degrees = fmin(noise->degrees, HISTORY_DEGREES_LIMIT);
	double squares = degrees * noise->deviation * noise->deviation;
	for (size_t i = 0; i < VERDICT_LAYOUTS_LIMIT; i++) {
		if (groups[i].pairs < 2)
			continue;
		squares += groups[i].squares / 2;
		degrees += (double)groups[i].pairs - 1;
	}
	verdict->degrees = degrees;
	verdict->deviation = degrees > 0 ? sqrt(squares / degrees) : 0;
}

/*
 * The variance between builds as the layouts' means show it, beyond what their boots explain
 * (DerSimonian and Laird, with the number of pairs as weight). A difference has twice of both.
 */
static double own_layout_variance(const struct layout_group *groups, size_t layouts,
				  double deviation)
{
	double pairs = 0;
	double pair_squares = 0;
	double sum = 0;
	double squares = 0;
	if (layouts < 2)
		return 0;
	for (size_t i = 0; i < VERDICT_LAYOUTS_LIMIT; i++) {
		double weight = (double)groups[i].pairs;
		pairs += weight;
		pair_squares += weight * weight;
		sum += weight * groups[i].mean;
	}
	for (size_t i = 0; i < VERDICT_LAYOUTS_LIMIT; i++)
		squares += (double)groups[i].pairs * pow(groups[i].mean - sum / pairs, 2);
	double expected = (double)(layouts - 1) * 2 * deviation * deviation;
	return fmax(0, (squares - expected) / (pairs - pair_squares / pairs)) / 2;
}

static double mean_difference(const struct verdict_pair *pairs, size_t count, double deviation)
{
	auto_free double *differences = memory_array(count, sizeof(*differences));
	for (size_t i = 0; i < count; i++)
		differences[i] = pairs[i].head - pairs[i].baseline;
	return stats_huber(differences, count, M_SQRT2 * deviation);
}

/* What the mean difference of a layout varies by. */
static double group_variance(const struct layout_group *group, double deviation,
			     double layout_deviation)
{
	return 2 *
	       (deviation * deviation / (double)group->pairs + layout_deviation * layout_deviation);
}

/* Do the layouts' means scatter as boots and builds of these deviations do? */
static bool layouts_agree(const struct layout_group *groups, size_t layouts, double deviation,
			  double layout_deviation)
{
	double weights = 0;
	double sum = 0;
	double squares = 0;
	if (layouts < 2 || deviation <= 0)
		return layouts < 2;
	for (size_t i = 0; i < VERDICT_LAYOUTS_LIMIT; i++) {
		double weight = 1 / group_variance(&groups[i], deviation, layout_deviation);
		weights += weight;
		sum += weight * groups[i].mean;
	}
	for (size_t i = 0; i < VERDICT_LAYOUTS_LIMIT; i++)
		squares += pow(groups[i].mean - sum / weights, 2) /
			   group_variance(&groups[i], deviation, layout_deviation);
	return distribution_chi_square_upper(squares, (double)(layouts - 1)) >= LAYOUTS_DISAGREE;
}

double verdict_layout_deviation(const struct verdict_noise *noise, double minimum_step)
{
	return noise->layout_degrees > 0 ? noise->layout_deviation
					 : ASSUMED_LAYOUT_SHARE * minimum_step;
}

/*
 * The retest's own two or three builds say little of their deviation, so that history is believed
 * until they contradict it.
 */
static double layout_variance(const struct layout_group *groups, size_t layouts,
			      const struct verdict_noise *noise, const struct verdict_rule *rule,
			      double deviation)
{
	bool known = noise->layout_degrees > 0;
	double assumed = verdict_layout_deviation(noise, minimum_effect(rule));
	if (known && layouts_agree(groups, layouts, deviation, assumed))
		return assumed * assumed;
	return fmax(assumed * assumed, own_layout_variance(groups, layouts, deviation));
}

void verdict_stage2(const struct verdict_pair *pairs, size_t count, double flagged_change,
		    const struct verdict_noise *noise, const struct verdict_rule *rule,
		    struct verdict *ret_verdict)
{
	struct layout_group groups[VERDICT_LAYOUTS_LIMIT] = {{0}};
	size_t layouts = group_pairs(pairs, count, groups);
	struct verdict verdict = {
		.state = VERDICT_NO_DATA,
		.basis = VERDICT_BY_PAIRS,
		.p_value = 1,
		.baseline_boots = count,
		.boots = count,
	};
	if (count) {
		pool_deviation(groups, noise, &verdict);
		verdict.deviation = fmax(verdict.deviation, rule->deviation_floor);
		verdict.change = mean_difference(pairs, count, verdict.deviation);
		verdict.change_percent = stats_percent(verdict.change);
	}
	if (count && verdict.degrees > 0) {
		double layout = layout_variance(groups, layouts, noise, rule, verdict.deviation);
		double boot = verdict.deviation * verdict.deviation;
		double standard_error = sqrt(2 * (boot / (double)count + layout / (double)layouts));
		bool repeated = test_change(&verdict, flagged_change, standard_error,
					    minimum_effect(rule) / 2, rule->alpha);
		enum verdict_state confirmed =
			flagged_change > 0 ? VERDICT_REGRESSION : VERDICT_IMPROVEMENT;
		verdict.state = repeated ? confirmed : VERDICT_NOT_REPEATED;
	}
	*ret_verdict = verdict;
}

double verdict_stage2_alpha(double false_alarms_per_month, size_t series, double stage1_alpha)
{
	double chances = NIGHTS_A_MONTH * (double)series * stage1_alpha;
	return fmax(LEAST_ALPHA, fmin(GREATEST_ALPHA, false_alarms_per_month / chances));
}

struct ranked {
	double p_value;
	size_t index;
};

static int smallest_first(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;
	return (a->p_value > b->p_value) - (a->p_value < b->p_value);
}

void verdict_q_values(const double *p_values, size_t count, double *ret_q_values)
{
	auto_free struct ranked *ranked = memory_array(count, sizeof(*ranked));
	double q = 1;
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){p_values[i], i};
	qsort(ranked, count, sizeof(*ranked), smallest_first);
	for (size_t i = count; i-- > 0;) {
		q = fmin(q, ranked[i].p_value * (double)count / (double)(i + 1));
		ret_q_values[ranked[i].index] = q;
	}
}
