/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_STATS_POWER_H
#define SENTINEL_BENCH_STATS_POWER_H

/* What a night can see, and what it would take to see more (STATISTICS 4). Pure. */

#include <stddef.h>

struct power_plan {
	double boots;   /* of every night */
	double pairs;   /* of the retest */
	double layouts; /* among them */
	double nights;  /* in the rolling baseline */
	double stage1_alpha;
	double stage2_alpha;
	double minimum_effect; /* log scale */
};

struct power_noise {
	double deviation; /* of one boot value, log scale */
	double night;     /* between nights beyond their boots: layout and drift */
	double layout;    /* between builds of the same source */
	double degrees;   /* behind the deviation */
};

/*
 * The chance that a step of this size (log scale, > 0) passes both stages, which rest on different
 * boots. In each it must exceed chance (noncentral t; stage 1 with nights - 1 degrees) and the
 * minimum effect (normal); the less likely of the two counts.
 */
double power_of_step(const struct power_plan *plan, const struct power_noise *noise, double step);

/* The smallest step that is seen with 95 % power. */
double power_smallest_step(const struct power_plan *plan, const struct power_noise *noise);

/*
 * The fewest boots a night, with 2.6 times as many pairs, that see STEP with 95 % power; the
 * rest of the plan is kept. 0 when no number up to 1000 does: the noise between nights is in the
 * way.
 */
size_t power_boots_for(const struct power_plan *plan, const struct power_noise *noise, double step,
		       size_t *ret_pairs);

#endif
