/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/history.h"

#include <math.h>
#include <string.h>

#include "bench/stats/components.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

enum { NOISE_NIGHTS = 60, NOISE_BLOCK = 10 };

/* The boots of one series out of a list, those without a valid number left out. */
struct picked {
	const struct store_boot **boots;
	size_t count;
};

static void picked_free(struct picked *picked)
{
	free(picked->boots);
}
#define auto_picked auto_cleanup(picked_free)

static struct picked pick(const struct store_boot *boots, size_t count, const char *series)
{
	struct picked picked = {.boots = memory_array(count, sizeof(struct store_boot *))};
	for (size_t i = 0; i < count; i++)
		if (boots[i].count && strcmp(boots[i].series, series) == 0)
			picked.boots[picked.count++] = &boots[i];
	return picked;
}

static const struct store_boot *last_of(const struct picked *picked)
{
	return picked->count ? picked->boots[picked->count - 1] : NULL;
}

/* While one series is put together: its boots, night by night. */
struct assembly {
	const struct history *history;
	struct history_series *series;
	struct picked *nights;
	struct picked pinned;
	struct picked tonight;
};

static void assembly_free(struct assembly *assembly)
{
	for (size_t i = 0; i < assembly->history->night_count; i++)
		picked_free(&assembly->nights[i]);
	free(assembly->nights);
	picked_free(&assembly->pinned);
	picked_free(&assembly->tonight);
}

static void pick_all(struct assembly *assembly)
{
	const struct history *history = assembly->history;
	struct history_series *series = assembly->series;
	assembly->nights = memory_array(history->night_count, sizeof(*assembly->nights));
	for (size_t i = 0; i < history->night_count; i++)
		assembly->nights[i] =
			pick(history->nights[i].boots, history->nights[i].boot_count, series->name);
	assembly->pinned =
		pick(history->baseline_boots, history->baseline_boot_count, series->name);
	assembly->tonight = pick(history->tonight, history->tonight_count, series->name);
	series->newest = last_of(&assembly->tonight);
	for (size_t i = history->night_count; i-- > 0 && !series->newest;)
		series->newest = last_of(&assembly->nights[i]);
	if (!series->newest)
		series->newest = last_of(&assembly->pinned);
}

static bool is_alike(const struct history_series *series, const struct picked *picked)
{
	for (size_t i = 0; i < picked->count; i++)
		if (series_difference(series->newest, picked->boots[i]))
			return false;
	return true;
}

static bool is_acknowledged(const struct history *history, int64_t night, const char *series)
{
	for (size_t i = 0; i < history->acknowledgement_count; i++)
		if (history->acknowledgements[i].night == night &&
		    strcmp(history->acknowledgements[i].series, series) == 0)
			return true;
	return false;
}

/* What was concluded; whether there is a value is known, but not yet which. */
static void fill_night(const struct assembly *assembly, size_t i)
{
	const struct history_night *stored = &assembly->history->nights[i];
	const struct history_series *series = assembly->series;
	struct watch_night *night = &series->nights[i];
	*night = (struct watch_night){
		.id = stored->night.id,
		.seconds = stored->night.started_seconds,
		.head = stored->night.head,
		.alike = is_alike(series, &assembly->nights[i]),
		.value = assembly->nights[i].count ? 0 : NAN,
		.state = VERDICT_NO_DATA,
		.acknowledged = is_acknowledged(assembly->history, stored->night.id, series->name),
	};
	for (size_t j = 0; j < stored->verdict_count; j++) {
		if (strcmp(stored->verdicts[j].series, series->name) != 0)
			continue;
		night->concluded = true;
		night->state = stored->verdicts[j].verdict.state;
		night->event = stored->verdicts[j].event;
		night->change = stored->verdicts[j].verdict.change;
	}
}

/* Boots of the young baseline: none of the pinned ones when a step was accepted after them. */
static bool pinned_is_level(const struct assembly *assembly)
{
	const struct history_series *series = assembly->series;
	size_t restarted = series->watch.restarted;
	return restarted == WATCH_NO_NIGHT ||
	       series->nights[restarted].seconds < assembly->history->baseline.set_seconds;
}

