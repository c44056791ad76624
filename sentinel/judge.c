/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/judge.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

/* Below this nothing repeats, whatever a program prints: half a tenth of a percent. */
#define LEAST_DEVIATION 0.0005

static struct series_boots *series_get(struct series_boots **series, size_t *count,
				       const struct store_boot *boot)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp((*series)[i].series, boot->series) == 0)
			return &(*series)[i];
	*series = memory_resize(*series, *count + 1, sizeof(**series));
	struct series_boots *added = &(*series)[(*count)++];
	*added = (struct series_boots){
		.series = boot->series,
		.unit = boot->unit,
		.higher_is_better = boot->higher_is_better,
		.deviation_floor = LEAST_DEVIATION,
	};
	return added;
}

static void series_add(struct series_boots *series, const struct store_boot *boot)
{
	auto_free double *badness = memory_array(boot->count, sizeof(double));
	for (size_t i = 0; i < boot->count; i++)
		badness[i] = stats_badness(boot->values[i], boot->higher_is_better);
	series->values = memory_resize(series->values, series->count + 1, sizeof(double));
	series->means = memory_resize(series->means, series->count + 1, sizeof(double));
	series->values[series->count] = verdict_boot_value(badness, boot->count);
	series->means[series->count] = stats_mean(boot->values, boot->count);
	/* A value rounded to a step of width w has a deviation of w / sqrt(12) from that alone. */
	double rounding = boot->resolution / series->means[series->count] / sqrt(12);
	series->deviation_floor = fmax(series->deviation_floor, rounding);
	series->count++;
}

void series_group(const struct store_boot *boots, size_t count, struct series_boots **ret_series,
		  size_t *ret_count)
{
	*ret_series = NULL;
	*ret_count = 0;
	for (size_t i = 0; i < count; i++)
		if (boots[i].count)
			series_add(series_get(ret_series, ret_count, &boots[i]), &boots[i]);
}

void series_free(struct series_boots *series, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(series[i].values);
		free(series[i].means);
	}
	free(series);
}

const struct series_boots *series_find(const struct series_boots *series, size_t count,
				       const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(series[i].series, name) == 0)
			return &series[i];
	return NULL;
}

static int refuse(const char *what, const char *difference, const struct store_boot *a,
		  const struct store_boot *b, struct error *err)
{
	return error_set(err, ERROR_USAGE,
			 "%s: trials %lld and %lld were measured under unlike conditions (%s) and "
			 "are not compared; measure the baseline again with \"sentinel baseline "
			 "set\"",
			 what, (long long)a->trial, (long long)b->trial, difference);
}

