/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/hunt_evidence.h"
#include "sentinel/hunt_prior.h"

static double weight(size_t valid, size_t invalid, double deviation)
{
	/* Five runs with a deviation of 1; the first three as well. */
	double values[] = {exp(3), exp(4), exp(5), exp(4 + sqrt(2)), exp(4 - sqrt(2))};
	struct store_boot boot = {.values = values, .count = valid, .invalid = invalid};
	struct store_hunt_event event;
	if (valid == 5)
		values[0] = exp(4), values[2] = exp(4);
	hunt_event_of_boot(&boot, HUNT_SEARCH, deviation, &event);
	return event.weight;
}

static void test_a_boot_with_fewer_runs_weighs_less(void **state)
{
	(void)state;
	/* Deviation 1 between boots and 1 between runs, five of them: s^2 = 1 + 1/5. */
	assert_close(weight(5, 0, sqrt(1.2)), 1, 1e-12);
	assert_close(weight(3, 2, sqrt(1.2)), 1.2 / (1 + 1.0 / 3), 1e-12);
	/* One run tells nothing of its own noise, and without history nothing is known. */
	assert_close(weight(1, 4, sqrt(1.2)), 1, 0);
	assert_close(weight(3, 2, 0), 1, 0);
}

static void test_a_prior_within_its_limits_stays_as_it_is(void **state)
{
	(void)state;
	const bool excluded[5] = {false};
	double weights[] = {1, 4, 1, 1, 0.5};
	hunt_prior_limit(weights, excluded, array_length(weights));
	assert_close(weights[1], 4, 0);
	assert_close(weights[2], 1, 0);
	assert_close(weights[4], 0.5, 0);
}

static void test_every_candidate_keeps_a_tenth_of_the_uniform_prior(void **state)
{
	(void)state;
	const bool excluded[6] = {false, false, false, true, false, false};
	double weights[] = {7, 100, 0.01, 0.01, 1, 1};
	double sum = 0;
	hunt_prior_limit(weights, excluded, array_length(weights));
	for (size_t i = 1; i < array_length(weights); i++)
		sum += excluded[i] ? 0 : weights[i];
	for (size_t i = 1; i < array_length(weights); i++)
		if (!excluded[i])
			assert_true(weights[i] / sum >= 0.1 / 4 - 1e-12);
	assert_close(weights[2] / sum, 0.1 / 4, 1e-12);
	assert_close(weights[1], 100, 0);
	assert_close(weights[0], 7, 0);
	assert_close(weights[3], 0.01, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_boot_with_fewer_runs_weighs_less),
		cmocka_unit_test(test_a_prior_within_its_limits_stays_as_it_is),
		cmocka_unit_test(test_every_candidate_keeps_a_tenth_of_the_uniform_prior),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
