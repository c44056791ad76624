/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_FANO_H
#define SENTINEL_SIMULATE_FANO_H

/* What no method can do without. Pure. */

#include <stddef.h>

/*
 * Fano's inequality: the fewest boots, on average, that name one of COMMITS with 99 % certainty
 * when the noise is normal, everything but the culprit is known, and the levels are DISTANCE
 * standard deviations of a boot apart: ((1 - e) log2 N - h2(e)) / C, e = 0.01, C the capacity in
 * bits of the binary-input Gaussian channel. DISTANCE > 0, may be infinite.
 */
double fano_boots(size_t commits, double distance);

#endif
