/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_REPORT_VERDICTS_H
#define SENTINEL_REPORT_VERDICTS_H

/* The part of a night's report that says what moved, what is known, and what the history shows. */

#include "sentinel/base/json.h"
#include "sentinel/base/text.h"
#include "sentinel/context.h"
#include "sentinel/store.h"

int report_verdicts(struct context *context, const struct store_night *night, struct text *text,
		    struct error *err);
/* Both stages, in order; the caller releases the array. */
int report_verdicts_json(struct context *context, const struct store_night *night,
			 json_t **ret_array, struct error *err);

/* Steps that this night's look at the history has dated. */
int report_change_points(struct context *context, const struct store_night *night,
			 struct text *text, struct error *err);
int report_change_points_json(struct context *context, const struct store_night *night,
			      json_t **ret_array, struct error *err);

#endif
