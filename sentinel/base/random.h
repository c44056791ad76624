/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_RANDOM_H
#define SENTINEL_BASE_RANDOM_H

/*
 * Random numbers for simulations, from the R project's libRmath. One stream for the whole process:
 * the same seed gives the same numbers. Not for secrets, not for threads.
 */

#include <stddef.h>
#include <stdint.h>

void random_seed(uint64_t seed);
/*
 * A seed made of another one and of PART, the next thing that it stands for: seeds of neighbouring
 * parts have nothing in common.
 */
uint64_t random_mix(uint64_t seed, uint64_t part);

/* In (0, 1). */
double random_uniform(void);
double random_normal(void);
/* Student's t with DEGREES > 0; not scaled to unit variance. */
double random_t(double degrees);
double random_chi_square(double degrees);
/* Standard normal too, but it depends on KEY alone and leaves the stream where it is: for what
   belongs to a thing and not to a moment. */
double random_normal_of(uint64_t key);
/* A whole number below COUNT >= 1, all alike. */
size_t random_below(size_t count);

#endif
