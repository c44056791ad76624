/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_CHASE_H
#define SENTINEL_CHASE_H

/* One hunt while it is worked on: what is stored of it, joined with the commits between its ends.
   Private to the conductor's files about hunts. */

#include "sentinel/context.h"
#include "sentinel/store.h"

struct chase {
	struct context *context;
	struct store_hunt *hunt; /* not owned */
	struct commit_range range;
	struct commit_graph *graph;
	bool *excluded;
	double *prior; /* NULL: all alike */
	bool *built;
	char *search_plan;
	char *confirm_plan;
	struct store_hunt_event *stored;
	struct hunt_event *events; /* the same ones, as the detective wants them */
	size_t event_count;
	struct store_boot reference; /* the first boot: others must be alike; empty before it */
	size_t maximum_boots;
	double seconds_before; /* spent on trials by earlier runs of this program */
	double seconds_at_start;
	bool out_of_time;
	char *stop_reason; /* why the hunt cannot go on, or NULL; owned */
};

/* Finds the commits and the plans. ERROR_USAGE when there is no range between the ends any more, or
   a series is no longer measured. What was measured so far is there as well. */
int chase_open(struct chase *chase, const char *const *confirm_series, size_t confirm_count,
	       struct error *err);
/* All the rest; lets a hunt without events take over what was known before it began. */
int chase_load(struct chase *chase, struct error *err);
void chase_close(struct chase *chase);
#define auto_chase __attribute__((cleanup(chase_close)))

/* What to do next. */
int chase_next(const struct chase *chase, struct hunt_step *ret_step, struct error *err);
/* Stores the event durably and appends it; its reason is taken over. */
int chase_add_event(struct chase *chase, struct store_hunt_event *event, struct error *err);
/* Whether [hunt] maximum-time is used up; builds of an earlier run of this program do not count. */
bool chase_is_out_of_time(const struct chase *chase);

#endif
