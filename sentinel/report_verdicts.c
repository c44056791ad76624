/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/report_verdicts.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/robust.h"
#include "sentinel/series.h"
#include "sentinel/store_watch.h"

struct verdicts {
	struct store_verdict *items;
	size_t count;
};

static void verdicts_free(struct verdicts *verdicts)
{
	store_verdicts_free(verdicts->items, verdicts->count);
}
#define auto_verdicts auto_cleanup(verdicts_free)

/* The culprit of the newest hunt for this series since it is known; caller frees, NULL: none. */
static int find_culprit(struct context *context, const struct store_verdict *verdict,
			char **ret_culprit, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	*ret_culprit = NULL;
	if (store_list_hunts(context->store, -1, false, &hunts, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count && !*ret_culprit; i++)
		if (hunts[i].night >= verdict->since && hunts[i].culprit[0] &&
		    series_same_case(hunts[i].series, verdict->series))
			*ret_culprit = text_copy(hunts[i].culprit);
	store_hunts_free(hunts, count);
	return 0;
}

/* What the verdict's own word leaves out. */
static int add_remark(struct context *context, const struct store_verdict *verdict,
		      struct text *text, struct error *err)
{
	auto_free char *culprit = NULL;
	long long since = (long long)verdict->since;
	if (verdict->event == WATCH_GROWN)
		text_printf(text, ", open since night %lld and larger than before", since);
	if (verdict->event == WATCH_FIXED)
		text_printf(text, ", fixed: was open since night %lld", since);
	if (verdict->event == WATCH_CREEP && verdict->reference[0])
		text_printf(text, ", creep: many small steps away from the pinned kernel %s",
			    short_id(verdict->reference));
	if (verdict->event == WATCH_SAME_KERNEL)
		text_append(text, ", not the kernel's doing: it is the last accepted one");
	if (verdict->verdict.state != VERDICT_KNOWN)
		return 0;
	text_printf(text, " since night %lld%s", since,
		    verdict->event == WATCH_CREEP ? ", creep" : "");
	if (find_culprit(context, verdict, &culprit, err) < 0)
		return -1;
	if (culprit)
		text_printf(text, ", culprit %s", short_id(culprit));
	return 0;
}

static const char *compared_with(const struct verdict *verdict, char buffer[static 24])
{
	static const char *const units[] = {[VERDICT_BY_BOOTS] = "boots",
					    [VERDICT_BY_NIGHTS] = "nights",
					    [VERDICT_BY_PAIRS] = "pairs"};
	snprintf(buffer, 24, "%zu %s", verdict->baseline_boots, units[verdict->basis]);
	return buffer;
}

static int add_line(struct context *context, const struct store_verdict *verdict, struct text *text,
		    struct error *err)
{
	char buffer[24];
	text_printf(text, "  %-44s %+7.2f%% %9.2f%%  %-9s  %s", verdict->series,
		    verdict->verdict.change_percent, stats_percent(verdict->verdict.threshold),
		    compared_with(&verdict->verdict, buffer),
		    verdict_state_name(verdict->verdict.state));
	if (add_remark(context, verdict, text, err) < 0)
		return -1;
	text_append(text, "\n");
	return 0;
}

static void add_header(struct text *text, const char *title)
{
	text_printf(text, "%s\n  %-44s %8s %10s  %-9s  %s\n", title, "series (plus is worse)",
		    "change", "threshold", "against", "verdict");
}

static size_t count_young(const struct verdicts *verdicts)
{
	size_t count = 0;
	for (size_t i = 0; i < verdicts->count; i++)
		count += verdicts->items[i].verdict.basis == VERDICT_BY_BOOTS;
	return count;
}

static int add_stage1(struct context *context, const struct store_night *night,
		      const struct verdicts *verdicts, struct text *text, struct error *err)
{
	size_t young = count_young(verdicts);
	add_header(text, strcmp(night->kind, "judge") == 0 ? "against the baseline:"
							   : "against what was accepted:");
	for (size_t i = 0; i < verdicts->count; i++)
		if (add_line(context, &verdicts->items[i], text, err) < 0)
			return -1;
	if (young && strcmp(night->kind, "nightly") == 0)
		text_printf(text,
			    "%zu of %zu series have fewer than %d accepted nights: they are "
			    "compared with the\nbaseline's boots and those of the nights accepted "
			    "since. That is less certain: the scatter\nbetween nights is not known "
			    "yet, so more is measured again, and small steps are missed.\n",
			    young, verdicts->count, VERDICT_NIGHTS_LEAST);
	return 0;
}

/* By how far chance explains what stage 1 saw, over all series: an order, not a gate. */
static void rank(const struct verdicts *stage1, const struct verdicts *stage2, size_t *ret_order)
{
	auto_free double *chances = memory_array(stage1->count, sizeof(*chances));
	auto_free double *q_values = memory_array(stage1->count, sizeof(*q_values));
	auto_free double *keys = memory_array(stage2->count, sizeof(*keys));
	for (size_t i = 0; i < stage1->count; i++)
		chances[i] = stage1->items[i].verdict.p_value;
	verdict_q_values(chances, stage1->count, q_values);
	for (size_t i = 0; i < stage2->count; i++) {
		size_t j = 0;
		while (j < stage1->count &&
		       strcmp(stage1->items[j].series, stage2->items[i].series) != 0)
			j++;
		keys[i] = j < stage1->count ? q_values[j] : 1;
		size_t place = i;
		for (; place > 0 && keys[ret_order[place - 1]] > keys[i]; place--)
			ret_order[place] = ret_order[place - 1];
		ret_order[place] = i;
	}
}

/* Metrics of one case are one event: they follow each other. */
static int add_event(struct context *context, const struct verdicts *stage2, const size_t *order,
		     size_t first, struct text *text, struct error *err)
{
	const char *series = stage2->items[order[first]].series;
	for (size_t i = 0; i < first; i++)
		if (series_same_case(stage2->items[order[i]].series, series))
			return 0;
	for (size_t i = first; i < stage2->count; i++)
		if (series_same_case(stage2->items[order[i]].series, series) &&
		    add_line(context, &stage2->items[order[i]], text, err) < 0)
			return -1;
	return 0;
}

static int load(struct context *context, const struct store_night *night, struct verdicts *stage1,
		struct verdicts *stage2, struct error *err)
{
	if (store_get_verdicts(context->store, night->id, 1, &stage1->items, &stage1->count, err) <
	    0)
		return -1;
	return store_get_verdicts(context->store, night->id, 2, &stage2->items, &stage2->count,
				  err);
}

int report_verdicts(struct context *context, const struct store_night *night, struct text *text,
		    struct error *err)
{
	auto_verdicts struct verdicts stage1 = {0};
	auto_verdicts struct verdicts stage2 = {0};
	if (load(context, night, &stage1, &stage2, err) < 0)
		return -1;
	if (stage1.count && add_stage1(context, night, &stage1, text, err) < 0)
		return -1;
	if (!stage2.count)
		return 0;
	auto_free size_t *order = memory_array(stage2.count, sizeof(*order));
	rank(&stage1, &stage2, order);
	add_header(text, "measured again in interleaved boots, the clearest first:");
	for (size_t i = 0; i < stage2.count; i++)
		if (add_event(context, &stage2, order, i, text, err) < 0)
			return -1;
	return 0;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *verdict_json(const struct store_verdict *stored)
{
	const struct verdict *verdict = &stored->verdict;
	return json_pack("{s:s, s:I, s:s, s:s, s:I, s:s, s:I, s:s?, s:o, s:o, s:o, s:o}", "series",
			 stored->series, "stage", (json_int_t)stored->stage, "verdict",
			 verdict_state_name(verdict->state), "basis",
			 verdict_basis_name(verdict->basis), "against",
			 (json_int_t)verdict->baseline_boots, "event",
			 watch_event_name(stored->event), "since", (json_int_t)stored->since,
			 "reference", stored->reference[0] ? stored->reference : NULL,
			 "change_percent", number(verdict->change_percent), "threshold_percent",
			 number(stats_percent(verdict->threshold)), "deviation",
			 number(verdict->deviation), "p_value", number(verdict->p_value));
}

int report_verdicts_json(struct context *context, const struct store_night *night,
			 json_t **ret_array, struct error *err)
{
	auto_verdicts struct verdicts stage1 = {0};
	auto_verdicts struct verdicts stage2 = {0};
	if (load(context, night, &stage1, &stage2, err) < 0)
		return -1;
	*ret_array = json_array();
	for (size_t i = 0; i < stage1.count; i++)
		json_array_append_new(*ret_array, verdict_json(&stage1.items[i]));
	for (size_t i = 0; i < stage2.count; i++)
		json_array_append_new(*ret_array, verdict_json(&stage2.items[i]));
	return 0;
}

static int date_of(struct context *context, int64_t night, char ret_date[static 21],
		   struct error *err)
{
	struct store_night found = {0};
	if (store_get_night(context->store, night, &found, err) < 0)
		return -1;
	clock_utc_text(found.started_seconds, ret_date);
	store_night_free(&found);
	return 0;
}

int report_change_points(struct context *context, const struct store_night *night,
			 struct text *text, struct error *err)
{
	struct store_change_point *points;
	size_t count;
	int result = 0;
	if (store_list_change_points(context->store, NULL, night->id, &points, &count, err) < 0)
		return -1;
	if (count)
		text_append(text, "steps that the history shows, found this week:\n");
	for (size_t i = 0; i < count && result == 0; i++) {
		char date[21];
		result = date_of(context, points[i].night, date, err);
		if (result == 0)
			text_printf(text, "  %-44s %+7.2f%% from night %lld (%s) on, p %.2g\n",
				    points[i].series, stats_percent(points[i].change),
				    (long long)points[i].night, date, points[i].p_value);
	}
	store_change_points_free(points, count);
	return result;
}

int report_change_points_json(struct context *context, const struct store_night *night,
			      json_t **ret_array, struct error *err)
{
	struct store_change_point *points;
	size_t count;
	if (store_list_change_points(context->store, NULL, night->id, &points, &count, err) < 0)
		return -1;
	*ret_array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(*ret_array,
				      json_pack("{s:s, s:I, s:f, s:f}", "series", points[i].series,
						"night", (json_int_t)points[i].night,
						"change_percent", stats_percent(points[i].change),
						"p_value", points[i].p_value));
	store_change_points_free(points, count);
	return 0;
}
