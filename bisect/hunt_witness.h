/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_WITNESS_H
#define SENTINEL_BISECT_HUNT_WITNESS_H

/* Which series shows the step most clearly? Pure. */

#include <stddef.h>

#include "bisect/hunt.h"
#include "bisect/hunt_record.h"

/*
 * The witness to search on, from what the ends gave before the search; index 0 when none is worth
 * it. A witness must separate the ends beyond chance (two-sample t, 0.001 shared among all
 * witnesses) and half as clearly again as the series itself; it may move either way.
 */
void hunt_witness_choose(const struct hunt_problem *problem, const struct hunt_event *events,
			 size_t count, struct hunt_series *ret_series);

#endif
