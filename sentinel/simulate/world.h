/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_WORLD_H
#define SENTINEL_SIMULATE_WORLD_H

/*
 * One history with its slow commits, the machine that boots it, and what is known of both before a
 * hunt begins. Random numbers come from the process's stream, builds' own effects from the seed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/stats/components.h"
#include "sentinel/simulate/lineage.h"
#include "sentinel/simulate/scenario.h"

enum {
	WORLD_SERIES = 2, /* the one in question, and a witness */
	WORLD_STEPS_LIMIT = 2,
};

/* One boot of one series. */
struct world_boot {
	double badness[SCENARIO_ITERATIONS_LIMIT]; /* of its iterations, log scale */
	size_t count;
	double value; /* robust: verdict_boot_value with the known deviation of iterations */
};

/* The last boots of both ends, interleaved in time: arrays of COUNT elements. */
struct world_ends {
	struct world_boot (*boots[2])[WORLD_SERIES]; /* [0] of the good end, [1] of the bad one */
	size_t count;
};

/* The memory of a machine, one a series. */
struct world_machine {
	double drift;
	double echo; /* what an autocorrelated boot has from the one before */
};

struct world {
	const struct scenario_plan *plan;
	uint64_t seed;
	struct commit_graph *graph;
	size_t culprits[WORLD_STEPS_LIMIT];
	size_t culprit_count;
	size_t witness_culprit;
	bool *unbuildable;
	struct world_machine machines[WORLD_SERIES];
	struct components
		history[WORLD_SERIES]; /* what is known of the noise; degrees 0: nothing */
	double deviation_floor;        /* resolution of a boot value, log scale; > 0 */
	struct world_ends ends;
	double flagged_step; /* of the ends' robust means; > 0 */
};

/* The same seed and plan give the same world, to the last digit. Errors of lineage_create. */
int world_create(const struct scenario_plan *plan, enum lineage_shape shape, size_t commits,
		 uint64_t seed, struct world **ret_world, struct error *err);
void world_free(struct world **world);
#define auto_world __attribute__((cleanup(world_free)))

/* One more boot of a build, of all series that the plan has; in the order of time. */
void world_measure(struct world *world, size_t commit, size_t layout,
		   struct world_boot ret_boots[static WORLD_SERIES]);
bool world_is_culprit(const struct world *world, size_t commit);

#endif
