/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_HUNT_PRIOR_H
#define SENTINEL_HUNT_PRIOR_H

/* What is believed of each commit before anything is measured. Pure. */

#include <stdbool.h>
#include <stddef.h>

/*
 * WEIGHTS, one a commit, become what a hunt begins with: none below a tenth of the mean of those
 * that can be it, so that a wrong guess costs a few boots and never the culprit. The first commit
 * is the good end, and EXCLUDED ones cannot be it either: their weights are left alone.
 */
void hunt_prior_limit(double *weights, const bool *excluded, size_t count);

#endif
