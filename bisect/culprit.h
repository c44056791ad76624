/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_CULPRIT_H
#define SENTINEL_BISECT_CULPRIT_H

/* How a hunt ends. */

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
	size_t confirm_pairs; /* of the confirmation that a culprit or a set rests on, else 0 */
	size_t reproduce_pairs;
	size_t boots;       /* all */
	const char *reason; /* one phrase, static text; "" for a culprit */
};

void hunt_answer_free(struct hunt_answer *answer);
const char *hunt_answer_kind_name(enum hunt_answer_kind kind);

#endif
