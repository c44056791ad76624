/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_CONFIRMATION_H
#define SENTINEL_BISECT_HUNT_CONFIRMATION_H

/*
 * The third stage of a hunt: fresh boots of a suspect, each next to one of a rival. Pure.
 *
 * Which values count. A pair is two HUNT_CONFIRM values with no other event between them, of a
 * commit (the suspect) and of one of its ancestors (the rival). Hence all of them were asked for
 * after the search had pointed at the suspect. An attempt begins with the first pair of another
 * suspect than before, or after a rejection, and then counts only its own pairs: values that
 * made the suspect suspicious never confirm it. Step and deviation of an attempt's test come from
 * the events before its first pair and stay, so that later events cannot turn a verdict. What the
 * test asks rises once the pairs show less than that step.
 */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/hunt.h"
#include "bisect/pair_test.h"

struct hunt_rival {
	size_t commit;
	struct pair_test test;
	enum pair_verdict verdict; /* the first that was reached stays */
};

/* Two boots that belong together. */
struct hunt_pair {
	size_t first; /* commits */
	size_t second;
	size_t number; /* of this suspect and this rival, from 0 */
};

struct hunt_confirmation {
	size_t failed; /* attempts of the whole hunt that ended in a rejection */
	/* The latest attempt; suspect 0 when there was none, which no suspect can be. */
	size_t suspect;
	bool rejected;
	struct hunt_rival *rivals;
	size_t rival_count;
	double *differences; /* suspect - rival, of all pairs */
	size_t pair_count;
	bool half_pair; /* the last event waits for its partner */
};

void hunt_confirmation_replay(const struct hunt_problem *problem, const struct hunt_event *events,
			      size_t count, struct hunt_confirmation *ret_confirmation);
void hunt_confirmation_free(struct hunt_confirmation *confirmation);
#define auto_hunt_confirmation __attribute__((cleanup(hunt_confirmation_free)))

/*
 * Marks whom SUSPECT must be compared with: its parents; instead of an untestable one its nearest
 * testable ancestors; instead of an excluded one the testable parent whose image it has.
 */
void hunt_confirmation_rivals(const struct hunt_problem *problem, const bool *untestable,
			      size_t suspect, bool *ret_rival);

/* True when every marked rival was found different from SUSPECT. */
bool hunt_confirmation_accepted(const struct hunt_confirmation *confirmation, size_t commits,
				size_t suspect, const bool *rival);
/*
 * The next pair: the undecided rival with the fewest pairs, and who boots first (A B B A). The
 * attempt must not be accepted.
 */
void hunt_confirmation_next(const struct hunt_confirmation *confirmation, size_t commits,
			    size_t suspect, const bool *rival, struct hunt_pair *ret_pair);

#endif
