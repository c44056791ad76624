/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/judge.h"

#include <math.h>
#include <string.h>

#include "bench/stats/creep.h"
#include "sentinel/base/distribution.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

/* What is alarming about a creep is asked once, of one series: not shared with all the others. */
#define CREEP_ALPHA 0.001
enum { CREEP_BLOCK = 10 /* nights */ };
#define REMAINDER_ALPHA 0.05

const struct policy_benchmark *judge_benchmark(const struct policy *policy, const char *series)
{
	for (size_t i = 0; i < policy->benchmark_count; i++) {
		const struct policy_benchmark *benchmark = &policy->benchmarks[i];
		size_t length = strlen(benchmark->name);
		if (strncmp(series, benchmark->name, length) == 0 && series[length] == '/')
			return benchmark;
	}
	return NULL;
}

double judge_minimum_effect_percent(const struct policy *policy, const char *series)
{
	const struct policy_benchmark *benchmark = judge_benchmark(policy, series);
	return benchmark ? benchmark->minimum_effect_percent : 1;
}

double judge_minimum_step(const struct policy *policy, const char *series)
{
	return log1p(judge_minimum_effect_percent(policy, series) / 100);
}

static struct verdict_rule rule_for(const struct policy *policy, const char *series, double alpha,
				    double floor)
{
	return (struct verdict_rule){
		.alpha = alpha,
		.minimum_effect_percent = judge_minimum_effect_percent(policy, series),
		.deviation_floor = floor,
	};
}

static double stage1_alpha(const struct policy *policy)
{
	return policy->night.needless_retests_percent / 100;
}

static void set_reference(struct store_verdict *verdict, const char *commit)
{
	memcpy(verdict->reference, commit, strlen(commit) + 1);
}

static size_t level_of_nights(const struct history_series *series, size_t from, size_t to,
			      double *ret_location)
{
	auto_free double *values = memory_array(to, sizeof(*values));
	size_t count = 0;
	for (size_t i = from; i < to; i++)
		if (isfinite(series->nights[i].value))
			values[count++] = series->nights[i].value;
	if (count)
		*ret_location = verdict_night_value(
			values, count,
			fmax(stats_median_deviation(values, count), series->deviation_floor));
	return count;
}

/* What creep is told against: a level, the nights to compare, and the kernel of that level. */
struct pinned {
	struct creep_level level;
	size_t from;
	const char *commit;
};

static bool find_pinned(const struct history *history, const struct history_series *series,
			struct pinned *ret_pinned)
{
	struct watch_pin pin;
	struct pinned pinned = {.commit = history->baseline.commit};
	if (!watch_pin(series->nights, series->night_count, &series->watch,
		       history->baseline.set_seconds, VERDICT_NIGHTS_LEAST, &pin))
		return false;
	if (pin.level_from != WATCH_NO_NIGHT) {
		pinned.level.nights = (double)level_of_nights(series, pin.level_from, pin.from,
							      &pinned.level.location);
		pinned.commit = series->nights[pin.level_from].head;
	} else if (series->pinned_count) {
		pinned.level.location =
			verdict_night_value(series->pinned, series->pinned_count,
					    fmax(series->noise.deviation, series->deviation_floor));
		pinned.level.nights =
			(double)series->pinned_count / (double)history->policy->night.boots;
	}
	pinned.from = pin.from;
	*ret_pinned = pinned;
	return pinned.level.nights > 0;
}

/*
 * Of a night, pooled over all since the pin in blocks that are too short to creep far: with the few
 * of the window the sum would wander off by chance. DEVIATION stands in while there are not enough.
 */
static double creep_deviation(const struct history_series *series, const double *values,
			      size_t count, double deviation)
{
	struct pooled pooled = {0};
	if (count < 2 * CREEP_BLOCK)
		return deviation;
	for (size_t i = 0; i + CREEP_BLOCK <= count; i += CREEP_BLOCK)
		pooled_add(&pooled, values + i, CREEP_BLOCK);
	return fmax(pooled_deviation(&pooled), series->deviation_floor);
}

static bool has_crept(const struct history_series *series, const struct pinned *pinned,
		      double deviation)
{
	auto_free double *values = memory_array(series->night_count + 1, sizeof(*values));
	size_t count = watch_values(series->nights, series->night_count, series->accepted,
				    pinned->from, values);
	struct creep creep;
	deviation = creep_deviation(series, values, count, deviation);
	values[count++] = series->tonight_value;
	creep_watch(values, count, &pinned->level, deviation, &creep);
	return creep.flagged;
}

/* Says of a series without a step whether it has moved away from the pinned level little by little.
 */
static void judge_creep(const struct history *history, const struct history_series *series,
			struct store_verdict *verdict)
{
	struct pinned pinned;
	double minimum = judge_minimum_step(history->policy, series->name);
	if (verdict->verdict.state != VERDICT_UNCHANGED || verdict->event != WATCH_NONE ||
	    verdict->verdict.basis != VERDICT_BY_NIGHTS || !find_pinned(history, series, &pinned))
		return;
	double change = series->tonight_value - pinned.level.location;
	size_t since = series->watch.creep_since;
	if (since != WATCH_NO_NIGHT) {
		bool gone = watch_is_gone(series->nights[since].change, change,
					  verdict->verdict.deviation);
		verdict->event = gone ? WATCH_FIXED : WATCH_CREEP;
		verdict->verdict.state = gone ? VERDICT_UNCHANGED : VERDICT_KNOWN;
		verdict->since = series->nights[since].id;
		return;
	}
	if (change < minimum || strcmp(pinned.commit, history->tonights_head) == 0 ||
	    !has_crept(series, &pinned, verdict->verdict.deviation))
		return;
	verdict->event = WATCH_CREEP;
	verdict->verdict.state = VERDICT_FLAGGED;
	verdict->verdict.change = change;
	verdict->verdict.change_percent = stats_percent(change);
	verdict->verdict.threshold = minimum;
	set_reference(verdict, pinned.commit);
}

