/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/random.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t scramble(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

uint64_t random_mix(uint64_t seed, uint64_t part)
{
	return scramble(scramble(seed + UINT64_C(0x9e3779b97f4a7c15)) + part);
}

void random_seed(uint64_t seed)
{
	/* libRmath's generator has two halves, each of which stands still at 0. */
	uint64_t mixed = random_mix(seed, 0);
	set_seed((unsigned int)(mixed >> 32) | 1, (unsigned int)mixed | 1);
}

double random_uniform(void)
{
	return unif_rand();
}

double random_normal(void)
{
	return norm_rand();
}

double random_t(double degrees)
{
	return rt(degrees);
}

double random_chi_square(double degrees)
{
	return rchisq(degrees);
}

double random_normal_of(uint64_t key)
{
	/* The upper 53 bits of the key's hash, in the middle of their interval: never 0 nor 1. */
	double uniform = ((double)(random_mix(key, 0) >> 11) + 0.5) / 9007199254740992.0;
	return qnorm(uniform, 0, 1, 1, 0);
}

size_t random_below(size_t count)
{
	size_t drawn = (size_t)(unif_rand() * (double)count);
	return drawn < count ? drawn : count - 1;
}
