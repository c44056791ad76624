/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_PAIR_TEST_H
#define SENTINEL_BISECT_PAIR_TEST_H

/*
 * Wald's sequential probability ratio test on pairs of boots that ran next to each other: is the
 * difference STEP, or is it 0? One wild pair is clipped and cannot decide alone. Pure.
 */

#include <stddef.h>

enum pair_verdict { PAIR_OPEN, PAIR_DIFFERENT, PAIR_EQUAL };

struct pair_test {
	double step;          /* the difference to tell from 0; > 0 */
	double deviation;     /* of one boot value; > 0 */
	double accept_odds;   /* PAIR_DIFFERENT above accept_odds : 1 */
	double reject_odds;   /* PAIR_EQUAL below 1 : reject_odds */
	size_t minimum_pairs; /* no verdict on fewer */
	/* What has been seen; begin with 0. */
	size_t pairs;
	double log_ratio;
};

void pair_test_add(struct pair_test *test, double difference);
enum pair_verdict pair_test_verdict(const struct pair_test *test);
/* The mean of the differences, wild ones clipped, and its standard error; of one pair at least. */
double pair_test_shown(const struct pair_test *test);
double pair_test_error(const struct pair_test *test);
/* How many pairs PAIR_DIFFERENT takes on average when the true difference is TRUE_STEP > step/2. */
double pair_test_expected_pairs(const struct pair_test *test, double true_step);

#endif
