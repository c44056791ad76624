/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_COMMAND_H
#define SENTINEL_COMMAND_H

/*
 * The commands as one table (main.c). Options are records too: they are parsed, checked, suggested
 * and explained from the same place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sentinel/context.h"

/* Exit code when there is a regression, for "judge" and "--exit-code". */
#define EXIT_REGRESSION 1

struct command_option {
	const char *name;     /* "--good" */
	const char *argument; /* "REV", or NULL for a switch */
	const char *help;
	bool required;
};

/* Of "simulate"; the others stand beside their commands in main.c. */
extern const struct command_option simulate_options[];

struct command;

/* What was given on the command line, checked against the command's record. */
struct arguments {
	const struct command *command;
	const char *values[32]; /* by index of the option; "" for a switch that is given */
	const char *operands[4];
	size_t operand_count;
};

struct command {
	const char *name;
	const char *operands; /* "REV", "set REV | show", or "" */
	size_t minimum_operands;
	size_t maximum_operands;
	const char *summary;
	const char *help;                     /* a paragraph or two */
	const struct command_option *options; /* ends with an empty record, or NULL */
	/* *ret_exit_code starts as 0. */
	int (*run)(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		   struct error *err);
};

/* The value given for the named option of this command, or NULL. */
const char *argument_value(const struct arguments *arguments, const char *name);

/* The whole TEXT of option NAME as a number; ERROR_USAGE when it is none, or out of range. */
int argument_number(const char *name, const char *text, int64_t minimum, int64_t maximum,
		    int64_t *ret_value, struct error *err);

#define DECLARE_COMMAND(function)                                                                  \
	int function(struct context *context, const struct arguments *arguments,                   \
		     int *ret_exit_code, struct error *err)

DECLARE_COMMAND(cmd_init);
DECLARE_COMMAND(cmd_doctor);
DECLARE_COMMAND(cmd_build);
DECLARE_COMMAND(cmd_measure);
DECLARE_COMMAND(cmd_baseline);
DECLARE_COMMAND(cmd_judge);
DECLARE_COMMAND(cmd_bisect);
DECLARE_COMMAND(cmd_nightly);
DECLARE_COMMAND(cmd_resume);
DECLARE_COMMAND(cmd_status);
DECLARE_COMMAND(cmd_log);
DECLARE_COMMAND(cmd_compare);
DECLARE_COMMAND(cmd_simulate);
DECLARE_COMMAND(cmd_mail);
DECLARE_COMMAND(cmd_accept);
DECLARE_COMMAND(cmd_history);
DECLARE_COMMAND(cmd_characterise);

#endif
