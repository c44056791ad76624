/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_NIGHT_WORLD_H
#define SENTINEL_SIMULATE_NIGHT_WORLD_H

/*
 * Benchmarks that nobody changes, as the nightly verdict meets them (STATISTICS 4). All on the log
 * scale, where more is worse. Random numbers come from sentinel/base/random.h: seed it first.
 */

#include <stddef.h>

enum { NIGHT_WORLD_SERIES = 144 }; /* 4 benchmarks, 12 cases, 3 metrics */

enum night_world {
	NIGHT_WORLD_PLAIN,          /* boots t_5, 1 % of the iterations are gross outliers */
	NIGHT_WORLD_AUTOCORRELATED, /* and what a night's boots share is AR(1), 0.5 */
	NIGHT_WORLD_BIMODAL,        /* and each boot is in one of two modes, 3 % apart */
	NIGHT_WORLD_QUANTISED,      /* and 100 ms values have a resolution of 1 ms */
	NIGHT_WORLD_ZERO,           /* every value is the same */
	NIGHT_WORLD_HEAVY,          /* iterations t_2 with the scale of 30 % noise */
	NIGHT_WORLD_SPARSE,         /* plain, but a night is 1 boot of 3 iterations */
	NIGHT_WORLD_COUNT,
};

/* Standard deviations of one series. */
struct night_series {
	enum night_world world;
	double within; /* of an iteration about its boot */
	double boot;   /* of a boot about its build */
	double layout; /* of a build about its source */
	double night;  /* of what all boots of a night share */
	double shared; /* tonight's */
};

/* NOISE: deviation of an iteration, boot included, evenly from both. LAYOUT_SHARE: of that. */
void night_series_init(enum night_world world, double noise, double layout_share,
		       struct night_series *ret_series);
/* The next night begins. */
void night_series_advance(struct night_series *series);
double night_series_layout(const struct night_series *series);
/* One boot of a build at LOCATION. */
void night_series_boot(const struct night_series *series, double location, size_t iterations,
		       double *ret_badness);

/* The noise of series INDEX: those of the schedtests table in turn, unless the world has its own.
 */
double night_world_noise(enum night_world world, size_t index);
/* What the printed resolution alone gives a boot value, and at least what the product assumes. */
double night_world_deviation_floor(enum night_world world);
/* Boots a night and iterations a boot that the world is made for. */
size_t night_world_boots(enum night_world world);
size_t night_world_iterations(enum night_world world);
const char *night_world_name(enum night_world world);
/* NIGHT_WORLD_COUNT when there is none. */
enum night_world night_world_find(const char *name);

#endif
