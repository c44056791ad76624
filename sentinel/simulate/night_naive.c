/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/night_naive.h"

#include <math.h>

#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"

bool naive_deviations(const double *last, const double *tonight, size_t count, double deviations)
{
	return stats_mean(tonight, count) - stats_mean(last, count) >
	       deviations * stats_deviation(last, count);
}

double naive_welch_p(const double *last, const double *tonight, size_t count)
{
	double a = pow(stats_deviation(last, count), 2) / (double)count;
	double b = pow(stats_deviation(tonight, count), 2) / (double)count;
	double difference = stats_mean(tonight, count) - stats_mean(last, count);
	if (a + b <= 0)
		return difference > 0 ? 0 : 1;
	/* Welch (1947) and Satterthwaite (1946). */
	double degrees = (a + b) * (a + b) * (double)(count - 1) / (a * a + b * b);
	return distribution_t_upper(difference / sqrt(a + b), degrees);
}
