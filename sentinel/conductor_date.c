/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/history.h"
#include "sentinel/judge.h"
#include "sentinel/night_step.h"

static bool creep_was_confirmed(const struct verdict_list *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->items[i].verdict.state == VERDICT_REGRESSION &&
		    verdicts->items[i].event == WATCH_CREEP)
			return true;
	return false;
}

static bool is_due(const struct history *history, const struct store_night *night,
		   const struct verdict_list *verdicts)
{
	if (!history->night_count)
		return false;
	int64_t previous = history->nights[history->night_count - 1].night.started_seconds;
	return watch_is_new_week(previous, night->started_seconds) || creep_was_confirmed(verdicts);
}

/* More nights move the date of a step a little: that is not another step. */
#define SAME_STEP_NIGHTS 2

static bool is_news(const struct history_series *series, const struct history_point *point,
		    const struct store_change_point *stored, size_t count)
{
	size_t first = point->index > SAME_STEP_NIGHTS ? point->index - SAME_STEP_NIGHTS : 0;
	for (size_t i = first; i <= point->index + SAME_STEP_NIGHTS && i < series->night_count; i++)
		for (size_t j = 0; j < count; j++)
			if (stored[j].night == series->nights[i].id)
				return false;
	return true;
}

static int store_points(struct context *context, const struct store_night *night,
			const struct history_series *series, char *name,
			const struct history_point *points, size_t count, struct error *err)
{
	struct store_change_point *stored;
	size_t stored_count;
	if (store_list_change_points(context->store, name, 0, &stored, &stored_count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		struct store_change_point point = {.series = name,
						   .night = series->nights[points[i].index].id,
						   .found_in = night->id,
						   .change = points[i].change,
						   .p_value = points[i].p_value};
		if (is_news(series, &points[i], stored, stored_count))
			result = store_add_change_point(context->store, &point, err);
	}
	store_change_points_free(stored, stored_count);
	return result;
}

static int date_series(struct context *context, const struct store_night *night,
		       const struct history *history, const char *name, struct error *err)
{
	auto_history_series struct history_series series = {0};
	auto_free struct history_point *points = NULL;
	auto_free char *copy = text_copy(name);
	size_t count;
	history_series_open(history, name, &series);
	history_points(&series, judge_minimum_step(&context->policy, name), &points, &count);
	return store_points(context, night, &series, copy, points, count, err);
}

int night_step_date(struct context *context, const struct store_night *night, struct error *err)
{
	auto_history struct history history = {0};
	auto_verdicts struct verdict_list verdicts = {0};
	if (strcmp(night->kind, "nightly") != 0)
		return 0;
	if (history_load(context->store, &context->policy, night, &history, err) < 0 ||
	    history_conclusions(context->store, night->id, &verdicts.items, &verdicts.count, err) <
		    0)
		return -1;
	if (!is_due(&history, night, &verdicts))
		return 0;
	log_notice("night %lld: looks through the history for steps", (long long)night->id);
	for (size_t i = 0; i < verdicts.count; i++)
		if (date_series(context, night, &history, verdicts.items[i].series, err) < 0)
			return -1;
	return 0;
}
