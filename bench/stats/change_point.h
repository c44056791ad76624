/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_STATS_CHANGE_POINT_H
#define SENTINEL_BENCH_STATS_CHANGE_POINT_H

/*
 * When did a series change? An offline pass over its history. Pure.
 * E-divisive means (Matteson and James, JASA 2014) with Student's t in place of permutations, in
 * windows, with weak points that are merged afterwards, as Hunter does it (arXiv 2301.03034).
 */

#include <stddef.h>

struct change_point {
	size_t index;   /* the first value of the new level */
	double change;  /* new mean - old mean, between the neighbouring change points */
	double p_value; /* two-sided, of the means on both sides */
};

/*
 * Points with p < 0.001 and a change of at least MINIMUM_CHANGE, in order. VALUES in order of time.
 * Each side of a point holds 3 values or more. The caller frees *ret_points.
 */
void change_point_find(const double *values, size_t count, double minimum_change,
		       struct change_point **ret_points, size_t *ret_count);

#endif
