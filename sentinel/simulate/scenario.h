/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_SCENARIO_H
#define SENTINEL_SIMULATE_SCENARIO_H

/*
 * The worlds of STATISTICS section 2 and harder ones, as a table. Pure.
 * A boot is level + build + wander + boot noise; its iterations scatter about that. Log scale.
 */

#include <stdbool.h>
#include <stddef.h>

enum { SCENARIO_ITERATIONS_LIMIT = 64 };

struct scenario_noise {
	double between;       /* standard deviation of a boot */
	double within;        /* of an iteration */
	double boot_degrees;  /* of Student's t that boots follow, scaled to "between"; 0: normal */
	double boot_outliers; /* share of boots that scatter ten times as much instead */
	double iteration_degrees;  /* of the t of iterations, its middle half as wide as a normal
				      one's; 0: normal */
	double iteration_outliers; /* share of iterations that scatter twenty times as much instead
				    */
	double layout;             /* of a build */
	double drift;              /* of the step of a random walk, one a boot */
	double autocorrelation;    /* of a boot with the boot before it */
	double mode_gap;           /* half of the boots lie so much higher */
	double resolution;         /* of an iteration, as a share of the value */
};

/* Lengths in units of "between" but for mode_gap and resolution. */
struct scenario {
	const char *name;
	const char *summary;
	struct scenario_noise noise;
	double layout_share;      /* layout deviation as a share of the step */
	double unbuildable_share; /* of the commits, in runs of three */
	size_t iterations;        /* a boot; 0: as many as usual */
	size_t end_boots;         /* at both ends, before the hunt; 0: what a verdict needs */
	size_t steps;             /* commits that each add the whole step; 0: nothing changed */
	bool measured_history; /* the noise is what nights of this world say of it, and not its true
				  value as 20 degrees of freedom show it */
	bool without_history;  /* nothing is known of the noise */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* NULL when there is none. */
const struct scenario *scenario_find(const char *name);

/* What a user may put in the place of the scenario's values, in percent; NAN: the scenario's. */
struct scenario_values {
	double between_percent;
	double within_percent;
	double layout_percent;
	double step_percent;
};

/* A scenario with numbers. */
struct scenario_plan {
	const struct scenario *scenario;
	struct scenario_noise noise; /* log scale */
	size_t iterations;
	double step;            /* log scale */
	double snr;             /* step / "between"; without noise, in percent */
	double deviation;       /* of one boot value of normal noise with these deviations */
	double distance;        /* step / deviation; infinite without noise */
	size_t end_boots;       /* max(5, 32 / distance^2): what a z of 4 needs */
	double witness_ratio;   /* a second series is so many times quieter; 0: there is none */
	bool witness_elsewhere; /* ... and moves at another commit */
};

/* NOISE_OF lends its noise to a scenario without a change; NULL: the scenario's own. SNR in units
   of "between"; a step in percent overrides it. */
void scenario_plan(const struct scenario *scenario, const struct scenario *noise_of, double snr,
		   const struct scenario_values *values, struct scenario_plan *ret_plan);

#endif
