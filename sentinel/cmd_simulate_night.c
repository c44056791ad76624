/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/cmd_simulate.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/text.h"
#include "sentinel/simulate/creep.h"
#include "sentinel/simulate/night.h"
#include "sentinel/simulate/power.h"

#define LARGEST_SHARE 100.0

enum { LARGEST_NIGHTS = 100000000, LARGEST_CREEP_NIGHTS = 10000 };
#define LARGEST_CREEP 1000.0

static int find_world(const char *name, enum night_world *ret_world, struct error *err)
{
	*ret_world = night_world_find(name);
	if (*ret_world != NIGHT_WORLD_COUNT)
		return 0;
	auto_free char *safe = text_one_line(name, 40);
	struct text known = {0};
	for (size_t i = 0; i < NIGHT_WORLD_COUNT; i++)
		text_printf(&known, "%s%s", i ? ", " : "", night_world_name((enum night_world)i));
	auto_free char *names = text_take(&known);
	return error_set(err, ERROR_USAGE, "no world '%s'; there are: %s", safe, names);
}

static void put_night(json_t *cells, const struct simulate_night_options *options,
		      const struct simulate_night_result *result)
{
	for (size_t i = 0; i < SIMULATE_NIGHT_RULES; i++) {
		const struct simulate_night_rate *rate = &result->rates[i];
		json_t *cell = json_pack(
			"{s:s, s:f, s:s, s:I, s:I, s:I}", "world", night_world_name(options->world),
			"layout_share", options->layout_share, "rule",
			simulate_night_rule_name((enum simulate_night_rule)i), "series",
			(json_int_t)options->series, "nights", (json_int_t)options->nights, "seed",
			(json_int_t)options->seed);
		json_object_update_new(
			cell,
			json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "alarms_per_1000_nights",
				  rate->per_1000_nights, "alarms_per_30_nights",
				  rate->per_30_nights, "nights_with_alarm", rate->nights_with,
				  "retests_a_night", result->retests_a_night, "nights_with_retest",
				  result->nights_with_retest, "cpu_seconds", result->seconds));
		json_array_append_new(cells, cell);
	}
}

static int run_night(const struct arguments *arguments, const char *world, const char *share,
		     json_t *cells, struct error *err)
{
	struct simulate_night_options options;
	struct simulate_night_result result;
	enum night_world found;
	size_t seed;
	if (find_world(world, &found, err) < 0)
		return -1;
	simulate_night_defaults(found, &options);
	if (simulate_parse("--layout-share", share, 0, LARGEST_SHARE, &options.layout_share, err) <
		    0 ||
	    simulate_count(arguments, "--nights", options.nights, 1, LARGEST_NIGHTS,
			   &options.nights, err) < 0 ||
	    simulate_seed(arguments, &seed, err) < 0)
		return -1;
	options.seed = seed;
	simulate_night(&options, &result);
	put_night(cells, &options, &result);
	return interrupt_check(err);
}

int simulate_night_command(const struct arguments *arguments, json_t **ret_cells, struct error *err)
{
	auto_simulate_list struct simulate_list worlds = {0};
	auto_simulate_list struct simulate_list shares = {0};
	simulate_list(arguments, "--world", night_world_name(NIGHT_WORLD_PLAIN), &worlds);
	simulate_list(arguments, "--layout-share", "0.2", &shares);
	auto_json json_t *cells = json_array();
	for (size_t i = 0; i < worlds.count; i++)
		for (size_t j = 0; j < shares.count; j++)
			if (run_night(arguments, worlds.items[i], shares.items[j], cells, err) < 0)
				return -1;
	*ret_cells = take(cells);
	return 0;
}

static void put_power(json_t *cells, const struct simulate_power_options *options,
		      const struct simulate_power_result *result)
{
	json_t *cell = json_pack(
		"{s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I}", "step_percent", options->step_percent,
		"noise_percent", options->noise_percent, "layout_share", options->layout_share,
		"iterations", (json_int_t)options->plan.iterations, "boots",
		(json_int_t)options->plan.boots, "pairs", (json_int_t)options->plan.pairs, "trials",
		(json_int_t)options->trials, "seed", (json_int_t)options->seed);
	json_object_update_new(cell,
			       json_pack("{s:f, s:f, s:f}", "flagged", result->stage1, "power",
					 result->two_stage, "cpu_seconds", result->seconds));
	json_array_append_new(cells, cell);
}

int simulate_power_command(const struct arguments *arguments, json_t **ret_cells, struct error *err)
{
	auto_json json_t *cells = json_array();
	size_t seed;
	if (simulate_seed(arguments, &seed, err) < 0)
		return -1;
	for (size_t i = 0; i < SIMULATE_POWER_CELLS; i++) {
		struct simulate_power_options options;
		struct simulate_power_result result;
		simulate_power_defaults(&simulate_power_cells[i], &options);
		options.seed = seed;
		if (simulate_count(arguments, "--trials", options.trials, 1, LARGEST_NIGHTS,
				   &options.trials, err) < 0)
			return -1;
		simulate_power(&options, &result);
		put_power(cells, &options, &result);
		if (interrupt_check(err) < 0)
			return -1;
	}
	*ret_cells = take(cells);
	return 0;
}

static void put_creep(json_t *cells, const struct simulate_creep_options *options,
		      const struct simulate_creep_result *result)
{
	json_t *cell =
		json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:I}", "total", options->total,
			  "creep_nights", (json_int_t)options->creep_nights, "pinned_nights",
			  (json_int_t)options->pinned_nights, "window", (json_int_t)options->window,
			  "horizon", (json_int_t)options->horizon, "trials",
			  (json_int_t)options->trials, "seed", (json_int_t)options->seed);
	json_object_update_new(cell,
			       json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "flagged",
					 result->flagged, "mean_night", result->mean_night,
					 "flags_per_1000_nights", result->per_1000_nights,
					 "flags_per_30_nights", result->per_30_nights, "rolling",
					 result->rolling, "cpu_seconds", result->seconds));
	json_array_append_new(cells, cell);
}

int simulate_creep_command(const struct arguments *arguments, json_t **ret_cells, struct error *err)
{
	auto_simulate_list struct simulate_list totals = {0};
	auto_json json_t *cells = json_array();
	struct simulate_creep_options options;
	size_t seed;
	simulate_creep_defaults(&options);
	simulate_list(arguments, "--creep", "0,1,2,3,5", &totals);
	if (simulate_count(arguments, "--creep-nights", options.creep_nights, 1,
			   LARGEST_CREEP_NIGHTS, &options.creep_nights, err) < 0 ||
	    simulate_count(arguments, "--trials", options.trials, 1, LARGEST_NIGHTS,
			   &options.trials, err) < 0 ||
	    simulate_seed(arguments, &seed, err) < 0)
		return -1;
	options.seed = seed;
	for (size_t i = 0; i < totals.count; i++) {
		struct simulate_creep_result result;
		if (simulate_parse("--creep", totals.items[i], 0, LARGEST_CREEP, &options.total,
				   err) < 0)
			return -1;
		simulate_creep(&options, &result);
		put_creep(cells, &options, &result);
		if (interrupt_check(err) < 0)
			return -1;
	}
	*ret_cells = take(cells);
	return 0;
}
