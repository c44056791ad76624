/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_NIGHT_H
#define SENTINEL_SIMULATE_NIGHT_H

/* How often the nightly verdict is wrong when nothing changes, beside what people do instead. */

#include <stdint.h>

#include "sentinel/simulate/night_history.h"

struct simulate_night_options {
	enum night_world world;
	double layout_share; /* deviation between builds over that of an iteration */
	struct night_plan plan;
	size_t series;
	size_t nights; /* that are judged; the first window of nights is not */
	uint64_t seed;
};

enum simulate_night_rule {
	SIMULATE_NIGHT_TWO_DEVIATIONS, /* worse than last night by 2 of its standard deviations */
	SIMULATE_NIGHT_THREE_DEVIATIONS,
	SIMULATE_NIGHT_WELCH_05, /* Welch's test on the iterations of two nights, p < 0.05 */
	SIMULATE_NIGHT_WELCH_001,
	SIMULATE_NIGHT_STAGE1,      /* worse, before the retest */
	SIMULATE_NIGHT_TWO_STAGE,   /* wrongly called a regression */
	SIMULATE_NIGHT_IMPROVEMENT, /* wrongly called an improvement */
	SIMULATE_NIGHT_RULES,
};

struct simulate_night_result {
	struct simulate_night_rate {
		double per_1000_nights;
		double per_30_nights;
		double nights_with; /* share of the nights with one or more */
	} rates[SIMULATE_NIGHT_RULES];
	double retests_a_night; /* series that stage 1 flags, either way */
	double nights_with_retest;
	size_t nights;
	double seconds; /* of CPU time */
};

/* The world's plan, 144 series, 1000 nights, layout share 0.2. */
void simulate_night_defaults(enum night_world world, struct simulate_night_options *ret_options);
/* Seeds sentinel/base/random.h. Tells its progress when it takes long. */
void simulate_night(const struct simulate_night_options *options,
		    struct simulate_night_result *ret_result);

const char *simulate_night_rule_name(enum simulate_night_rule rule);

#endif
