/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_H
#define SENTINEL_BISECT_HUNT_H

/*
 * One bisection as a list of events that is replayed: from what has happened follows, always in the
 * same way, what to do next. Nothing else is remembered, so a hunt survives any interruption. Pure.
 *
 * Stages: reproduce both ends in fresh interleaved boots; search; confirm the culprit against its
 * parents in fresh interleaved boots. What was measured before the hunt comes first, as known.
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

enum {
	HUNT_WITNESS_LIMIT = 3,
	HUNT_SERIES_LIMIT = 1 + HUNT_WITNESS_LIMIT,
	HUNT_LAYOUTS = 8, /* builds of one commit that a hunt may ask for */
};

enum hunt_stage {
	HUNT_REPRODUCE,
	HUNT_SEARCH,
	HUNT_CONFIRM,
	HUNT_KNOWN, /* measured before the hunt began: evidence, but neither proof nor spent */
};

enum hunt_event_kind {
	HUNT_MEASURED,   /* one boot of "commit" gave "values" */
	HUNT_UNTESTABLE, /* "commit" does not build, boot or finish */
	HUNT_SAME_IMAGE, /* "commit" builds to the same image as "other": no boot was needed */
};

struct hunt_event {
	enum hunt_event_kind kind;
	enum hunt_stage stage; /* the stage that had asked for it */
	size_t commit;
	size_t layout; /* which build of the commit: 0 is the plain one, others are perturbed */
	size_t other;
	/*
	 * Boot values on the log scale, more is worse: [0] of the series that the hunt is about,
	 * then of its witnesses. [0] is finite; a witness that has no value has NAN.
	 */
	double values[HUNT_SERIES_LIMIT];
	/* What the boot weighs: the variance of a boot with the plan's iterations over that of this
	   one (STATISTICS 3.1). 1 when it ran the plan. */
	double weight;
};

/* The noise of one series. */
struct hunt_noise {
	double deviation;        /* of one boot value, from history; 0: none known */
	double degrees;          /* of freedom behind it; counts as 40 at most */
	double deviation_floor;  /* resolution of the metric, log scale; > 0 */
	double layout_deviation; /* between builds of the same source, from history; 0: none.
				    It counts as 8 degrees beside what the hunt sees itself */
};

/* Keep it as it was when the hunt began: with another rule the same events mean something else. */
struct hunt_rule {
	double stop_probability;   /* search until one commit has it */
	double report_probability; /* name a culprit only above it */
	size_t maximum_boots;
	double flagged_step; /* log scale: what the night saw; > 0 */
	double minimum_step; /* smallest step worth hunting, log scale */
	size_t layouts; /* builds of one commit that may be asked for; 0 or 1: the plain one only,
			   HUNT_LAYOUTS at most */
	struct hunt_noise noise;
};

/* What things cost, in seconds; both 0: everything costs the same. */
struct hunt_price {
	double build_seconds;
	double boot_seconds; /* with its iterations */
};

struct hunt_problem {
	const struct commit_graph *graph;
	const bool *excluded; /* by commit: cannot change the image */
	const double *prior;  /* by commit: how likely beforehand, any scale; NULL: all alike */
	const bool *built;    /* by commit: its plain build is at hand; NULL: none */
	struct hunt_price price;
	struct hunt_rule rule;
	/*
	 * Other series of the same boots that may show the step more clearly. One that separates
	 * the ends better is searched on; the culprit is always confirmed on the series itself.
	 */
	const struct hunt_noise *witnesses;
	size_t witness_count;
};

enum hunt_action { HUNT_MEASURE, HUNT_FINISHED };

struct hunt_step {
	enum hunt_action action;
	enum hunt_stage stage; /* to be stored with the event that answers */
	size_t commit;         /* HUNT_MEASURE: build and boot this one */
	size_t layout;
	size_t repeat; /* HUNT_MEASURE: so often, before it pays to ask again; at least 1. Asking
			  earlier is allowed */
	struct hunt_answer answer; /* HUNT_FINISHED; free with hunt_answer_free */
	/* What is believed now, for people; 0 before the search. */
	size_t likeliest;
	double likeliest_probability;
	size_t boots; /* spent: events with a value but the known ones */
};

/*
 * ERROR_STATE when events name commits outside the graph or contradict the graph, ERROR_USAGE when
 * the rule is without a positive flagged_step or deviation_floor, or there are too many witnesses.
 */
int hunt_next(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
	      struct hunt_step *ret_step, struct error *err);
const char *hunt_stage_name(enum hunt_stage stage);

#endif
