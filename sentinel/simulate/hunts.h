/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_HUNTS_H
#define SENTINEL_SIMULATE_HUNTS_H

/* Many hunts in worlds of one kind, and how often they were right. No printing here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sentinel/base/error.h"
#include "sentinel/simulate/detective.h"
#include "sentinel/simulate/naive.h"
#include "sentinel/simulate/world.h"

/* How the culprit is looked for. */
struct hunts_method {
	bool naive; /* otherwise by Sentinel */
	struct naive_rule rule;
};

/*
 * "sentinel", "a" (one boot of each commit), "bK" (K boots of each, at most 1000) or "c"
 * (sequential test). ERROR_USAGE for anything else.
 */
int hunts_method_parse(const char *name, struct hunts_method *ret_method, struct error *err);

struct hunts_plan {
	const struct scenario_plan *world;
	enum lineage_shape shape;
	size_t commits;
	struct hunts_method method;
	struct detective_limits limits; /* its boots are the sequential test's, too */
	uint64_t seed;
	size_t first_trial; /* a trial is the same whichever others are run */
	size_t trials;
};

/* Shares of the trials and means over them, unless said. */
struct hunts_result {
	double correct; /* named a culprit, or a set that holds it, after the last confirmation */
	double wrong;   /* named another one */
	double not_reproducible;
	double inconclusive;
	double sets;     /* named a set instead of one commit; part of correct and wrong */
	double set_size; /* of what was named: 1 for a commit; mean over those reports */
	double boots_reproduce;
	double boots_search;
	double boots_confirm;
	double builds;
	double claimed;    /* mean probability stated with a single culprit; 0 without any */
	double observed;   /* share of those that are right */
	double more_steps; /* said that there is another step */
	double witnessed;  /* searched on a witness */
	/* After a culprit with more_steps both sides were hunted as well. */
	double others_correct; /* they named another real step */
	double others_wrong;   /* or a commit that is none */
	double cpu_seconds;    /* of one hunt, simulation of its boots included */
	double bound_boots;    /* Fano's, for the search */
};

/* DONE of ALL trials are over; called often. */
typedef void hunts_progress(size_t done, size_t all, void *data);

/* Errors of hunt_next and ERROR_INTERRUPTED; a trial that fails is named. */
int hunts_run(const struct hunts_plan *plan, hunts_progress *progress, void *data,
	      struct hunts_result *ret_result, struct error *err);

#endif
