/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/history.h"
#include "sentinel/judge.h"

/* Back from the log scale. */
static double in_unit(const struct history_series *series, double value)
{
	return exp(series->newest->higher_is_better ? -value : value);
}

static bool in_window(const struct history_series *series, size_t i)
{
	return series->accepted[i] && i >= series->watch.window_from;
}

static void find_points(const struct context *context, const struct history_series *series,
			struct history_point **ret_points, size_t *ret_count)
{
	double minimum = judge_minimum_step(&context->policy, series->name);
	history_points(series, minimum, ret_points, ret_count);
}

static void print_night(const struct history_series *series, size_t i)
{
	const struct watch_night *night = &series->nights[i];
	char date[21];
	clock_utc_text(night->seconds, date);
	printf("  night %-5lld %s %s ", (long long)night->id, date, short_id(night->head));
	if (isfinite(night->value))
		printf("%12.6g", in_unit(series, night->value));
	else
		printf("%12s", "no number");
	printf(" %s  %s%s%s%s%s\n", series->newest->unit,
	       night->concluded ? verdict_state_name(night->state) : "no verdict",
	       night->event == WATCH_NONE ? "" : ", ",
	       night->event == WATCH_NONE ? "" : watch_event_name(night->event),
	       night->acknowledged ? ", acknowledged" : "",
	       in_window(series, i) ? "" : ", not compared with");
}

static void print_state(const struct history_series *series)
{
	const struct watch *watch = &series->watch;
	if (watch->open_since != WATCH_NO_NIGHT)
		printf("  open regression %+.2f%% since night %lld\n",
		       stats_percent(watch->open_change),
		       (long long)series->nights[watch->open_since].id);
	if (watch->creep_since != WATCH_NO_NIGHT)
		printf("  open creep since night %lld\n",
		       (long long)series->nights[watch->creep_since].id);
}

static void print_points(const struct history_series *series, const struct history_point *points,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct watch_night *night = &series->nights[points[i].index];
		char date[21];
		clock_utc_text(night->seconds, date);
		printf("  step %+.2f%% from night %lld (%s) on, p %.2g\n",
		       stats_percent(points[i].change), (long long)night->id, date,
		       points[i].p_value);
	}
}

static json_t *night_json(const struct history_series *series, size_t i)
{
	const struct watch_night *night = &series->nights[i];
	return json_pack(
		"{s:I, s:I, s:s, s:o, s:s?, s:s, s:b, s:b}", "night", (json_int_t)night->id,
		"seconds", (json_int_t)night->seconds, "head", night->head, "value",
		isfinite(night->value) ? json_real(in_unit(series, night->value)) : json_null(),
		"verdict", night->concluded ? verdict_state_name(night->state) : NULL, "event",
		watch_event_name(night->event), "acknowledged", night->acknowledged, "in_window",
		in_window(series, i));
}

static json_t *series_json(const struct history_series *series, const struct history_point *points,
			   size_t count)
{
	json_t *nights = json_array();
	json_t *steps = json_array();
	for (size_t i = 0; i < series->night_count; i++)
		json_array_append_new(nights, night_json(series, i));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(steps,
				      json_pack("{s:I, s:f, s:f}", "night",
						(json_int_t)series->nights[points[i].index].id,
						"change_percent", stats_percent(points[i].change),
						"p_value", points[i].p_value));
	size_t open = series->watch.open_since;
	return json_pack("{s:s, s:s, s:o, s:o, s:I}", "series", series->name, "unit",
			 series->newest->unit, "nights", nights, "change_points", steps,
			 "open_since",
			 (json_int_t)(open == WATCH_NO_NIGHT ? 0 : series->nights[open].id));
}

static void show(const struct context *context, const struct history *history, const char *name,
		 bool nights, json_t *array)
{
	auto_history_series struct history_series series = {0};
	auto_free struct history_point *points = NULL;
	size_t count;
	history_series_open(history, name, &series);
	/* Judged, and never a number: there is nothing to show. */
	if (!series.newest)
		return;
	find_points(context, &series, &points, &count);
	if (array) {
		json_array_append_new(array, series_json(&series, points, count));
		return;
	}
	printf("%s: %zu night%s, %zu in the window\n", name, series.night_count,
	       series.night_count == 1 ? "" : "s", series.watch.count);
	for (size_t i = 0; nights && i < series.night_count; i++)
		print_night(&series, i);
	print_state(&series);
	print_points(&series, points, count);
}

int cmd_history(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		struct error *err)
{
	(void)ret_exit_code;
	const char *only = arguments->operand_count ? arguments->operands[0] : NULL;
	auto_history struct history history = {0};
	if (context_open_store(context, err) < 0 ||
	    history_load(context->store, &context->policy, NULL, &history, err) < 0)
		return -1;
	size_t count;
	auto_free const char **names = history_names(&history, &count);
	auto_json json_t *array = context->json ? json_array() : NULL;
	bool found = false;
	for (size_t i = 0; i < count; i++) {
		if (only && strcmp(names[i], only) != 0)
			continue;
		found = true;
		show(context, &history, names[i], only != NULL, array);
	}
	if (only && !found) {
		auto_free char *safe = text_one_line(only, 200);
		return error_set(err, ERROR_USAGE,
				 "series '%s' was never judged; \"sentinel history\" prints the "
				 "names",
				 safe);
	}
	if (array)
		context_print_json(take(array));
	else if (!found)
		puts("no night is finished yet");
	return 0;
}
