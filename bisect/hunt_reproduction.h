/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_REPRODUCTION_H
#define SENTINEL_BISECT_HUNT_REPRODUCTION_H

/* The first stage of a hunt: do the ends differ when they are booted again, side by side? Pure. */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/hunt.h"
#include "bisect/hunt_record.h"

enum hunt_reproduction_state {
	REPRODUCTION_OPEN,
	REPRODUCTION_DONE,      /* the ends differ; any later stage has begun only after this */
	REPRODUCTION_EQUAL,     /* they do not */
	REPRODUCTION_UNDECIDED, /* still open after more pairs than a real step takes */
};

struct hunt_reproduction {
	enum hunt_reproduction_state state;
	size_t next;         /* REPRODUCTION_OPEN: boot this end (A B B A) … */
	size_t layout;       /* … in this build; both ends of a pair have the same */
	double *differences; /* bad - good, one a pair */
	size_t pair_count;
};

/* RECORD holds all COUNT events. */
void hunt_reproduction_replay(const struct hunt_problem *problem, const struct hunt_record *record,
			      const struct hunt_event *events, size_t count,
			      struct hunt_reproduction *ret_reproduction);
void hunt_reproduction_free(struct hunt_reproduction *reproduction);

#endif
