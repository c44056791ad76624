/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_NIGHT_STEP_H
#define SENTINEL_NIGHT_STEP_H

/* What the conductor's files about nights share. Each step takes a night from one state to a later
   one, can be killed at any instant, and goes on from what is stored. */

#include "sentinel/base/cleanup.h"
#include "sentinel/context.h"
#include "sentinel/store.h"

struct verdict_list {
	struct store_verdict *items;
	size_t count;
};
void verdict_list_free(struct verdict_list *list);
#define auto_verdicts auto_cleanup(verdict_list_free)

struct boot_list {
	struct store_boot *items;
	size_t count;
};
void boot_list_free(struct boot_list *list);
#define auto_boots auto_cleanup(boot_list_free)

/* Moves the night on, durably; OUTCOME NULL leaves it as it is. */
int night_step_to(struct context *context, struct store_night *night, enum night_state state,
		  const char *outcome, struct error *err);
/*
 * A kernel that does not build, boot or finish ends the night: it is a result, not an error. When
 * it is not the head's, nothing was learned about the head. ERROR_SYSTEM when this host is at
 * fault.
 */
int night_step_kernel_failed(struct context *context, struct store_night *night,
			     const struct store_trial *trial, struct error *err);

/* Stage 2: interleaved pairs of boots of what is flagged. */
int night_step_retest(struct context *context, struct store_night *night, struct error *err);
/* Hunts every regression that is not a creep, one after another. */
int night_step_hunt(struct context *context, struct store_night *night, struct error *err);
/* Once a week, and when a creep was confirmed: dates the steps that the history shows. */
int night_step_date(struct context *context, const struct store_night *night, struct error *err);

#endif
