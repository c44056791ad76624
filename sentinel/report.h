/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_REPORT_H
#define SENTINEL_REPORT_H

/* What people read: the regression mail, the night's summary, the table of two revisions. */

#include <stdbool.h>

#include "sentinel/base/text.h"
#include "sentinel/context.h"
#include "sentinel/judge.h"
#include "sentinel/store.h"

/*
 * Subject and body of the mail about one finished hunt, with the fields and in the order that
 * readers of regression mails expect. Foreign text is made safe. The caller frees both.
 */
int report_hunt(struct context *context, const struct store_hunt *hunt, char **ret_subject,
		char **ret_body, struct error *err);
/* The same on standard output, or its facts as JSON. */
int report_print_hunt(struct context *context, const struct store_hunt *hunt, struct error *err);
/* Its facts; the caller releases the value. */
int report_hunt_json(struct context *context, const struct store_hunt *hunt, json_t **ret_value,
		     struct error *err);
/* Is SECOND told of in the mail about FIRST? A night writes once of a culprit: about the first hunt
   that ended there. */
bool report_is_companion(const struct store_hunt *first, const struct store_hunt *second);
/* "98.3 %", and never a hundred: nothing measured is that sure. */
const char *report_sureness(double probability, char buffer[static 16]);
/* "very likely" and its like; static text. */
const char *report_sureness_words(double probability);
/* Stable per regression: tree, machine, ends of the search or culprit, and series. Caller frees. */
char *report_message_id(const struct context *context, const struct store_hunt *hunt);

/* Appends the night's result: outcome, clock, what moved, hunts. */
int report_night(struct context *context, const struct store_night *night, struct text *text,
		 struct error *err);
int report_night_json(struct context *context, const struct store_night *night, json_t **ret_value,
		      struct error *err);

#endif
