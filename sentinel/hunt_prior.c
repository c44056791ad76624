/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/hunt_prior.h"

#include <math.h>

#define LEAST_SHARE 0.1

void hunt_prior_limit(double *weights, const bool *excluded, size_t count)
{
	double least = 0;
	/* Raising the light ones raises the mean by a tenth of that at most, so this settles. */
	for (int pass = 0; pass < 40; pass++) {
		double sum = 0;
		size_t candidates = 0;
		for (size_t i = 1; i < count; i++)
			if (!excluded[i]) {
				sum += fmax(weights[i], least);
				candidates++;
			}
		least = candidates ? LEAST_SHARE * sum / (double)candidates : 0;
	}
	for (size_t i = 1; i < count; i++)
		if (!excluded[i])
			weights[i] = fmax(weights[i], least);
}
