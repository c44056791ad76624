/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_STATS_COMPONENTS_H
#define SENTINEL_BENCH_STATS_COMPONENTS_H

/*
 * Where the noise of a series comes from: iterations within a boot, boots, and what groups of boots
 * have in common (the build with its layout, or the night). Log scale throughout. Pure.
 * Levels as in Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
 */

#include <stddef.h>

/* One boot. Boots of one group follow each other. */
struct components_boot {
	size_t group;          /* one build measured in one go */
	const double *badness; /* its iterations; not owned */
	size_t count;          /* of them, at least 1 */
};

/* Standard deviations and the degrees of freedom behind them; 0 degrees: nothing is known, and the
   deviation is 0. */
struct components {
	double iterations; /* of a boot, the median: what "boot" refers to */
	double within;     /* of one iteration about its boot */
	double within_degrees;
	double boot; /* of one boot value about its group */
	double boot_degrees;
	double between; /* of boots beyond their iterations: components_between() */
	double group;   /* of groups beyond their boots: 0 when their boots explain it all */
	double group_degrees;
};

/*
 * Pooled within-boot deviation, winsorised at 3; boot values by Huber with that deviation; pooled
 * within-group deviation of boot values, winsorised likewise; group effect by the moments of
 * DerSimonian and Laird (1986), each group's term limited as in STATISTICS 3.2. COUNT >= 1.
 */
void components_estimate(const struct components_boot *boots, size_t count,
			 struct components *ret_components);

/* The weight of a boot with so many ITERATIONS, 1 for the reference number: (sb^2 + sw^2/m) /
   (sb^2 + sw^2/m_b). */
double components_boot_weight(const struct components *components, double iterations);

/* What of BOOT, the deviation of a boot value of so many ITERATIONS, lies between boots: sqrt(s^2 -
   sw^2/m), and never less than a twentieth of the variance (STATISTICS 3.2). */
double components_between(double boot, double within, double iterations);

#endif
