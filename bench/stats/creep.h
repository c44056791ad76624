/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_STATS_CREEP_H
#define SENTINEL_BENCH_STATS_CREEP_H

/*
 * What a rolling baseline cannot see: a series that gets worse so slowly that every night looks
 * like the last ones. A one-sided cumulative sum (Page, 1954) against a pinned level. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

struct creep_level {
	double location; /* of the pinned kernel, log scale, more is worse */
	double nights;   /* how many night values stand behind it; > 0 */
};

struct creep {
	bool flagged; /* the sum was above 8 */
	double sum;   /* at the end */
	size_t night; /* index of the first night above it, when flagged */
};

/*
 * S = max(0, S + clip(z, +-3) - 0.5) over NIGHTS in order, z = (night - location) / (deviation
 * sqrt(1 + 1/level nights)). DEVIATION of one night value, > 0, from 60 nights or more: then 144
 * series have one wrong flag a month before they are measured again (STATISTICS 4.7); with that of
 * the last 20 nights alone, asked every night anew, they have twelve.
 */
void creep_watch(const double *nights, size_t count, const struct creep_level *level,
		 double deviation, struct creep *ret_creep);

#endif
