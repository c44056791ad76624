/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_TRIAL_H
#define SENTINEL_TRIAL_H

/*
 * The trial's states and how it moves between them: one boot of one artifact on one machine with
 * one plan. Pure; every transition that this file allows is one durable commit in the store.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/machine/machine.h"

enum trial_state {
	TRIAL_QUEUED,
	TRIAL_BUILT,
	TRIAL_ARMED,        /* ticket written, the machine may have jumped */
	TRIAL_STORED,       /* samples imported; final */
	TRIAL_FAILED_BUILD, /* the kernel's fault; final */
	TRIAL_FAILED_BOOT,  /* likewise */
	TRIAL_FAILED_BENCH, /* likewise: it came up and died under load */
	TRIAL_FAILED_HOST,  /* ours; final */
};

bool trial_is_final(enum trial_state state);
const char *trial_state_name(enum trial_state state);

/*
 * What an ended attempt makes of an ARMED trial. ATTEMPTS counts this one; LIMIT >= 1. A retry is
 * TRIAL_BUILT: a new ticket is written for it.
 */
enum trial_state trial_after_outcome(enum trial_phase phase, enum trial_cause cause,
				     int64_t attempts, int64_t limit);

#endif