static bool is_young_night(const struct assembly *assembly, size_t i)
{
	const struct history_series *series = assembly->series;
	return series->accepted[i] && i >= series->watch.window_from &&
	       series->nights[i].seconds >= assembly->history->baseline.set_seconds;
}

struct boot_sum {
	struct components_boot *boots;
	double **badness; /* theirs */
	size_t count;
};

static void boot_sum_free(struct boot_sum *sum)
{
	for (size_t i = 0; i < sum->count; i++)
		free(sum->badness[i]);
	free(sum->badness);
	free(sum->boots);
}

static void add_group(struct boot_sum *sum, const struct picked *picked, size_t group)
{
	for (size_t i = 0; i < picked->count; i++) {
		size_t last = sum->count++;
		sum->boots = memory_resize(sum->boots, sum->count, sizeof(*sum->boots));
		sum->badness = memory_resize(sum->badness, sum->count, sizeof(*sum->badness));
		sum->badness[last] = series_badness(picked->boots[i]);
		sum->boots[last] = (struct components_boot){group, sum->badness[last],
							    picked->boots[i]->count};
	}
}

static const struct store_noise *find_noise(const struct assembly *assembly)
{
	const struct history *history = assembly->history;
	const struct store_boot *newest = assembly->series->newest;
	const char *identity = history->characterisation.identity;
	if (!identity || !newest || !newest->identity || strcmp(newest->identity, identity) != 0)
		return NULL;
	for (size_t i = 0; i < history->noise_count; i++)
		if (strcmp(history->noise[i].series, assembly->series->name) == 0)
			return &history->noise[i];
	return NULL;
}

/* From here on at most so many nights of the present level are accepted. */
static size_t newest_accepted(const struct history_series *series, size_t limit)
{
	size_t i = series->night_count;
	for (size_t found = 0; i > 0 && found < limit; i--)
		found += series->accepted[i - 1];
	return i;
}

/*
 * What nights have in common beyond their boots, pooled over blocks that are too short to creep
 * far. What a few nights have in common is too little to call it known.
 */
static void estimate_layout(const struct boot_sum *sum, const size_t *starts, size_t nights,
			    struct verdict_noise *noise)
{
	double squares = 0;
	for (size_t i = 0; i + NOISE_BLOCK <= nights; i += NOISE_BLOCK) {
		struct components components;
		size_t start = starts[i];
		components_estimate(sum->boots + start, starts[i + NOISE_BLOCK] - start,
				    &components);
		squares += components.group_degrees * components.group * components.group;
		noise->layout_degrees += components.group_degrees;
	}
	if (noise->layout_degrees > 0)
		noise->layout_deviation = sqrt(squares / noise->layout_degrees);
}

static void prefer_known(const struct store_noise *known, struct verdict_noise *noise)
{
	if (known->components.boot_degrees > noise->degrees) {
		noise->deviation = known->components.boot;
		noise->degrees = known->components.boot_degrees;
	}
	if (known->components.group_degrees > noise->layout_degrees) {
		noise->layout_deviation = known->components.group;
		noise->layout_degrees = known->components.group_degrees;
	}
}

/*
 * The noise that the nights of the present level show, with the pinned boots while they are few; or
 * what was measured by "characterise" where more degrees stand behind that. More nights than the
 * window holds: what builds differ by takes many to know, and does not change with the level.
 */
