/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_CREEP_H
#define SENTINEL_SIMULATE_CREEP_H

/*
 * How soon the cumulative sum against a pinned level sees a series that gets worse little by
 * little, and how often it is wrong when nothing moves (STATISTICS 4.7). Before any retest.
 */

#include <stddef.h>
#include <stdint.h>

struct simulate_creep_options {
	double total;         /* how much worse in the end, in deviations of a night value */
	size_t creep_nights;  /* evenly over so many nights; 1: a step */
	size_t pinned_nights; /* behind the pinned level and the deviation; at least the window */
	size_t window;        /* of the rolling baseline */
	size_t horizon;       /* nights that are watched */
	size_t trials;
	uint64_t seed;
};

struct simulate_creep_result {
	double flagged;         /* share of the trials, within the horizon */
	double mean_night;      /* of these: the first flag, counted from 1; 0: none */
	double per_1000_nights; /* flags of 144 series, each watched until its first flag */
	double per_30_nights;
	double rolling; /* share that the rolling baseline flags, p < 0.0001, in the same nights */
	double seconds; /* of CPU time */
};

/* A creep of 3 deviations over 60 nights, 60 pinned nights, a window of 20, 90 nights watched. */
void simulate_creep_defaults(struct simulate_creep_options *ret_options);
/* Seeds sentinel/base/random.h. Night values are t_5. */
void simulate_creep(const struct simulate_creep_options *options,
		    struct simulate_creep_result *ret_result);

#endif
