/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_NAIVE_H
#define SENTINEL_SIMULATE_NAIVE_H

/*
 * How people bisect without statistics, to compare with: "git bisect run", where a script boots
 * the commit that halves best and says good or bad. A commit that does not build is skipped.
 */

#include "bisect/culprit.h"
#include "sentinel/simulate/world.h"

enum naive_judge {
	NAIVE_MEAN, /* the mean of all iterations against the middle of both ends' means */
	NAIVE_SPRT, /* Wald's sequential test of both ends' levels (1945), 1 % wrong together */
};

struct naive_rule {
	enum naive_judge judge;
	size_t boots; /* NAIVE_MEAN: of each commit; NAIVE_SPRT: of all together at most */
};

/*
 * HUNT_CULPRIT, or HUNT_SET when what is left does not build, or HUNT_CANNOT_TELL when the boots
 * are spent. Free with hunt_answer_free. No probability: nobody states one.
 */
void naive_bisect(struct world *world, const struct naive_rule *rule,
		  struct hunt_answer *ret_answer);

#endif
