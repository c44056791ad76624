/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/random.h"

enum { DRAWS = 200000 };

static void test_the_same_seed_gives_the_same_numbers(void **state)
{
	(void)state;
	double first[4];
	random_seed(7);
	for (size_t i = 0; i < 4; i++)
		first[i] = random_uniform() + random_normal() + random_t(4);
	random_seed(7);
	for (size_t i = 0; i < 4; i++)
		assert_true(first[i] == random_uniform() + random_normal() + random_t(4));
	random_seed(8);
	assert_true(first[0] != random_uniform() + random_normal() + random_t(4));
}

static void test_seeds_of_neighbouring_parts_have_nothing_in_common(void **state)
{
	(void)state;
	size_t equal_bits = 0;
	for (uint64_t part = 0; part < 1000; part++)
		equal_bits += (size_t)__builtin_popcountll(
			~(random_mix(7, part) ^ random_mix(7, part + 1)));
	assert_close((double)equal_bits / 1000, 32, 0.5);
	assert_true(random_mix(1, 0) != random_mix(0, 1));
}

static void test_normal_numbers_have_mean_0_and_variance_1(void **state)
{
	(void)state;
	double sum = 0;
	double squares = 0;
	random_seed(1);
	for (size_t i = 0; i < DRAWS; i++) {
		double value = random_normal();
		sum += value;
		squares += value * value;
	}
	assert_close(sum / DRAWS, 0, 0.01);
	assert_close(squares / DRAWS, 1, 0.015);
}

static void test_a_number_of_a_key_depends_on_the_key_alone(void **state)
{
	(void)state;
	double sum = 0;
	double squares = 0;
	random_seed(1);
	double next = random_uniform();
	random_seed(1);
	for (uint64_t key = 0; key < DRAWS; key++) {
		double value = random_normal_of(key);
		sum += value;
		squares += value * value;
	}
	assert_true(random_uniform() == next);
	assert_true(random_normal_of(5) == random_normal_of(5));
	assert_close(sum / DRAWS, 0, 0.01);
	assert_close(squares / DRAWS, 1, 0.015);
}

static void test_whole_numbers_below_a_limit_are_all_alike(void **state)
{
	(void)state;
	size_t seen[7] = {0};
	random_seed(1);
	for (size_t i = 0; i < 70000; i++)
		seen[random_below(7)]++;
	/* 5 standard deviations of a count with mean 10000. */
	for (size_t i = 0; i < 7; i++)
		assert_close((double)seen[i], 10000, 463);
	assert_int_equal(random_below(1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_seed_gives_the_same_numbers),
		cmocka_unit_test(test_seeds_of_neighbouring_parts_have_nothing_in_common),
		cmocka_unit_test(test_normal_numbers_have_mean_0_and_variance_1),
		cmocka_unit_test(test_a_number_of_a_key_depends_on_the_key_alone),
		cmocka_unit_test(test_whole_numbers_below_a_limit_are_all_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
