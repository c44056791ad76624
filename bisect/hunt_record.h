/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_RECORD_H
#define SENTINEL_BISECT_HUNT_RECORD_H

/* What the events of a hunt say of one series, arranged by commit. Pure. */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/hunt.h"
#include "bisect/search.h"

/* Below this chance one step may not be the whole story: then more is asked of every claim. */
#define HUNT_DOUBTFUL_FIT 0.2

/* One series of the boots, seen so that the bad side is the higher one. */
struct hunt_series {
	size_t index; /* 0: what the hunt is about; 1 …: its witnesses */
	double sign;  /* -1 when the bad side is the lower one */
	double step;  /* expected between the ends; > 0 */
};

/* Arrays have one element a commit unless said. */
struct hunt_record {
	size_t series;
	size_t commits;
	size_t boots; /* with a value of the series, known ones included */
	double *pool; /* all values, build by build, in the order of the entities */
	double *weights;
	struct search_entity *entities;
	size_t *entity_boots; /* by entity: how many values; they follow each other in the pool */
	size_t entity_count;
	bool *booted;
	bool plain_only;  /* a layout of some commit failed: no more of them are asked for */
	bool *untestable; /* itself, or its image under another commit and no boot of its own */
	size_t (*same)[2];
	size_t same_count;
	size_t *image;           /* see search_images */
	double deviation;        /* of one boot value; at least the series' floor */
	double degrees;          /* of freedom behind it */
	double layout_deviation; /* from history; see hunt_record_believe */
	double minimum_step;     /* what separates two levels at the very least */
};

/* The errors of hunt_next: 0 when rule and events are sound. */
int hunt_record_check(const struct hunt_problem *problem, const struct hunt_event *events,
		      size_t count, struct error *err);

/* Of sound events only. */
void hunt_record_create(const struct hunt_problem *problem, const struct hunt_event *events,
			size_t count, const struct hunt_series *series,
			struct hunt_record *ret_record);
void hunt_record_free(struct hunt_record *record);
#define auto_hunt_record __attribute__((cleanup(hunt_record_free)))

/* The same facts for the search; valid as long as both arguments are. */
struct search_evidence hunt_record_evidence(const struct hunt_problem *problem,
					    const struct hunt_record *record);
/*
 * What the record makes believe, when PRIOR is how likely each commit was beforehand (NULL: all
 * alike). Takes into the record's layout deviation what the hunt itself has seen of it; ret_scatter
 * is about the one of history. The errors of search_believe.
 */
int hunt_record_believe(const struct hunt_problem *problem, const double *prior,
			struct hunt_record *record, struct search_scatter *ret_scatter,
			struct search_belief *ret_belief, struct error *err);
/* How many builds of a commit its pairs rotate over: more than the plain one where builds of the
   same source are known to differ by a share of the step that counts. */
size_t hunt_pair_layouts(const struct hunt_problem *problem, const struct hunt_record *record);
const struct hunt_noise *hunt_series_noise(const struct hunt_problem *problem, size_t series);
/* The step that the night saw, but never less than one worth hunting. */
double hunt_expected_step(const struct hunt_rule *rule);
/* Bad level - good level if SUSPECT is where the bad side begins; at least the smallest step. */
double hunt_record_step(const struct hunt_problem *problem, const struct hunt_record *record,
			size_t suspect);

#endif
