/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/pair_test.h"

#include <math.h>

#define CLIP 2.5 /* standard deviations of a difference */

void pair_test_add(struct pair_test *test, double difference)
{
	double deviation = sqrt(2) * test->deviation;
	double surprise = (difference - test->step / 2) / deviation;
	test->log_ratio += test->step / deviation * fmax(-CLIP, fmin(CLIP, surprise));
	test->pairs++;
}

enum pair_verdict pair_test_verdict(const struct pair_test *test)
{
	if (test->pairs < test->minimum_pairs)
		return PAIR_OPEN;
	if (test->log_ratio > log(test->accept_odds))
		return PAIR_DIFFERENT;
	return test->log_ratio < -log(test->reject_odds) ? PAIR_EQUAL : PAIR_OPEN;
}

double pair_test_shown(const struct pair_test *test)
{
	double variance = 2 * test->deviation * test->deviation;
	return test->step / 2 + variance * test->log_ratio / (test->step * (double)test->pairs);
}

double pair_test_error(const struct pair_test *test)
{
	return test->deviation * sqrt(2 / (double)test->pairs);
}

double pair_test_expected_pairs(const struct pair_test *test, double true_step)
{
	double variance = 2 * test->deviation * test->deviation;
	return log(test->accept_odds) * variance / (test->step * (true_step - test->step / 2));
}
