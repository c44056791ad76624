/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/judge.h"

/* One row of the classic table. */
struct row {
	char *benchmark;
	char *cell;
	char *load;
	double base_deviation_percent;
	double change_percent; /* plus is better */
	double deviation_percent;
	double badness_change; /* log scale */
	double threshold;
};

/* "bench/case/metric" -> the first part, and the middle as case and load: "groups-2" is a load. */
static void split_series(const char *series, struct row *row)
{
	size_t first = strcspn(series, "/");
	const char *rest = series[first] ? series + first + 1 : "";
	const char *last = strrchr(rest, '/');
	size_t length = last ? (size_t)(last - rest) : strlen(rest);
	row->benchmark = text_format("%.*s", (int)first, series);
	row->cell = text_copy(last ? last + 1 : "");
	row->load = text_format("%.*s", (int)length, rest);
}

static double deviation_percent(const struct series_boots *series)
{
	return 100 * stats_deviation(series->means, series->count) /
	       stats_mean(series->means, series->count);
}

static void fill_row(const struct policy *policy, double alpha, const struct series_boots *base,
		     const struct series_boots *other, struct row *row)
{
	double before = stats_mean(base->means, base->count);
	double after = stats_mean(other->means, other->count);
	split_series(base->series, row);
	row->base_deviation_percent = deviation_percent(base);
	row->deviation_percent = deviation_percent(other);
	row->change_percent =
		base->higher_is_better ? 100 * (after / before - 1) : 100 * (1 - after / before);
	struct verdict_rule rule = {
		.alpha = alpha,
		.minimum_effect_percent = judge_minimum_effect_percent(policy, base->series),
		.deviation_floor = fmax(base->deviation_floor, other->deviation_floor),
	};
	struct verdict verdict;
	verdict_stage1(base->values, base->count, other->values, other->count, &rule, &verdict);
	row->badness_change = verdict.change;
	row->threshold = verdict.state == VERDICT_NO_DATA ? INFINITY : verdict.threshold;
}

static bool is_regression(const struct row *row)
{
	return row->badness_change > row->threshold;
}

static void print_header(const char *base, const char *other)
{
	printf("baseline %s, compared %s\n%-26s %-12s %-16s %18s %20s\n", short_id(base),
	       short_id(other), "benchmark", "case", "load", "baseline( std%)", "change%( std%)");
}

static void print_row(const struct row *row)
{
	printf("%-26s %-12s %-16s %10.2f (%5.2f) %+11.2f (%5.2f)%s\n", row->benchmark, row->cell,
	       row->load, 1.0, row->base_deviation_percent, row->change_percent,
	       row->deviation_percent, is_regression(row) ? "  regression" : "");
}

static json_t *row_json(const struct row *row)
{
	return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:b}", "benchmark", row->benchmark, "case",
			 row->cell, "load", row->load, "baseline_std_percent",
			 row->base_deviation_percent, "change_percent", row->change_percent,
			 "std_percent", row->deviation_percent, "regression", is_regression(row));
}

struct side {
	char commit[OBJECT_ID_SIZE];
	struct store_boot *boots;
	size_t boot_count;
	size_t alike_count; /* the first ones, of one identity */
	struct series_boots *series;
	size_t count;
};

static void side_free(struct side *side)
{
	series_free(side->series, side->count);
	store_boots_free(side->boots, side->boot_count);
}

static int side_load(struct context *context, const char *revision, struct side *side,
		     struct error *err)
{
	if (context_resolve(context, revision, side->commit, err) < 0 ||
	    store_boots_of_commit(context->store, context->machine_policy->name, side->commit,
				  &side->boots, &side->boot_count, err) < 0)
		return -1;
	if (!side->boot_count)
		return error_set(err, ERROR_USAGE,
				 "%s was never measured on %s; run \"sentinel measure %s\"",
				 revision, context->machine_policy->name, short_id(side->commit));
	return 0;
}

static bool has_identity(const struct side *side, const char *identity)
{
	for (size_t i = 0; i < side->boot_count; i++)
		if (strcmp(side->boots[i].identity, identity) == 0)
			return true;
	return false;
}

/* The conditions of the newest boot of OTHER that BASE was measured under as well, or NULL. */
static const char *common_identity(const struct side *base, const struct side *other)
{
	const struct store_boot *newest = NULL;
	for (size_t i = 0; i < other->boot_count; i++)
		if ((!newest || other->boots[i].trial > newest->trial) &&
		    has_identity(base, other->boots[i].identity))
			newest = &other->boots[i];
	return newest ? newest->identity : NULL;
}

/* Moves the boots of that identity, of the plain build, to the front and groups them. */
static void side_select(struct side *side, const char *identity)
{
	size_t kept = 0;
	for (size_t i = 0; i < side->boot_count; i++) {
		if (strcmp(side->boots[i].identity, identity) != 0 || side->boots[i].layout)
			continue;
		struct store_boot boot = side->boots[kept];
		side->boots[kept++] = side->boots[i];
		side->boots[i] = boot;
	}
	side->alike_count = kept;
	series_group(side->boots, kept, &side->series, &side->count);
}

int cmd_compare(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		struct error *err)
{
	auto_cleanup(side_free) struct side base = {0};
	auto_cleanup(side_free) struct side other = {0};
	if (context_open_store(context, err) < 0 || context_open_source(context, err) < 0 ||
	    side_load(context, arguments->operands[0], &base, err) < 0 ||
	    side_load(context, arguments->operands[1], &other, err) < 0)
		return -1;
	const char *identity = common_identity(&base, &other);
	if (!identity)
		return error_set(
			err, ERROR_USAGE,
			"%s and %s were never measured under the same conditions (machine, "
			"configuration, compiler); measure both again",
			arguments->operands[0], arguments->operands[1]);
	auto_free char *chosen = text_copy(identity);
	side_select(&base, chosen);
	side_select(&other, chosen);
	if (series_check_sides(base.boots, base.alike_count, other.boots, other.alike_count,
			       "the two revisions", err) < 0)
		return -1;
	/* Nothing is measured again here, so the table itself must be as sure as stage 2. */
	const struct policy_night *night = &context->policy.night;
	double alpha = verdict_stage2_alpha(night->false_alarms_per_month, base.count,
					    night->needless_retests_percent / 100);
	json_t *rows = json_array();
	bool regression = false;
	if (!context->json)
		print_header(base.commit, other.commit);
	for (size_t i = 0; i < base.count; i++) {
		const struct series_boots *found =
			series_find(other.series, other.count, base.series[i].series);
		if (!found)
			continue;
		struct row row;
		fill_row(&context->policy, alpha, &base.series[i], found, &row);
		regression |= is_regression(&row);
		if (context->json)
			json_array_append_new(rows, row_json(&row));
		else
			print_row(&row);
		free(row.benchmark);
		free(row.cell);
		free(row.load);
	}
	if (!context->json)
		printf("plus is better: 1 - new/old where lower is better, new/old - 1 where "
		       "higher "
		       "is; %s\n",
		       base.boots[0].clock);
	if (context->json)
		context_print_json(json_pack("{s:s, s:s, s:s, s:o}", "baseline", base.commit,
					     "compared", other.commit, "clock", base.boots[0].clock,
					     "rows", rows));
	else
		json_decref(rows);
	if (argument_value(arguments, "--exit-code") && regression)
		*ret_exit_code = EXIT_REGRESSION;
	return 0;
}
