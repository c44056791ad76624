/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_NIGHT_H
#define SENTINEL_NIGHT_H

/* What the commands that work on nights and judgements share. */

#include "sentinel/context.h"
#include "sentinel/planner.h"
#include "sentinel/store.h"

/* Adds a night of KIND ("nightly" or "judge") for this head. ERROR_USAGE without a baseline. */
int night_begin(struct context *context, const char *kind, const char *head,
		struct store_night *ret_night, struct error *err);
/* The newest unfinished night of KIND for the tree and machine of [night]; its id is 0 when there
   is none. */
int night_find_unfinished(struct context *context, const char *kind, struct store_night *ret_night,
			  struct error *err);
int night_print(struct context *context, const struct store_night *night, struct error *err);
/* A regression, new or known, a creep, or a head that does not build, boot or finish. */
bool night_is_bad(const struct store_night *night);
/* False for a night that ended without learning anything about its head. */
bool night_is_judged(const struct store_night *night);

#endif
