/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/scenario.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"

#define BETWEEN 0.01 /* one percent: what all lengths of the table are multiples of */
#define ITERATIONS 5
#define END_BOOTS_LEAST 5
#define END_Z_SQUARED 16.0

const struct scenario scenarios[] = {
	{.name = "S0", .summary = "normal noise", .noise = {.between = 1, .within = 1}, .steps = 1},
	{.name = "S1",
	 .summary = "1 % of the iterations are gross outliers",
	 .noise = {.between = 1, .within = 1, .iteration_outliers = 0.01},
	 .steps = 1},
	{.name = "S2",
	 .summary = "heavy-tailed boots (t with 4 degrees), 2 % of them gross outliers",
	 .noise = {.between = 1, .within = 1, .boot_degrees = 4, .boot_outliers = 0.02},
	 .steps = 1},
	{.name = "S3",
	 .summary = "each build shifts the value by a quarter of the step",
	 .noise = {.between = 1, .within = 1},
	 .layout_share = 0.25,
	 .steps = 1},
	{.name = "S4",
	 .summary = "the machine drifts by 0.1 of a boot's deviation a boot",
	 .noise = {.between = 1, .within = 1, .drift = 0.1},
	 .steps = 1},
	{.name = "S5",
	 .summary = "10 % of the commits do not build, in runs of three",
	 .noise = {.between = 1, .within = 1},
	 .unbuildable_share = 0.1,
	 .steps = 1},
	{.name = "S6",
	 .summary = "iterations three times as noisy as boots",
	 .noise = {.between = 1, .within = 3},
	 .steps = 1},
	{.name = "S7",
	 .summary = "each build shifts the value by a tenth of the step",
	 .noise = {.between = 1, .within = 1},
	 .layout_share = 0.1,
	 .steps = 1},
	{.name = "S8",
	 .summary = "the machine drifts by 0.03 of a boot's deviation a boot",
	 .noise = {.between = 1, .within = 1, .drift = 0.03},
	 .steps = 1},
	{.name = "N0",
	 .summary = "nothing changed; the ends looked different by chance (z > 3)",
	 .noise = {.between = 1, .within = 1, .iteration_outliers = 0.01}},
	{.name = "two-steps",
	 .summary = "two commits that each add the whole step",
	 .noise = {.between = 1, .within = 1, .iteration_outliers = 0.01},
	 .steps = 2},
	{.name = "bimodal",
	 .summary = "half of the boots lie 3 % higher",
	 .noise = {.between = 1, .within = 1, .mode_gap = 0.03},
	 .steps = 1,
	 .measured_history = true},
	{.name = "ar1",
	 .summary = "a boot resembles the boot before it (correlation 0.5)",
	 .noise = {.between = 1, .within = 1, .autocorrelation = 0.5},
	 .steps = 1,
	 .measured_history = true},
	{.name = "quantised",
	 .summary = "100 ms, told in whole milliseconds",
	 .noise = {.between = 1, .within = 1, .resolution = 0.01},
	 .steps = 1,
	 .measured_history = true},
	{.name = "zero",
	 .summary = "no noise at all",
	 .noise = {.between = 0, .within = 0},
	 .steps = 1,
	 .measured_history = true},
	{.name = "heavy",
	 .summary = "noise of 30 %, iterations as wild as t with 2 degrees",
	 /* 30 % = sqrt(21.2^2 + 21.2^2) */
	 .noise = {.between = 21.2, .within = 21.2, .iteration_degrees = 2},
	 .steps = 1,
	 .measured_history = true},
	{.name = "sparse",
	 .summary = "three iterations, one boot at each end, no history",
	 .noise = {.between = 1, .within = 1},
	 .iterations = 3,
	 .end_boots = 1,
	 .steps = 1,
	 .without_history = true},
};
const size_t scenario_count = array_length(scenarios);

const struct scenario *scenario_find(const char *name)
{
	for (size_t i = 0; i < scenario_count; i++)
		if (strcmp(scenarios[i].name, name) == 0)
			return &scenarios[i];
	return NULL;
}

static void scale(struct scenario_noise *noise, const struct scenario_values *values)
{
	noise->between *= BETWEEN;
	noise->within *= BETWEEN;
	if (!isnan(values->between_percent))
		noise->between = values->between_percent / 100;
	if (!isnan(values->within_percent))
		noise->within = values->within_percent / 100;
	noise->drift *= noise->between;
}

void scenario_plan(const struct scenario *scenario, const struct scenario *noise_of, double snr,
		   const struct scenario_values *values, struct scenario_plan *ret_plan)
{
	const struct scenario *noisy = noise_of ? noise_of : scenario;
	struct scenario_plan plan = {
		.scenario = scenario,
		.noise = noisy->noise,
		.iterations = scenario->iterations ? scenario->iterations : ITERATIONS,
	};
	struct scenario_noise *noise = &plan.noise;
	scale(noise, values);
	/* Without noise there is no unit but the percent. */
	double unit = noise->between > 0 ? noise->between : BETWEEN;
	plan.step = snr * unit;
	if (!isnan(values->step_percent))
		plan.step = values->step_percent / 100;
	plan.snr = plan.step / unit;
	noise->layout = scenario->layout_share * plan.step;
	if (!isnan(values->layout_percent))
		noise->layout = values->layout_percent / 100;
	plan.deviation = sqrt(noise->between * noise->between +
			      noise->within * noise->within / (double)plan.iterations +
			      noise->mode_gap * noise->mode_gap / 4);
	plan.distance = plan.step / plan.deviation;
	/* The subtraction keeps a quotient that is whole but for rounding. */
	double boots = ceil(2 * END_Z_SQUARED / (plan.distance * plan.distance) - 1e-9);
	plan.end_boots = boots > END_BOOTS_LEAST ? (size_t)boots : END_BOOTS_LEAST;
	if (scenario->end_boots)
		plan.end_boots = scenario->end_boots;
	*ret_plan = plan;
}
