/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The results of "simulate" for people: one line a cell. */

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/cmd_simulate.h"

enum column_kind { COLUMN_TEXT, COLUMN_INTEGER, COLUMN_NUMBER, COLUMN_PERCENT };

struct column {
	const char *title;
	const char *key;
	enum column_kind kind;
	int width;
	int digits; /* behind the point */
};

static const struct column hunt_columns[] = {
	{"scenario", "scenario", COLUMN_TEXT, -10, 0},
	{"shape", "shape", COLUMN_TEXT, -6, 0},
	{"commits", "commits", COLUMN_INTEGER, 7, 0},
	{"SNR", "snr", COLUMN_NUMBER, 5, 1},
	{"method", "method", COLUMN_TEXT, -8, 0},
	{"trials", "trials", COLUMN_INTEGER, 6, 0},
	{"right%", "correct", COLUMN_PERCENT, 7, 2},
	{"wrong%", "wrong", COLUMN_PERCENT, 7, 2},
	{"nothing%", "not_reproducible", COLUMN_PERCENT, 8, 2},
	{"unsure%", "inconclusive", COLUMN_PERCENT, 7, 2},
	{"reprod.", "boots_reproduce", COLUMN_NUMBER, 7, 1},
	{"search", "boots_search", COLUMN_NUMBER, 7, 1},
	{"confirm", "boots_confirm", COLUMN_NUMBER, 7, 1},
	{"builds", "builds", COLUMN_NUMBER, 6, 1},
	{"bound", "bound_boots", COLUMN_NUMBER, 6, 1},
	{"s/b", "ratio_search", COLUMN_NUMBER, 5, 2},
	{"s+c/b", "ratio_total", COLUMN_NUMBER, 5, 2},
	{"claimed%", "claimed", COLUMN_PERCENT, 8, 2},
	{"observed%", "observed", COLUMN_PERCENT, 9, 2},
};

static const struct column night_columns[] = {
	{"world", "world", COLUMN_TEXT, -14, 0},
	{"layout", "layout_share", COLUMN_NUMBER, 6, 2},
	{"rule", "rule", COLUMN_TEXT, -40, 0},
	{"nights", "nights", COLUMN_INTEGER, 7, 0},
	{"per 1000", "alarms_per_1000_nights", COLUMN_NUMBER, 9, 1},
	{"a month", "alarms_per_30_nights", COLUMN_NUMBER, 8, 2},
	{"nights with%", "nights_with_alarm", COLUMN_PERCENT, 12, 2},
	{"retests", "retests_a_night", COLUMN_NUMBER, 7, 2},
};

static const struct column creep_columns[] = {
	{"creep", "total", COLUMN_NUMBER, 6, 1},
	{"nights", "creep_nights", COLUMN_INTEGER, 6, 0},
	{"watched", "horizon", COLUMN_INTEGER, 7, 0},
	{"trials", "trials", COLUMN_INTEGER, 7, 0},
	{"flagged%", "flagged", COLUMN_PERCENT, 8, 2},
	{"mean night", "mean_night", COLUMN_NUMBER, 10, 1},
	{"per 1000", "flags_per_1000_nights", COLUMN_NUMBER, 9, 1},
	{"a month", "flags_per_30_nights", COLUMN_NUMBER, 8, 2},
	{"rolling%", "rolling", COLUMN_PERCENT, 8, 2},
};

static const struct column power_columns[] = {
	{"step%", "step_percent", COLUMN_NUMBER, 6, 1},
	{"noise%", "noise_percent", COLUMN_NUMBER, 6, 1},
	{"iterations", "iterations", COLUMN_INTEGER, 10, 0},
	{"boots", "boots", COLUMN_INTEGER, 6, 0},
	{"pairs", "pairs", COLUMN_INTEGER, 6, 0},
	{"trials", "trials", COLUMN_INTEGER, 6, 0},
	{"flagged%", "flagged", COLUMN_PERCENT, 8, 2},
	{"power%", "power", COLUMN_PERCENT, 7, 2},
};

static void print_value(const struct column *column, const json_t *value)
{
	double scale = column->kind == COLUMN_PERCENT ? 100 : 1;
	if (json_is_string(value))
		printf("%*s", column->width, json_string_value(value));
	else if (!json_is_number(value))
		printf("%*s", column->width, "-");
	else
		printf("%*.*f", column->width, column->digits, scale * json_number_value(value));
}

static void print_table(const struct column *columns, size_t count, const json_t *cells)
{
	size_t index;
	json_t *cell;
	for (size_t i = 0; i < count; i++)
		printf("%s%*s", i ? " " : "", columns[i].width, columns[i].title);
	putchar('\n');
	json_array_foreach (cells, index, cell) {
		for (size_t i = 0; i < count; i++) {
			if (i)
				putchar(' ');
			print_value(&columns[i], json_object_get(cell, columns[i].key));
		}
		putchar('\n');
	}
}

void simulate_hunt_print(const json_t *cells)
{
	print_table(hunt_columns, array_length(hunt_columns), cells);
	printf("\nBoots and builds are means a hunt. bound: the fewest boots that any search "
	       "needs; "
	       "s/b and s+c/b:\nsearch, and search with confirmation, over it.\n");
}

void simulate_night_print(const json_t *cells)
{
	print_table(night_columns, array_length(night_columns), cells);
	printf("\nNothing changes in these nights: every alarm is a false one. layout: deviation "
	       "between builds over\nthat of an iteration. a month: of 30 nights. retests: series "
	       "a "
	       "night that are measured again.\n");
}

void simulate_creep_print(const json_t *cells)
{
	print_table(creep_columns, array_length(creep_columns), cells);
	printf("\ncreep: how much worse in the end, in deviations of a night value. flagged: by "
	       "the "
	       "sum against the\npinned kernel, before any retest; rolling: by the rolling "
	       "baseline. "
	       "per 1000, a month: flags of 144\nseries; without a creep they are false.\n");
}

void simulate_power_print(const json_t *cells)
{
	print_table(power_columns, array_length(power_columns), cells);
	printf("\nnoise: deviation of an iteration, half of its variance between boots. boots: of "
	       "a "
	       "night; pairs: of\nthe retest. flagged: by stage 1; power: and confirmed by stage "
	       "2.\n");
}
