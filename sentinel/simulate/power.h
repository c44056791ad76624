/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_POWER_H
#define SENTINEL_SIMULATE_POWER_H

/* How often both stages of the nightly verdict see a step that is there (STATISTICS 4). */

#include <stdint.h>

#include "sentinel/simulate/night_history.h"

struct simulate_power_options {
	enum night_world world;
	double step_percent;
	double noise_percent; /* standard deviation of an iteration; 0: the table's in turn */
	double layout_share;  /* deviation between builds over that of an iteration */
	struct night_plan plan;
	size_t trials;
	uint64_t seed;
};

struct simulate_power_result {
	double stage1;    /* share of the trials in which stage 1 flags a regression */
	double two_stage; /* and in which stage 2 confirms it */
	double seconds;   /* of CPU time */
};

/* The cells of STATISTICS 4, with the boots and pairs that the study found to be enough. */
struct simulate_power_cell {
	double step_percent;
	double noise_percent;
	size_t boots;
	size_t pairs;
};
enum { SIMULATE_POWER_CELLS = 8 };
extern const struct simulate_power_cell simulate_power_cells[SIMULATE_POWER_CELLS];

/* CELL in the plain world with the stage 2 alpha of the study, 0.001. There is no layout effect,
   but the rule does not know that. */
void simulate_power_defaults(const struct simulate_power_cell *cell,
			     struct simulate_power_options *ret_options);
/* Seeds sentinel/base/random.h. Every trial has a window of nights of its own. Tells its progress
   when it takes long. */
void simulate_power(const struct simulate_power_options *options,
		    struct simulate_power_result *ret_result);

#endif
