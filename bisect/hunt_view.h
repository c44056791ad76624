/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_VIEW_H
#define SENTINEL_BISECT_HUNT_VIEW_H

/* One look at all events of a hunt: what they say, and what is to be believed. Pure. */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/hunt.h"
#include "bisect/hunt_confirmation.h"
#include "bisect/hunt_record.h"
#include "bisect/hunt_reproduction.h"
#include "bisect/search.h"

/* The commits that nothing tells apart and that hold most of the probability. */
struct hunt_suspicion {
	bool *member;
	size_t first;
	size_t size;
	double probability;
	size_t witness; /* who is booted for them */
	bool *rival;    /* against whom */
};

/* What one series of the boots says. */
struct hunt_opinion {
	struct hunt_record record;
	struct search_belief belief;
	struct hunt_suspicion suspicion;
	double one_step_chance; /* search_one_step_chance, with the layout deviation of history */
};

struct hunt_view {
	const struct hunt_problem *problem;
	const struct hunt_event *events;
	size_t count;
	size_t commits;
	size_t spent; /* boots of the hunt itself */
	struct hunt_confirmation confirmation;
	struct hunt_reproduction reproduction;
	struct hunt_opinion
		own; /* of the series that the hunt is about; its record is always there */
	/* Filled by hunt_view_look. */
	bool searching;
	size_t series;               /* 0, or 1 + the witness that is searched on */
	struct hunt_opinion witness; /* when series is not 0 */
	double *prior;               /* of "own" when there is a witness */
};

/* Of sound events. */
void hunt_view_create(const struct hunt_problem *problem, const struct hunt_event *events,
		      size_t count, struct hunt_view *ret_view);
void hunt_view_free(struct hunt_view *view);
#define auto_hunt_view __attribute__((cleanup(hunt_view_free)))

/* When the ends have been reproduced: what is believed now. ERROR_STATE when no commit can have
   made the difference. */
int hunt_view_look(struct hunt_view *view, struct error *err);

/* The opinion that the next boot of the search is chosen by. */
const struct hunt_opinion *hunt_view_guide(const struct hunt_view *view);

#endif
