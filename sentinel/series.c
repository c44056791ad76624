/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/series.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

/* Below this nothing repeats, whatever a program prints: half a tenth of a percent. */
#define LEAST_DEVIATION 0.0005

double series_floor(const struct store_boot *boots, size_t count)
{
	double floor = LEAST_DEVIATION;
	for (size_t i = 0; i < count; i++) {
		if (!boots[i].count)
			continue;
		/* A value rounded to a step of width w has a deviation of w / sqrt(12) from that
		 * alone. */
		double mean = stats_mean(boots[i].values, boots[i].count);
		floor = fmax(floor, boots[i].resolution / mean / sqrt(12));
	}
	return floor;
}

double *series_badness(const struct store_boot *boot)
{
	double *badness = memory_array(boot->count, sizeof(*badness));
	for (size_t i = 0; i < boot->count; i++)
		badness[i] = stats_badness(boot->values[i], boot->higher_is_better);
	return badness;
}

double series_boot_value(const struct store_boot *boot, double within)
{
	auto_free double *badness = series_badness(boot);
	return verdict_boot_value(badness, boot->count, within);
}

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
	series->values = memory_resize(series->values, series->count + 1, sizeof(double));
	series->means = memory_resize(series->means, series->count + 1, sizeof(double));
	series->values[series->count] = series_boot_value(boot, 0);
	series->means[series->count] = stats_mean(boot->values, boot->count);
	series->deviation_floor = fmax(series->deviation_floor, series_floor(boot, 1));
	series->count++;
	if (boot->layout < VERDICT_LAYOUTS_LIMIT)
		series->layout[boot->layout] = true;
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

size_t series_layouts(const struct series_boots *series)
{
	size_t count = 0;
	for (size_t i = 0; i < VERDICT_LAYOUTS_LIMIT; i++)
		count += series->layout[i];
	return count;
}

const struct series_boots *series_find(const struct series_boots *series, size_t count,
				       const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(series[i].series, name) == 0)
			return &series[i];
	return NULL;
}

static size_t case_length(const char *series)
{
	const char *metric = strrchr(series, '/');
	return metric ? (size_t)(metric - series) : strlen(series);
}

bool series_same_case(const char *a, const char *b)
{
	size_t length = case_length(a);
	return length == case_length(b) && strncmp(a, b, length) == 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const char *series_difference(const struct store_boot *a, const struct store_boot *b)
{
	if (!same_text(a->identity, b->identity))
		return "machine, configuration or compiler";
	if (strcmp(a->series, b->series) != 0)
		return NULL;
	if (!same_text(a->command, b->command))
		return "the benchmark's parameters";
	return same_text(a->program, b->program) ? NULL : "the benchmark's program";
}

/* The first boot of the same series, which may be the boot itself. */
static const struct store_boot *first_of_series(const struct store_boot *boots,
						const struct store_boot *boot)
{
	while (strcmp(boots->series, boot->series) != 0)
		boots++;
	return boots;
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

int series_check_alike(const struct store_boot *boots, size_t count, const char *what,
		       struct error *err)
{
	for (size_t i = 1; i < count; i++) {
		const struct store_boot *others[] = {&boots[0], first_of_series(boots, &boots[i])};
		for (size_t j = 0; j < array_length(others); j++) {
			const char *difference = series_difference(others[j], &boots[i]);
			if (difference)
				return refuse(what, difference, others[j], &boots[i], err);
		}
	}
	return 0;
}

int series_check_sides(const struct store_boot *a, size_t a_count, const struct store_boot *b,
		       size_t b_count, const char *what, struct error *err)
{
	/* A list that borrows both sides. */
	auto_free struct store_boot *both = memory_array(a_count + b_count, sizeof(*both));
	if (a_count)
		memcpy(both, a, a_count * sizeof(*both));
	if (b_count)
		memcpy(both + a_count, b, b_count * sizeof(*both));
	return series_check_alike(both, a_count + b_count, what, err);
}
