/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_CMD_SIMULATE_H
#define SENTINEL_CMD_SIMULATE_H

/* What the modes of "simulate" share. */

#include <stdint.h>

#include "sentinel/base/json.h"
#include "sentinel/command.h"

/* A mode runs everything that was asked for; *ret_cells becomes a JSON array of objects. */
int simulate_hunt_command(const struct arguments *arguments, json_t **ret_cells, struct error *err);
int simulate_night_command(const struct arguments *arguments, json_t **ret_cells,
			   struct error *err);
int simulate_creep_command(const struct arguments *arguments, json_t **ret_cells,
			   struct error *err);
int simulate_power_command(const struct arguments *arguments, json_t **ret_cells,
			   struct error *err);
/* Print them as a table. */
void simulate_hunt_print(const json_t *cells);
void simulate_night_print(const json_t *cells);
void simulate_creep_print(const json_t *cells);
void simulate_power_print(const json_t *cells);

/* An option's value or FALLBACK; ERROR_USAGE unless it is a number within the limits. */
int simulate_number(const struct arguments *arguments, const char *option, double fallback,
		    double least, double most, double *ret_value, struct error *err);
/* Likewise, a whole number. */
int simulate_count(const struct arguments *arguments, const char *option, size_t fallback,
		   size_t least, size_t most, size_t *ret_value, struct error *err);

int simulate_seed(const struct arguments *arguments, size_t *ret_seed, struct error *err);

/* The items of a list with commas. */
struct simulate_list {
	char *text;
	char **items;
	size_t count;
};
/* Of the option's value or of FALLBACK. Free it with simulate_list_free. */
void simulate_list(const struct arguments *arguments, const char *option, const char *fallback,
		   struct simulate_list *ret_list);
void simulate_list_free(struct simulate_list *list);
#define auto_simulate_list __attribute__((cleanup(simulate_list_free)))
/* ITEM as a number within the limits; ERROR_USAGE names OPTION. */
int simulate_parse(const char *option, const char *item, double least, double most,
		   double *ret_value, struct error *err);

#endif
