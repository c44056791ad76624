/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/stats/power.h"

#include <math.h>

#include "sentinel/base/distribution.h"

#define WANTED 0.95
#define HISTORY_DEGREES_LIMIT 40.0
/* The study's cells need so many retest pairs for each boot of a night. */
#define PAIRS_A_BOOT 2.6
enum { BOOTS_LIMIT = 1000, LEAST = 2, HALVINGS = 60 };

/*
 * Chance is told by the error that a night estimates, the minimum effect by no estimate at all.
 * Both ask the same change, and where one of them is hard to pass the other one hardly counts.
 */
static double stage_power(double step, double error, double degrees, double alpha, double minimum)
{
	if (error <= 0)
		return step > minimum;
	double quantile = distribution_t_quantile_upper(alpha, degrees);
	double beyond_chance = distribution_noncentral_t_upper(quantile, degrees, step / error);
	double beyond_minimum = distribution_normal_upper((minimum - step) / error);
	return fmin(beyond_chance, beyond_minimum);
}

double power_of_step(const struct power_plan *plan, const struct power_noise *noise, double step)
{
	double boot = noise->deviation * noise->deviation;
	double night = sqrt(noise->night * noise->night + boot / plan->boots);
	double error1 = night * sqrt(1 + 1 / plan->nights);
	double error2 =
		sqrt(2 * (boot / plan->pairs + noise->layout * noise->layout / plan->layouts));
	double degrees2 =
		fmin(HISTORY_DEGREES_LIMIT, noise->degrees) + fmax(0, plan->pairs - plan->layouts);
	return stage_power(step, error1, plan->nights - 1, plan->stage1_alpha,
			   plan->minimum_effect) *
	       stage_power(step, error2, degrees2, plan->stage2_alpha, plan->minimum_effect / 2);
}

double power_smallest_step(const struct power_plan *plan, const struct power_noise *noise)
{
	double low = 0;
	double high = plan->minimum_effect + noise->deviation + noise->night + noise->layout;
	for (int i = 0; i < HALVINGS && power_of_step(plan, noise, high) < WANTED; i++)
		high *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;
		if (power_of_step(plan, noise, middle) < WANTED)
			low = middle;
		else
			high = middle;
	}
	return high;
}

size_t power_boots_for(const struct power_plan *plan, const struct power_noise *noise, double step,
		       size_t *ret_pairs)
{
	for (size_t boots = LEAST; boots <= BOOTS_LIMIT; boots++) {
		struct power_plan other = *plan;
		other.boots = (double)boots;
		other.pairs = fmax(LEAST, ceil(PAIRS_A_BOOT * (double)boots));
		if (power_of_step(&other, noise, step) < WANTED)
			continue;
		*ret_pairs = (size_t)other.pairs;
		return boots;
	}
	return 0;
}
