/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_DISTRIBUTION_H
#define SENTINEL_BASE_DISTRIBUTION_H

/* Distribution functions, from the R project's libRmath. */

/* P(T > t) for Student's t with DEGREES > 0. */
double distribution_t_upper(double t, double degrees);
/* The t that is exceeded with probability ALPHA. */
double distribution_t_quantile_upper(double alpha, double degrees);

/* P(Z > z) for the standard normal distribution. */
double distribution_normal_upper(double z);

/* P(X > x) for chi-square with DEGREES > 0. */
double distribution_chi_square_upper(double x, double degrees);

/* P(T > t) for the noncentral t with NONCENTRALITY; beyond 37 of it to two digits only. */
double distribution_noncentral_t_upper(double t, double degrees, double noncentrality);

#endif
