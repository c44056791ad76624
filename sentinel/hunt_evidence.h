/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_HUNT_EVIDENCE_H
#define SENTINEL_HUNT_EVIDENCE_H

/* From stored boots to the events of a hunt. Only reads the store. */

#include "builder/source_tree.h"
#include "sentinel/base/error.h"
#include "sentinel/store.h"

/* One boot, measured for STAGE; it has a valid run, and weighs by how many it has. DEVIATION of one
   boot value, 0: not known. */
void hunt_event_of_boot(const struct store_boot *boot, enum hunt_stage stage, double deviation,
			struct store_hunt_event *ret_event);

struct hunt_seeds {
	struct store_hunt_event *events; /* known ones first; owned */
	size_t count;
	int64_t retest_boots; /* of those, for the stage of reproduction */
};
void hunt_seeds_free(struct hunt_seeds *seeds);

/*
 * What had been measured of a night's two ends before HUNT begins, under IDENTITY and with the same
 * benchmark as tonight. The retest's pairs in which both boots gave a number count as reproduction,
 * for they were interleaved and are fresh; the night's own boots of the head, and those that its
 * good end was accepted or set as baseline with, are known, and so is what other hunts of the night
 * have measured of the same series or could not boot. A hunt with an origin takes over what
 * that one and the others of the same origin have measured between its own ends; one by hand begins
 * with nothing.
 */
int hunt_seeds_find(struct store *store, const struct store_hunt *hunt, const char *identity,
		    const struct commit_range *range, struct hunt_seeds *ret_seeds,
		    struct error *err);

/*
 * The two kernels that the answer rests on: the accused one (the culprit, or the member of the set
 * that was booted) and the one that it was confirmed against. The ends when nothing was confirmed.
 */
int hunt_confirmed_pair(struct store *store, const struct store_hunt *hunt,
			char ret_rival[static OBJECT_ID_SIZE],
			char ret_suspect[static OBJECT_ID_SIZE], struct error *err);

#endif
