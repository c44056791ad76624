/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_NIGHT_NAIVE_H
#define SENTINEL_SIMULATE_NIGHT_NAIVE_H

/* What people do with two nights' iterations; more is worse. For comparison only. */

#include <stdbool.h>
#include <stddef.h>

/* Worse than the night before by more than so many of its standard deviations? */
bool naive_deviations(const double *last, const double *tonight, size_t count, double deviations);

/*
 * One-sided p of Welch's t-test that tonight is worse, each iteration taken for an independent
 * value. COUNT >= 2; 1 when neither side scatters and tonight is not worse, else 0.
 */
double naive_welch_p(const double *last, const double *tonight, size_t count);

#endif
