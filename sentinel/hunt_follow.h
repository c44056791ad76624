/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_HUNT_FOLLOW_H
#define SENTINEL_HUNT_FOLLOW_H

/* When one step does not explain what a hunt measured: hunts before and after its culprit. */

#include "bisect/culprit.h"
#include "sentinel/chase.h"

enum { HUNT_FOLLOW_LIMIT = 4 }; /* hunts with one origin, itself included */

/* Adds the hunts that follow from ANSWER, unless they are there already or are too many. */
int hunt_follow_queue(const struct chase *chase, const struct hunt_answer *answer,
		      struct error *err);
/* The oldest unfinished hunt of the same origin; id 0 when there is none. */
int hunt_follow_next(struct context *context, const struct store_hunt *hunt,
		     struct store_hunt *ret_next, struct error *err);

#endif
