/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/creep.h"

#include <math.h>
#include <time.h>

#include "bench/stats/creep.h"
#include "bench/verdict.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/base/random.h"
#include "sentinel/base/text.h"
#include "sentinel/simulate/night_world.h"

#define NIGHT_DEGREES 5.0
#define ROLLING_ALPHA 1e-4
#define LEAST_DEVIATION 1e-9 /* values are in deviations of a night: no limit */
#define NOTICE_SECONDS 10.0

void simulate_creep_defaults(struct simulate_creep_options *ret_options)
{
	*ret_options = (struct simulate_creep_options){
		.total = 3,
		.creep_nights = 60,
		.pinned_nights = 60,
		.window = 20,
		.horizon = 90,
		.trials = 2000,
		.seed = 1,
	};
}

/* The pinned nights, followed by those that are watched. */
static void measure(const struct simulate_creep_options *options, double *values)
{
	double unit = sqrt((NIGHT_DEGREES - 2) / NIGHT_DEGREES);
	for (size_t i = 0; i < options->pinned_nights + options->horizon; i++) {
		double nights = (double)i + 1 - (double)options->pinned_nights;
		double part = fmax(0, fmin(1, nights / (double)options->creep_nights));
		values[i] = options->total * part + unit * random_t(NIGHT_DEGREES);
	}
}

struct tally {
	size_t flagged;
	size_t flagged_nights; /* their sum */
	size_t watched_nights;
	size_t rolling;
};

/* The first night, counted from 1, that the cumulative sum flags; 0: none. */
static size_t creep_night(const struct simulate_creep_options *options, const double *values)
{
	struct verdict_window pinned;
	struct creep creep;
	verdict_window(values, options->pinned_nights, LEAST_DEVIATION, &pinned);
	struct creep_level level = {pinned.location, (double)options->pinned_nights};
	creep_watch(values + options->pinned_nights, options->horizon, &level, pinned.deviation,
		    &creep);
	return creep.flagged ? creep.night + 1 : 0;
}

static bool rolling_flags(const struct simulate_creep_options *options, const double *values)
{
	struct verdict_rule rule = {.alpha = ROLLING_ALPHA, .deviation_floor = LEAST_DEVIATION};
	const double *watched = values + options->pinned_nights;
	for (size_t i = 0; i < options->horizon; i++) {
		struct verdict verdict;
		verdict_stage1_nights(watched + i - options->window, options->window, watched[i], 1,
				      &rule, &verdict);
		if (verdict.state == VERDICT_FLAGGED && verdict.change > 0)
			return true;
	}
	return false;
}

static void try_once(const struct simulate_creep_options *options, double *scratch_values,
		     struct tally *tally)
{
	measure(options, scratch_values);
	size_t night = creep_night(options, scratch_values);
	tally->flagged += night > 0;
	tally->flagged_nights += night;
	tally->watched_nights += night ? night : options->horizon;
	tally->rolling += rolling_flags(options, scratch_values);
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static double share(size_t part, size_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

void simulate_creep(const struct simulate_creep_options *options,
		    struct simulate_creep_result *ret_result)
{
	double start = cpu_seconds();
	double notice = start;
	struct tally tally = {0};
	auto_free double *values =
		memory_array(options->pinned_nights + options->horizon, sizeof(*values));
	random_seed(options->seed);
	for (size_t trial = 0; trial < options->trials; trial++) {
		try_once(options, values, &tally);
		if (cpu_seconds() - notice < NOTICE_SECONDS)
			continue;
		notice = cpu_seconds();
		log_notice("simulated %zu of %zu trials", trial + 1, options->trials);
	}
	double rate = NIGHT_WORLD_SERIES * share(tally.flagged, tally.watched_nights);
	*ret_result = (struct simulate_creep_result){
		.flagged = share(tally.flagged, options->trials),
		.mean_night = share(tally.flagged_nights, tally.flagged),
		.per_1000_nights = 1000 * rate,
		.per_30_nights = 30 * rate,
		.rolling = share(tally.rolling, options->trials),
		.seconds = cpu_seconds() - start,
	};
}
