/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/stats/components.h"

#include <math.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define WINSOR_DEVIATIONS 3.0
#define WINSOR_SQUARES 9.0
#define LEAST_BETWEEN_SHARE 0.05
#define WINSOR_TOLERANCE 1e-9 /* of the deviation */
enum { WINSOR_PASSES = 20 };

/* Samples that share a deviation but not a location: [start[i], start[i + 1]) is one of them. */
struct samples {
	const double *values;
	const size_t *start;
	size_t count;
};

static size_t sample_size(const struct samples *samples, size_t index)
{
	return samples->start[index + 1] - samples->start[index];
}

static double sample_location(const struct samples *samples, size_t index, double deviation)
{
	return stats_huber(samples->values + samples->start[index], sample_size(samples, index),
			   deviation);
}

/* LOCATIONS: those of the last pass, near which the new ones are. */
static double winsorised_squares(const struct samples *samples, double deviation, double *locations)
{
	double sum = 0;
	for (size_t i = 0; i < samples->count; i++) {
		const double *values = samples->values + samples->start[i];
		size_t size = sample_size(samples, i);
		locations[i] = stats_huber_from(values, NULL, size, deviation, locations[i]);
		for (size_t j = 0; j < size; j++) {
			double residual =
				fmin(WINSOR_DEVIATIONS * deviation, fabs(values[j] - locations[i]));
			sum += residual * residual;
		}
	}
	return sum;
}

/* From the plain pooled deviation downwards, until clipping changes nothing more. */
static double pooled_winsorised(const struct samples *samples, double *ret_degrees)
{
	struct pooled pooled = {0};
	auto_free double *locations = memory_array(samples->count, sizeof(*locations));
	for (size_t i = 0; i < samples->count; i++) {
		const double *values = samples->values + samples->start[i];
		pooled_add(&pooled, values, sample_size(samples, i));
		locations[i] = stats_median(values, sample_size(samples, i));
	}
	double deviation = pooled_deviation(&pooled);
	double last = INFINITY;
	*ret_degrees = (double)pooled.degrees;
	for (int pass = 0; pass < WINSOR_PASSES && deviation > 0; pass++) {
		if (last - deviation <= WINSOR_TOLERANCE * deviation)
			break;
		last = deviation;
		deviation = sqrt(winsorised_squares(samples, deviation, locations) / *ret_degrees);
	}
	return deviation;
}

static double median_iterations(const struct components_boot *boots, size_t count)
{
	auto_free double *iterations = memory_array(count, sizeof(*iterations));
	for (size_t i = 0; i < count; i++)
		iterations[i] = (double)boots[i].count;
	return stats_median(iterations, count);
}

static void estimate_within(const struct components_boot *boots, size_t count,
			    struct components *components)
{
	auto_free size_t *start = memory_array(count + 1, sizeof(*start));
	for (size_t i = 0; i < count; i++)
		start[i + 1] = start[i] + boots[i].count;
	auto_free double *values = memory_array(start[count], sizeof(*values));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < boots[i].count; j++)
			values[start[i] + j] = boots[i].badness[j];
	struct samples samples = {values, start, count};
	components->iterations = median_iterations(boots, count);
	components->within = pooled_winsorised(&samples, &components->within_degrees);
}

static void estimate_boot(const struct samples *groups, struct components *components)
{
	components->boot = pooled_winsorised(groups, &components->boot_degrees);
	components->between =
		components_between(components->boot, components->within, components->iterations);
}

struct moments {
	double boots;
	double boot_squares; /* of each group's number */
	double sum;          /* of locations, a group's as often as it has boots */
};

static struct moments group_moments(const struct samples *groups, double deviation)
{
	struct moments moments = {0};
	for (size_t i = 0; i < groups->count; i++) {
		double size = (double)sample_size(groups, i);
		moments.boots += size;
		moments.boot_squares += size * size;
		moments.sum += size * sample_location(groups, i, deviation);
	}
	return moments;
}

/*
 * Each term is limited to nine of the squares that it is expected to be; hence the passes. Nothing
 * is divided by DEVIATION: boots that repeat exactly may still differ from build to build.
 */
static double group_variance(const struct samples *groups, double deviation)
{
	struct moments moments = group_moments(groups, deviation);
	double boot = deviation * deviation;
	double degrees = (double)groups->count - 1;
	double scale = moments.boots - moments.boot_squares / moments.boots;
	double variance = INFINITY;
	for (int pass = 0; pass < WINSOR_PASSES; pass++) {
		double squares = 0;
		for (size_t i = 0; i < groups->count; i++) {
			double size = (double)sample_size(groups, i);
			double residual =
				sample_location(groups, i, deviation) - moments.sum / moments.boots;
			squares += fmin(WINSOR_SQUARES * (boot + variance * size),
					residual * residual * size);
		}
		variance = fmax(0, (squares - degrees * boot) / scale);
	}
	return variance;
}

static void estimate_group(const struct samples *groups, struct components *components)
{
	if (groups->count < 2 || components->boot_degrees <= 0)
		return;
	components->group_degrees = (double)groups->count - 1;
	components->group = sqrt(group_variance(groups, components->boot));
}

void components_estimate(const struct components_boot *boots, size_t count,
			 struct components *ret_components)
{
	struct components components = {0};
	estimate_within(boots, count, &components);
	auto_free double *values = memory_array(count, sizeof(*values));
	auto_free size_t *start = memory_array(count + 1, sizeof(*start));
	size_t groups = 0;
	for (size_t i = 0; i < count; i++) {
		values[i] = stats_huber(boots[i].badness, boots[i].count, components.within);
		if (i > 0 && boots[i].group != boots[i - 1].group)
			start[++groups] = i;
	}
	start[++groups] = count;
	struct samples samples = {values, start, groups};
	estimate_boot(&samples, &components);
	estimate_group(&samples, &components);
	*ret_components = components;
}

double components_between(double boot, double within, double iterations)
{
	double whole = boot * boot;
	return sqrt(fmax(LEAST_BETWEEN_SHARE * whole, whole - within * within / iterations));
}

double components_boot_weight(const struct components *components, double iterations)
{
	double between = components->between * components->between;
	double within = components->within * components->within;
	double here = between + within / iterations;
	return here > 0 ? (between + within / components->iterations) / here : 1;
}
