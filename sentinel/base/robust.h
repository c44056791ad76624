/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_ROBUST_H
#define SENTINEL_BASE_ROBUST_H

/* Location and spread of small samples. All pure; COUNT is at least 1 unless said. */

#include <stdbool.h>
#include <stddef.h>

double stats_mean(const double *values, size_t count);
/* Sample standard deviation (n - 1); 0 for one value. */
double stats_deviation(const double *values, size_t count);
double stats_median(const double *values, size_t count);
/* 1.4826 x the median absolute deviation: estimates a normal sample's standard deviation. */
double stats_median_deviation(const double *values, size_t count);
/*
 * Huber's M-estimate of location, k = 1.5, with known scale SCALE (Huber 1964); the mean when
 * count < 3, the median when SCALE is 0.
 */
double stats_huber(const double *values, size_t count, double scale);
/* The same for values of unlike precision: SCALE is that of a value with WEIGHT 1, a value with
   weight w has scale / sqrt(w). All weights are above 0; NULL: all 1. */
double stats_huber_weighted(const double *values, const double *weights, size_t count,
			    double scale);
/* The same without a search for where to begin: START is a robust guess near the location. */
double stats_huber_from(const double *values, const double *weights, size_t count, double scale,
			double start);

/* Several groups share one standard deviation: sqrt(SUM (n_i - 1) s_i^2 / SUM (n_i - 1)). */
struct pooled {
	double sum_of_squares;
	size_t degrees;
};
void pooled_add(struct pooled *pooled, const double *values, size_t count);
/* 0 when there are no degrees of freedom. */
double pooled_deviation(const struct pooled *pooled);

/* The log scale of DESIGN: +ln(y) when lower is better, -ln(y) when higher is: more is worse. */
double stats_badness(double value, bool higher_is_better);
/* 100 (e^r - 1). */
double stats_percent(double badness_difference);

#endif
