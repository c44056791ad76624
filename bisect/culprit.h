/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_CULPRIT_H
#define SENTINEL_BISECT_CULPRIT_H

/* How a hunt ends. */

#include <stdbool.h>
#include <stddef.h>

enum hunt_answer_kind {
	HUNT_CULPRIT,          /* one commit, confirmed against every parent; against the nearest
				  testable ancestors of a parent that cannot be tested */
	HUNT_SET,              /* it is one of these; nothing testable tells them apart. Confirmed
				  against the nearest testable ancestors of the whole set */
	HUNT_NOT_REPRODUCIBLE, /* the ends do not differ when measured again */
	HUNT_CANNOT_TELL,      /* out of boots, or an end cannot be tested: see reason */
};

struct hunt_answer {
	enum hunt_answer_kind kind;
	size_t culprit;     /* HUNT_CULPRIT */
	double probability; /* of the culprit, or of the set */
	size_t *set;        /* HUNT_SET: the set; otherwise the smallest with 95 %, likeliest
			       first. Owned; empty without a search */
	size_t set_count;
	double step;       /* log scale, culprit - parent; interval from the confirmation's pairs
			      only (from the reproduction's when there was none) */
	double step_lower; /* 95 % t interval, with the deviation of all boots and history; all
			      three are 0 when there were fewer than two pairs */
	double step_upper;
	double layout_share; /* layout deviation / step: above 0.2 the effect is comparable to
				layout noise */
	double confirm_odds; /* likelihood ratio of the confirmation, the weakest rival's; 0 without
			      */
	bool more_steps;     /* one step does not explain what was measured (p < 0.001): there is
				another one between the same ends */
	size_t series;       /* searched on: 0, or 1 + the witness */
	size_t confirm_pairs; /* of the confirmation that a culprit or a set rests on, else 0 */
	size_t reproduce_pairs;
	size_t boots; /* spent by the hunt; the three below are its parts */
	size_t reproduce_boots;
	size_t search_boots;
	size_t confirm_boots;
	size_t builds;      /* different commits and layouts booted in search and confirmation, but
			       the plain builds of the ends */
	const char *reason; /* one phrase, static text; "" for a culprit */
};

void hunt_answer_free(struct hunt_answer *answer);
const char *hunt_answer_kind_name(enum hunt_answer_kind kind);

#endif