static void judge_step(const struct history *history, const struct history_series *series,
		       struct store_verdict *verdict)
{
	struct verdict_rule rule = rule_for(history->policy, series->name,
					    stage1_alpha(history->policy), series->deviation_floor);
	auto_free double *nights = memory_array(series->watch.count, sizeof(*nights));
	size_t count = watch_values(series->nights, series->night_count, series->accepted,
				    series->watch.window_from, nights);
	if (count >= VERDICT_NIGHTS_LEAST && series->tonight_count)
		verdict_stage1_nights(nights, count, series->tonight_value, series->tonight_count,
				      &rule, &verdict->verdict);
	else
		verdict_stage1(series->young, series->young_count, series->tonight,
			       series->tonight_count, &rule, &verdict->verdict);
}

void judge_stage1(const struct history *history, const char *name,
		  struct store_verdict *ret_verdict)
{
	auto_history_series struct history_series series = {0};
	struct store_verdict verdict = {.series = text_copy(name), .stage = 1};
	history_series_open(history, name, &series);
	judge_step(history, &series, &verdict);
	struct watch_tonight tonight = {
		.head = history->tonights_head,
		.value = series.tonight_value,
		.accepted = history_accepted_head(history, &series),
	};
	struct watch_decision decision;
	watch_decide(series.nights, &series.watch, &verdict.verdict, &tonight, &decision);
	verdict.verdict.state = decision.state;
	verdict.event = decision.event;
	verdict.since = decision.since;
	verdict.layout_deviation =
		verdict_layout_deviation(&series.noise, judge_minimum_step(history->policy, name));
	if (decision.reference)
		set_reference(&verdict, decision.reference);
	judge_creep(history, &series, &verdict);
	*ret_verdict = verdict;
}

/* Both boots of a pair have a number, or the pair is left out. */
static size_t make_pairs(const struct store_boot *boots, size_t count,
			 const struct store_verdict *flagged, double within,
			 struct verdict_pair *pairs)
{
	size_t found = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		const struct store_boot *first = &boots[i];
		const struct store_boot *second = &boots[i + 1];
		if (first->sequence / 2 != second->sequence / 2 || !first->count || !second->count)
			continue;
		bool swapped = strcmp(first->commit, flagged->reference) != 0;
		pairs[found++] = (struct verdict_pair){
			.baseline = series_boot_value(swapped ? second : first, within),
			.head = series_boot_value(swapped ? first : second, within),
			.layout = first->layout,
		};
	}
	return found;
}

int judge_stage2(const struct history *history, const struct store_verdict *flagged,
		 size_t series_count, const struct store_boot *boots, size_t count,
		 struct store_verdict *ret_verdict, struct error *err)
{
	if (series_check_alike(boots, count, "the retest", err) < 0)
		return -1;
	const struct policy_night *night = &history->policy->night;
	auto_history_series struct history_series series = {0};
	history_series_open(history, flagged->series, &series);
	double alpha = flagged->event == WATCH_CREEP
			       ? CREEP_ALPHA
			       : verdict_stage2_alpha(night->false_alarms_per_month, series_count,
						      stage1_alpha(history->policy));
	struct verdict_rule rule =
		rule_for(history->policy, flagged->series, alpha,
			 fmax(series.deviation_floor, series_floor(boots, count)));
	auto_free struct verdict_pair *pairs = memory_array(count, sizeof(*pairs));
	size_t pair_count = make_pairs(boots, count, flagged, series.within_deviation, pairs);
	struct store_verdict verdict = {
		.series = text_copy(flagged->series),
		.stage = 2,
		.event = flagged->event,
		.since = flagged->since,
		.layout_deviation = verdict_layout_deviation(
			&series.noise, judge_minimum_step(history->policy, series.name)),
	};
	set_reference(&verdict, flagged->reference);
	verdict_stage2(pairs, pair_count, flagged->verdict.change, &series.noise, &rule,
		       &verdict.verdict);
	*ret_verdict = verdict;
	return 0;
}

/* Of the difference between two kernels that were each booted so often in so many layouts. */
static double difference_variance(const struct store_verdict *regression, size_t boots,
				  size_t layouts)
{
	double boot = regression->verdict.deviation;
	double layout = regression->layout_deviation;
	return 2 * (boot * boot / (double)boots + layout * layout / fmax(1, (double)layouts));
}

bool judge_is_explained(const struct store_verdict *regression, size_t layouts, double minimum_step,
			const struct series_boots *culprit, const struct series_boots *rival)
{
	const struct verdict *verdict = &regression->verdict;
	if (!culprit || !culprit->count || !rival || !rival->count)
		return false;
	double step = stats_mean(culprit->values, culprit->count) -
		      stats_mean(rival->values, rival->count);
	if (step >= verdict->change / 2)
		return true;
	size_t pairs = culprit->count < rival->count ? culprit->count : rival->count;
	double variance = difference_variance(regression, verdict->boots, layouts) +
			  difference_variance(regression, pairs, series_layouts(culprit));
	double chance =
		distribution_t_quantile_upper(REMAINDER_ALPHA, verdict->degrees) * sqrt(variance);
	return verdict->change - step < fmax(minimum_step / 2, chance);
}
