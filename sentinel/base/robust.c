/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define HUBER_K 1.5
#define HUBER_STEPS_LIMIT 1000
#define HUBER_NEWTON_STEPS 20
#define HUBER_TOLERANCE 1e-12 /* of the scale */

/* The standard deviation of a normal distribution over its median absolute deviation. */
#define NORMAL_CONSISTENCY 1.4826

static double sum_of_squares(const double *values, size_t count)
{
	double mean = stats_mean(values, count);
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

double stats_mean(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

double stats_deviation(const double *values, size_t count)
{
	return count < 2 ? 0 : sqrt(sum_of_squares(values, count) / (double)(count - 1));
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;
	return (a > b) - (a < b);
}

double stats_median(const double *values, size_t count)
{
	auto_free double *sorted = memory_array(count, sizeof(*sorted));
	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	double upper = sorted[count / 2];
	return count % 2 ? upper : (sorted[count / 2 - 1] + upper) / 2;
}

double stats_median_deviation(const double *values, size_t count)
{
	auto_free double *distances = memory_array(count, sizeof(*distances));
	double median = stats_median(values, count);
	for (size_t i = 0; i < count; i++)
		distances[i] = fabs(values[i] - median);
	return NORMAL_CONSISTENCY * stats_median(distances, count);
}

static double weighted_mean(const double *values, const double *weights, size_t count)
{
	double sum = 0;
	double total = 0;
	for (size_t i = 0; i < count; i++) {
		sum += weights[i] * values[i];
		total += weights[i];
	}
	return sum / total;
}

/*
 * One step towards the root of the psi equation, which is unique but for ties: Newton's while it
 * converges, and in the end the slow one that cannot fail. The weights are 1 when WEIGHTS is NULL.
 */
static double huber_step(const double *values, const double *weights, size_t count, double scale,
			 double location, bool newton)
{
	double pull = 0;
	double inner = 0; /* weight of the values that are not clipped */
	double total = 0;
	for (size_t i = 0; i < count; i++) {
		double weight = weights ? weights[i] : 1;
		double limit = HUBER_K * scale / sqrt(weight);
		double residual = values[i] - location;
		pull += weight * fmax(-limit, fmin(limit, residual));
		inner += fabs(residual) < limit ? weight : 0;
		total += weight;
	}
	return pull / (newton && inner > 0 ? inner : total);
}

double stats_huber_from(const double *values, const double *weights, size_t count, double scale,
			double start)
{
	if (count < 3 || isinf(scale))
		return weights ? weighted_mean(values, weights, count) : stats_mean(values, count);
	double location = start;
	for (int step = 0; step < HUBER_STEPS_LIMIT && scale > 0; step++) {
		double move = huber_step(values, weights, count, scale, location,
					 step < HUBER_NEWTON_STEPS);
		location += move;
		if (fabs(move) <= HUBER_TOLERANCE * scale)
			break;
	}
	return location;
}

double stats_huber_weighted(const double *values, const double *weights, size_t count, double scale)
{
	double start = count < 3 ? 0 : stats_median(values, count);
	return stats_huber_from(values, weights, count, scale, start);
}

double stats_huber(const double *values, size_t count, double scale)
{
	return stats_huber_weighted(values, NULL, count, scale);
}

void pooled_add(struct pooled *pooled, const double *values, size_t count)
{
	if (count < 2)
		return;
	pooled->sum_of_squares += sum_of_squares(values, count);
	pooled->degrees += count - 1;
}

double pooled_deviation(const struct pooled *pooled)
{
	return pooled->degrees ? sqrt(pooled->sum_of_squares / (double)pooled->degrees) : 0;
}

double stats_badness(double value, bool higher_is_better)
{
	return higher_is_better ? -log(value) : log(value);
}

double stats_percent(double badness_difference)
{
	return 100 * expm1(badness_difference);
}
