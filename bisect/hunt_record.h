/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_RECORD_H
#define SENTINEL_BISECT_HUNT_RECORD_H

/* What the events of a hunt say, arranged by commit. Pure. */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/hunt.h"
#include "bisect/search.h"

/* All arrays have one element a commit, but "same". */
struct hunt_record {
	size_t commits;
	size_t boots;
	double *pool; /* all values, commit by commit */
	const double **values;
	size_t *value_counts;
	bool *untestable; /* itself, or its image under another commit and no boot of its own */
	size_t (*same)[2];
	size_t same_count;
	size_t *image;    /* see search_images */
	double deviation; /* of one boot value; at least the rule's floor */
	double degrees;   /* of freedom behind it */
};

/* The errors of hunt_next: 0 when rule and events are sound. */
int hunt_record_check(const struct hunt_problem *problem, const struct hunt_event *events,
		      size_t count, struct error *err);

/* Of sound events only. */
void hunt_record_create(const struct hunt_problem *problem, const struct hunt_event *events,
			size_t count, struct hunt_record *ret_record);
void hunt_record_free(struct hunt_record *record);
#define auto_hunt_record __attribute__((cleanup(hunt_record_free)))

/* The same facts for the search; valid as long as both arguments are. */
struct search_evidence hunt_record_evidence(const struct hunt_problem *problem,
					    const struct hunt_record *record);
/* The step that the night saw, but never less than one worth hunting. */
double hunt_expected_step(const struct hunt_rule *rule);
/* What separates two levels at the very least. */
double hunt_smallest_step(const struct hunt_rule *rule);
/* Bad level - good level if SUSPECT is where the bad side begins; at least the smallest step. */
double hunt_record_step(const struct hunt_problem *problem, const struct hunt_record *record,
			size_t suspect);

#endif