/* The first boot of the same series, which may be the boot itself. */
static const struct store_boot *first_of_series(const struct store_boot *boots,
						const struct store_boot *boot)
{
	while (strcmp(boots->series, boot->series) != 0)
		boots++;
	return boots;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int judge_check_alike(const struct store_boot *boots, size_t count, const char *what,
		      struct error *err)
{
	for (size_t i = 1; i < count; i++) {
		const struct store_boot *first = first_of_series(boots, &boots[i]);
		if (strcmp(boots[i].identity, boots[0].identity) != 0)
			return refuse(what, "machine, configuration or compiler", &boots[0],
				      &boots[i], err);
		if (!same_text(boots[i].command, first->command))
			return refuse(what, "the benchmark's parameters", first, &boots[i], err);
		if (!same_text(boots[i].program, first->program))
			return refuse(what, "the benchmark's program", first, &boots[i], err);
	}
	return 0;
}

int judge_check_sides(const struct store_boot *a, size_t a_count, const struct store_boot *b,
		      size_t b_count, const char *what, struct error *err)
{
	/* A list that borrows both sides. */
	auto_free struct store_boot *both = memory_array(a_count + b_count, sizeof(*both));
	if (a_count)
		memcpy(both, a, a_count * sizeof(*both));
	if (b_count)
		memcpy(both + a_count, b, b_count * sizeof(*both));
	return judge_check_alike(both, a_count + b_count, what, err);
}

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

static void add_verdict(struct store_verdict **verdicts, size_t *count, const char *series,
			int64_t stage, const struct verdict *verdict)
{
	*verdicts = memory_resize(*verdicts, *count + 1, sizeof(**verdicts));
	(*verdicts)[(*count)++] = (struct store_verdict){text_copy(series), stage, *verdict};
}

/* Both sides of a comparison, grouped. */
struct sides {
	struct series_boots *baseline;
	size_t baseline_count;
	struct series_boots *head;
	size_t head_count;
};

static void sides_free(struct sides *sides)
{
	series_free(sides->baseline, sides->baseline_count);
	series_free(sides->head, sides->head_count);
}

static int sides_group(const struct store_boot *baseline, size_t baseline_count,
		       const struct store_boot *head, size_t head_count, struct sides *sides,
		       struct error *err)
{
	if (judge_check_sides(baseline, baseline_count, head, head_count, "baseline and head",
			      err) < 0)
		return -1;
	series_group(baseline, baseline_count, &sides->baseline, &sides->baseline_count);
	series_group(head, head_count, &sides->head, &sides->head_count);
	return 0;
}

static struct verdict_rule rule_for(const struct policy *policy, double alpha,
				    const struct series_boots *baseline,
				    const struct series_boots *head)
{
	return (struct verdict_rule){
		.alpha = alpha,
		.minimum_effect_percent = judge_minimum_effect_percent(policy, head->series),
		.deviation_floor = fmax(baseline->deviation_floor, head->deviation_floor),
	};
}

int judge_stage1(const struct policy *policy, const struct store_boot *baseline,
		 size_t baseline_count, const struct store_boot *head, size_t head_count,
		 struct store_verdict **ret_verdicts, size_t *ret_count, struct error *err)
{
	auto_cleanup(sides_free) struct sides sides = {0};
	if (sides_group(baseline, baseline_count, head, head_count, &sides, err) < 0)
		return -1;
	struct store_verdict *verdicts = NULL;
	size_t count = 0;
	for (size_t i = 0; i < sides.head_count; i++) {
		const struct series_boots *tonight = &sides.head[i];
		const struct series_boots *before =
			series_find(sides.baseline, sides.baseline_count, tonight->series);
		struct verdict verdict = {.state = VERDICT_NO_DATA, .boots = tonight->count};
		if (before) {
			struct verdict_rule rule =
				rule_for(policy, policy->night.stage1_alpha, before, tonight);
			verdict_stage1(before->values, before->count, tonight->values,
				       tonight->count, &rule, &verdict);
		}
		add_verdict(&verdicts, &count, tonight->series, 1, &verdict);
	}
	/* A number that is missing tonight is not a good number. */
	for (size_t i = 0; i < sides.baseline_count; i++) {
		const struct series_boots *before = &sides.baseline[i];
		struct verdict verdict = {.state = VERDICT_NO_DATA,
					  .baseline_boots = before->count};
		if (!series_find(sides.head, sides.head_count, before->series))
			add_verdict(&verdicts, &count, before->series, 1, &verdict);
	}
	*ret_verdicts = verdicts;
	*ret_count = count;
	return 0;
}

int judge_stage2(const struct policy *policy, const struct store_verdict *stage1,
		 size_t stage1_count, const struct store_boot *baseline, size_t baseline_count,
		 const struct store_boot *head, size_t head_count,
		 struct store_verdict **ret_verdicts, size_t *ret_count, struct error *err)
{
	auto_cleanup(sides_free) struct sides sides = {0};
	if (sides_group(baseline, baseline_count, head, head_count, &sides, err) < 0)
		return -1;
	struct store_verdict *verdicts = NULL;
	size_t count = 0;
	for (size_t i = 0; i < stage1_count; i++) {
		if (stage1[i].verdict.state != VERDICT_FLAGGED)
			continue;
		const struct series_boots *before =
			series_find(sides.baseline, sides.baseline_count, stage1[i].series);
		const struct series_boots *tonight =
			series_find(sides.head, sides.head_count, stage1[i].series);
		struct verdict verdict = {.state = VERDICT_NO_DATA};
		if (before && tonight) {
			struct verdict_rule rule =
				rule_for(policy, policy->night.stage2_alpha, before, tonight);
			size_t pairs =
				before->count < tonight->count ? before->count : tonight->count;
			verdict_stage2(before->values, tonight->values, pairs, &stage1[i].verdict,
				       &rule, &verdict);
		}
		add_verdict(&verdicts, &count, stage1[i].series, 2, &verdict);
	}
	*ret_verdicts = verdicts;
	*ret_count = count;
	return 0;
}