static void estimate_noise(struct assembly *assembly)
{
	struct history_series *series = assembly->series;
	auto_cleanup(boot_sum_free) struct boot_sum sum = {0};
	auto_free size_t *starts = memory_array(series->night_count + 1, sizeof(*starts));
	size_t nights = 0;
	struct components components = {0};
	bool young = series->watch.count < VERDICT_NIGHTS_LEAST;
	for (size_t i = newest_accepted(series, NOISE_NIGHTS); i < series->night_count; i++) {
		if (!series->accepted[i])
			continue;
		add_group(&sum, &assembly->nights[i], i + 1);
		starts[++nights] = sum.count;
	}
	if (!young)
		estimate_layout(&sum, starts, nights, &series->noise);
	/* Later on a step of tonight would count as noise. */
	if (young) {
		add_group(&sum, &assembly->pinned, 0);
		add_group(&sum, &assembly->tonight, series->night_count + 1);
	}
	if (sum.count)
		components_estimate(sum.boots, sum.count, &components);
	series->within_deviation = components.within;
	series->noise.deviation = components.boot;
	series->noise.degrees = components.boot_degrees;
	const struct store_noise *known = find_noise(assembly);
	if (known)
		prefer_known(known, &series->noise);
}

static void raise_floor(struct history_series *series, const struct picked *picked)
{
	for (size_t i = 0; i < picked->count; i++)
		series->deviation_floor =
			fmax(series->deviation_floor, series_floor(picked->boots[i], 1));
}

static size_t add_values(const struct history_series *series, const struct picked *picked,
			 double *values)
{
	for (size_t i = 0; i < picked->count; i++)
		values[i] = series_boot_value(picked->boots[i], series->within_deviation);
	return picked->count;
}

static double night_value(const struct history_series *series, const struct picked *picked)
{
	auto_free double *values = memory_array(picked->count, sizeof(*values));
	size_t count = add_values(series, picked, values);
	double deviation = fmax(series->noise.deviation, series->deviation_floor);
	return count ? verdict_night_value(values, count, deviation) : NAN;
}

static void fill_values(struct assembly *assembly)
{
	struct history_series *series = assembly->series;
	size_t boots = assembly->pinned.count;
	raise_floor(series, &assembly->tonight);
	raise_floor(series, &assembly->pinned);
	for (size_t i = 0; i < series->night_count; i++) {
		boots += assembly->nights[i].count;
		if (series->accepted[i] && i >= series->watch.window_from)
			raise_floor(series, &assembly->nights[i]);
	}
	for (size_t i = 0; i < series->night_count; i++)
		series->nights[i].value = night_value(series, &assembly->nights[i]);
	series->tonight = memory_array(assembly->tonight.count, sizeof(double));
	series->tonight_count = add_values(series, &assembly->tonight, series->tonight);
	series->tonight_value = night_value(series, &assembly->tonight);
	series->pinned = memory_array(assembly->pinned.count, sizeof(double));
	series->pinned_count = add_values(series, &assembly->pinned, series->pinned);
	series->young = memory_array(boots, sizeof(double));
	if (pinned_is_level(assembly))
		series->young_count = add_values(series, &assembly->pinned, series->young);
	for (size_t i = 0; i < series->night_count; i++)
		if (is_young_night(assembly, i))
			series->young_count += add_values(series, &assembly->nights[i],
							  series->young + series->young_count);
}

void history_series_open(const struct history *history, const char *name,
			 struct history_series *ret_series)
{
	*ret_series = (struct history_series){
		.name = name,
		.nights = memory_array(history->night_count, sizeof(*ret_series->nights)),
		.accepted = memory_array(history->night_count, sizeof(*ret_series->accepted)),
		.night_count = history->night_count,
		.deviation_floor = series_floor(NULL, 0),
	};
	auto_cleanup(assembly_free) struct assembly assembly = {
		history, ret_series, NULL, {0}, {0}};
	pick_all(&assembly);
	for (size_t i = 0; i < history->night_count; i++)
		fill_night(&assembly, i);
	watch_scan(ret_series->nights, ret_series->night_count,
		   (size_t)history->policy->night.window, ret_series->accepted, &ret_series->watch);
	estimate_noise(&assembly);
	fill_values(&assembly);
}

void history_series_free(struct history_series *series)
{
	free(series->nights);
	free(series->accepted);
	free(series->tonight);
	free(series->pinned);
	free(series->young);
	*series = (struct history_series){0};
}
