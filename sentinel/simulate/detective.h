/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_DETECTIVE_H
#define SENTINEL_SIMULATE_DETECTIVE_H

/* Sentinel's own hunt (bisect/hunt.h) in a simulated world: what it asks for is booted there. */

#include "bisect/hunt.h"
#include "sentinel/simulate/world.h"

/* What the hunt may do. */
struct detective_limits {
	size_t boots;   /* all together */
	size_t layouts; /* builds of one commit, HUNT_LAYOUTS at most */
};

struct detective_case {
	struct hunt_event *events; /* owned */
	size_t count;
	size_t capacity;
	struct hunt_answer answer;
};

/* Errors of hunt_next; close the case also after one. */
int detective_hunt(struct world *world, const struct detective_limits *limits,
		   struct detective_case *ret_case, struct error *err);
/*
 * The hunt for another step between GOOD and BAD, commits of the world, with all that was measured
 * before. Ends that are one commit, or do not differ as far as is known, are
 * HUNT_NOT_REPRODUCIBLE. Free the answer with hunt_answer_free; it names commits of the world.
 */
int detective_follow(struct world *world, const struct detective_case *first, size_t good,
		     size_t bad, const struct detective_limits *limits,
		     struct hunt_answer *ret_answer, struct error *err);
void detective_close(struct detective_case *closed);
#define auto_detective_case __attribute__((cleanup(detective_close)))

#endif
