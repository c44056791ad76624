/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/simulate/fano.h"

/* The table of STATISTICS 2; distances are the SNR over the square root of 1.2. */
static void test_the_bound_is_that_of_the_study(void **state)
{
	(void)state;
	static const size_t commits[] = {16, 128, 1024, 10000};
	static const struct {
		double snr;
		double boots[4];
	} rows[] = {
		{0.5, {106.1, 187.4, 268.6, 357.6}}, {1, {28.4, 50.2, 72.0, 95.8}},
		{2, {9.0, 16.0, 22.9, 30.5}},        {3, {5.5, 9.8, 14.0, 18.7}},
		{5, {4.1, 7.2, 10.3, 13.7}},         {10, {3.9, 6.8, 9.8, 13.1}},
	};
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++)
		for (size_t i = 0; i < 4; i++)
			assert_close(fano_boots(commits[i], rows[row].snr / sqrt(1.2)),
				     rows[row].boots[i], 0.003 * rows[row].boots[i] + 0.05);
}

static void test_without_noise_a_boot_tells_a_bit(void **state)
{
	(void)state;
	assert_close(fano_boots(1024, INFINITY), 0.99 * 10 - 0.0808, 1e-4);
}

static void test_two_ends_that_are_parent_and_child_need_a_boot_at_most(void **state)
{
	(void)state;
	double boots = fano_boots(2, INFINITY);
	assert_true(boots >= 0 && boots <= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_bound_is_that_of_the_study),
		cmocka_unit_test(test_without_noise_a_boot_tells_a_bit),
		cmocka_unit_test(test_two_ends_that_are_parent_and_child_need_a_boot_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
