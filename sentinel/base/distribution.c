/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/distribution.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

double distribution_t_upper(double t, double degrees)
{
	return pt(t, degrees, 0, 0);
}

double distribution_t_quantile_upper(double alpha, double degrees)
{
	return qt(alpha, degrees, 0, 0);
}

double distribution_normal_upper(double z)
{
	return pnorm(z, 0, 1, 0, 0);
}

double distribution_chi_square_upper(double x, double degrees)
{
	return pchisq(x, degrees, 0, 0);
}

double distribution_noncentral_t_upper(double t, double degrees, double noncentrality)
{
	return pnt(t, degrees, noncentrality, 0, 0);
}
