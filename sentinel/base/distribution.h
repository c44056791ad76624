/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_DISTRIBUTION_H
#define SENTINEL_BASE_DISTRIBUTION_H

/* Distribution functions, from the R project's libRmath (the only user of Rmath.h). */

/* P(T > t) for Student's t with DEGREES > 0. */
double distribution_t_upper(double t, double degrees);
/* The t that is exceeded with probability ALPHA. */
double distribution_t_quantile_upper(double alpha, double degrees);

#endif
