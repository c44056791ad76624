/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_H
#define SENTINEL_BISECT_HUNT_H

/*
 * One bisection as a list of events that is replayed: from what has happened follows, always in the
 * same way, what to do next. Nothing else is remembered, so a hunt survives any interruption. Pure.
 *
 * Stages: reproduce both ends in fresh interleaved boots; search; confirm the culprit against its
 * parents in fresh interleaved boots.
 *
 * The caller stores every answer to a request as one event, in order, before it asks again. A
 * request is answered by HUNT_MEASURED or HUNT_UNTESTABLE, or by HUNT_SAME_IMAGE when that is news:
 * a commit that is known to have another's image and is asked for all the same must be booted.
 */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/commit_graph.h"
#include "bisect/culprit.h"
#include "sentinel/base/error.h"

enum hunt_stage { HUNT_REPRODUCE, HUNT_SEARCH, HUNT_CONFIRM };

enum hunt_event_kind {
	HUNT_MEASURED,   /* one boot of "commit" gave "value" */
	HUNT_UNTESTABLE, /* "commit" does not build, boot or finish */
	HUNT_SAME_IMAGE, /* "commit" builds to the same image as "other": no boot was needed */
};

struct hunt_event {
	enum hunt_event_kind kind;
	enum hunt_stage stage; /* the stage that had asked for it */
	size_t commit;
	size_t other;
	double value; /* boot value, log scale, more is worse; finite */
};

/* Keep it as it was when the hunt began: with another rule the same events mean something else. */
struct hunt_rule {
	double stop_probability;   /* search until one commit has it */
	double report_probability; /* name a culprit only above it */
	size_t maximum_boots;
	double flagged_step;    /* log scale: what the night saw; > 0 */
	double deviation;       /* of one boot value, from history; 0: none known */
	double degrees;         /* of freedom behind it; counts as 40 at most */
	double deviation_floor; /* resolution of the metric, log scale; > 0 */
	double minimum_step;    /* smallest step worth hunting, log scale */
};

struct hunt_problem {
	const struct commit_graph *graph;
	const bool *excluded; /* by commit: cannot change the image */
	struct hunt_rule rule;
};

enum hunt_action { HUNT_MEASURE, HUNT_FINISHED };

struct hunt_step {
	enum hunt_action action;
	enum hunt_stage stage;     /* to be stored with the event that answers */
	size_t commit;             /* HUNT_MEASURE: build and boot this one, once */
	struct hunt_answer answer; /* HUNT_FINISHED; free with hunt_answer_free */
	/* What is believed now, for people; 0 before the search. */
	size_t likeliest;
	double likeliest_probability;
	size_t boots; /* events with a value so far */
};

/*
 * ERROR_STATE when events name commits outside the graph or contradict the graph, ERROR_USAGE when
 * the rule is without a positive flagged_step or deviation_floor.
 */
int hunt_next(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
	      struct hunt_step *ret_step, struct error *err);
const char *hunt_stage_name(enum hunt_stage stage);

#endif
