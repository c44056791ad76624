/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/cmd_simulate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

const struct command_option simulate_options[] = {
	{"--scenario", "LIST", "hunt: worlds, S0 to S8 and others (default S1)", false},
	{"--snr", "LIST", "hunt: steps, in deviations between boots (default 3)", false},
	{"--commits", "LIST", "hunt: commits between good and bad (default 1024)", false},
	{"--method", "LIST", "hunt: sentinel, a, b5, c, as explained above", false},
	{"--shape", "SHAPE", "hunt: linear or dag (default linear)", false},
	{"--noise", "SCENARIO", "hunt: with the noise of that scenario", false},
	{"--witness", "RATIO", "hunt: a second series, so many times quieter", false},
	{"--witness-elsewhere", NULL, "hunt: the second series moves at another commit", false},
	{"--maximum-boots", "N", "hunt: give up after so many (default 3000)", false},
	{"--layouts", "N", "hunt: builds of one commit that it may ask for (default 8)", false},
	{"--between-percent", "P", "hunt: your machine's deviation between boots", false},
	{"--within-percent", "P", "hunt: your machine's deviation of iterations", false},
	{"--layout-percent", "P", "hunt: your deviation between builds of one source", false},
	{"--step-percent", "P", "hunt: the step to look for, in place of --snr", false},
	{"--world", "LIST", "night: plain and others (default plain)", false},
	{"--layout-share", "LIST", "night: deviation of builds in iterations' (default 0.2)",
	 false},
	{"--nights", "N", "night: how many (default 1000)", false},
	{"--creep", "LIST", "creep: how far, in deviations of a night (default 0,1,2,3,5)", false},
	{"--creep-nights", "N", "creep: over so many nights (default 60; 1: a step)", false},
	{"--trials", "N", "hunt, creep, power: how often", false},
	{"--trial", "N", "hunt: only this one, as in a run of many", false},
	{"--seed", "N", "the same number, the same worlds (default 1)", false},
	{"--json", NULL, "print results as JSON", false},
	{0},
};

/* A double holds every whole number up to it. */
#define LARGEST_SEED 9007199254740992

static const struct mode {
	const char *name;
	int (*run)(const struct arguments *arguments, json_t **ret_cells, struct error *err);
	void (*print)(const json_t *cells);
} modes[] = {
	{"hunt", simulate_hunt_command, simulate_hunt_print},
	{"night", simulate_night_command, simulate_night_print},
	{"creep", simulate_creep_command, simulate_creep_print},
	{"power", simulate_power_command, simulate_power_print},
};

int simulate_parse(const char *option, const char *item, double least, double most,
		   double *ret_value, struct error *err)
{
	char *end;
	errno = 0;
	double value = strtod(item, &end);
	if (errno || end == item || *end || !(value >= least && value <= most)) {
		auto_free char *safe = text_one_line(item, 40);
		return error_set(err, ERROR_USAGE, "%s wants a number from %g to %g, not '%s'",
				 option, least, most, safe);
	}
	*ret_value = value;
	return 0;
}

int simulate_number(const struct arguments *arguments, const char *option, double fallback,
		    double least, double most, double *ret_value, struct error *err)
{
	const char *given = argument_value(arguments, option);
	*ret_value = fallback;
	return given ? simulate_parse(option, given, least, most, ret_value, err) : 0;
}

int simulate_count(const struct arguments *arguments, const char *option, size_t fallback,
		   size_t least, size_t most, size_t *ret_value, struct error *err)
{
	double value;
	if (simulate_number(arguments, option, (double)fallback, (double)least, (double)most,
			    &value, err) < 0)
		return -1;
	if (value != floor(value))
		return error_set(err, ERROR_USAGE, "%s wants a whole number", option);
	*ret_value = (size_t)value;
	return 0;
}

int simulate_seed(const struct arguments *arguments, size_t *ret_seed, struct error *err)
{
	return simulate_count(arguments, "--seed", 1, 0, LARGEST_SEED, ret_seed, err);
}

void simulate_list(const struct arguments *arguments, const char *option, const char *fallback,
		   struct simulate_list *ret_list)
{
	const char *given = argument_value(arguments, option);
	struct simulate_list list = {.text = text_copy(given ? given : fallback)};
	char *rest = list.text;
	list.items = memory_array(strlen(list.text) + 1, sizeof(*list.items));
	while (rest)
		list.items[list.count++] = strsep(&rest, ",");
	*ret_list = list;
}

void simulate_list_free(struct simulate_list *list)
{
	free(list->text);
	free(list->items);
}

static int find_mode(const char *name, const struct mode **ret_mode, struct error *err)
{
	struct text known = {0};
	for (size_t i = 0; i < array_length(modes); i++) {
		if (strcmp(modes[i].name, name) == 0) {
			text_free(&known);
			*ret_mode = &modes[i];
			return 0;
		}
		text_printf(&known, "%s%s", i ? ", " : "", modes[i].name);
	}
	auto_free char *names = text_take(&known);
	auto_free char *safe = text_one_line(name, 40);
	return error_set(err, ERROR_USAGE, "nothing called '%s' can be simulated; there are: %s",
			 safe, names);
}

int cmd_simulate(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		 struct error *err)
{
	(void)ret_exit_code;
	const struct mode *mode = NULL;
	json_t *cells = NULL;
	if (find_mode(arguments->operands[0], &mode, err) < 0 ||
	    mode->run(arguments, &cells, err) < 0)
		return -1;
	if (context->json || argument_value(arguments, "--json")) {
		context_print_json(cells);
		return 0;
	}
	mode->print(cells);
	json_decref(cells);
	return 0;
}
