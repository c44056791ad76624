/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/night_world.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/random.h"

#define BOOT_DEGREES 5.0
#define OUTLIER_SHARE 0.01
#define OUTLIER_DEVIATIONS 20.0
#define NIGHT_CORRELATION 0.5
#define LEAST_DEVIATION 0.0005 /* as in sentinel/judge.c */

/* Baseline std% of the complete report in the README of github.com/aubreyli/schedtests. */
static const double noise_percent[] = {
	1.00, 0.89, 12.09, 0.41, 0.56,  0.39,  2.18, 1.25, 3.86, 0.71,  0.47,  0.33,
	5.14, 6.48, 15.35, 8.99, 26.66, 27.27, 0.64, 0.50, 7.40, 30.16, 12.22, 6.30,
};

struct traits {
	const char *name;
	double own_noise;   /* of every series instead of the table's; < 0: the table's */
	double night_share; /* of the noise of an iteration */
	double mode_distance;
	double resolution; /* over the value */
	double outlier_share;
	double iteration_degrees; /* INFINITY: normal */
	size_t boots;
	size_t iterations;
};

static const struct traits worlds[] = {
	[NIGHT_WORLD_PLAIN] = {"plain", -1, 0, 0, 0, OUTLIER_SHARE, INFINITY, 3, 5},
	[NIGHT_WORLD_AUTOCORRELATED] = {"autocorrelated", -1, M_SQRT1_2, 0, 0, OUTLIER_SHARE,
					INFINITY, 3, 5},
	[NIGHT_WORLD_BIMODAL] = {"bimodal", -1, 0, 0.03, 0, OUTLIER_SHARE, INFINITY, 3, 5},
	[NIGHT_WORLD_QUANTISED] = {"quantised", -1, 0, 0, 0.01, OUTLIER_SHARE, INFINITY, 3, 5},
	[NIGHT_WORLD_ZERO] = {"zero", 0, 0, 0, 0, 0, INFINITY, 3, 5},
	[NIGHT_WORLD_HEAVY] = {"heavy", 0.3, 0, 0, 0, 0, 2, 3, 5},
	[NIGHT_WORLD_SPARSE] = {"sparse", -1, 0, 0, 0, OUTLIER_SHARE, INFINITY, 1, 3},
};

void night_series_init(enum night_world world, double noise, double layout_share,
		       struct night_series *ret_series)
{
	double night = worlds[world].night_share * noise;
	*ret_series = (struct night_series){
		.world = world,
		.within = noise * M_SQRT1_2,
		.boot = noise * M_SQRT1_2,
		.layout = noise * layout_share,
		.night = night,
		.shared = night * random_normal(),
	};
}

void night_series_advance(struct night_series *series)
{
	double fresh = sqrt(1 - NIGHT_CORRELATION * NIGHT_CORRELATION);
	series->shared =
		NIGHT_CORRELATION * series->shared + fresh * series->night * random_normal();
}

double night_series_layout(const struct night_series *series)
{
	return series->layout > 0 ? series->layout * random_normal() : 0;
}

static double iteration_noise(const struct traits *traits)
{
	if (isfinite(traits->iteration_degrees))
		return random_t(traits->iteration_degrees);
	return random_uniform() < traits->outlier_share ? OUTLIER_DEVIATIONS * random_normal()
							: random_normal();
}

/* Printed with so many digits, and never as nothing. */
static double quantised(double badness, double resolution)
{
	return log(resolution * fmax(1, round(exp(badness) / resolution)));
}

void night_series_boot(const struct night_series *series, double location, size_t iterations,
		       double *ret_badness)
{
	const struct traits *traits = &worlds[series->world];
	double unit = sqrt((BOOT_DEGREES - 2) / BOOT_DEGREES);
	double boot = location + series->shared + series->boot * unit * random_t(BOOT_DEGREES);
	if (traits->mode_distance > 0)
		boot += random_uniform() < 0.5 ? 0 : traits->mode_distance;
	for (size_t i = 0; i < iterations; i++) {
		double badness = boot + series->within * iteration_noise(traits);
		ret_badness[i] =
			traits->resolution > 0 ? quantised(badness, traits->resolution) : badness;
	}
}

double night_world_noise(enum night_world world, size_t index)
{
	return worlds[world].own_noise < 0
		       ? noise_percent[index % array_length(noise_percent)] / 100
		       : worlds[world].own_noise;
}

double night_world_deviation_floor(enum night_world world)
{
	return fmax(LEAST_DEVIATION, worlds[world].resolution / sqrt(12));
}

size_t night_world_boots(enum night_world world)
{
	return worlds[world].boots;
}

size_t night_world_iterations(enum night_world world)
{
	return worlds[world].iterations;
}

const char *night_world_name(enum night_world world)
{
	return worlds[world].name;
}

enum night_world night_world_find(const char *name)
{
	size_t world = 0;
	while (world < NIGHT_WORLD_COUNT && strcmp(worlds[world].name, name) != 0)
		world++;
	return (enum night_world)world;
}
