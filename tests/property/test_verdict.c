/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/robust.h"
#include "bench/verdict.h"

/* Seeded random worlds: raw seconds, boot and iteration noise with heavy tails, the whole rule. */

#define WORLDS 2000
#define ITERATIONS 5
#define BASELINE_BOOTS 5
#define NIGHT_BOOTS 3
#define PAIRS 6
#define BOOT_NOISE 0.005
#define ITERATION_NOISE 0.005

static const struct verdict_rule nightly_rule = {.alpha = 0.01, .minimum_effect_percent = 1};
static const struct verdict_rule retest_rule = {.alpha = 0.001, .minimum_effect_percent = 1};

struct world {
	uint64_t random;
	double seconds;    /* of an iteration of the baseline kernel */
	double step;       /* of tonight's kernel, log scale */
	double boot_noise; /* log scale */
	double iteration_noise;
	double outliers; /* share of iterations that take half as long again */
};

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(struct world *world)
{
	uint64_t z = world->random += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* In (0, 1). */
static double uniform(struct world *world)
{
	return ((double)(next_random(world) >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(struct world *world)
{
	double radius = sqrt(-2 * log(uniform(world)));
	return radius * cos(2 * M_PI * uniform(world));
}

/* Student's t with 5 degrees, scaled to variance 1. */
static double heavy(struct world *world)
{
	double squares = 0;
	double value = gauss(world);
	for (int i = 0; i < 5; i++) {
		double part = gauss(world);
		squares += part * part;
	}
	return value / sqrt(squares / 5) * sqrt(3.0 / 5);
}

static struct world make_world(uint64_t seed)
{
	return (struct world){
		.random = seed * 0x2545f4914f6cdd1d + 1,
		.seconds = 0.27,
		.boot_noise = BOOT_NOISE,
		.iteration_noise = ITERATION_NOISE,
		.outliers = 0.01,
	};
}

/* One boot in raw seconds, as a benchmark would print them. */
static void run_boot(struct world *world, double step, double seconds[static ITERATIONS])
{
	double boot = step + world->boot_noise * heavy(world);
	for (int i = 0; i < ITERATIONS; i++) {
		double noise = world->iteration_noise * gauss(world);
		double outlier = uniform(world) < world->outliers ? 1.5 : 1;
		seconds[i] = world->seconds * exp(boot + noise) * outlier;
	}
}

struct raw {
	double baseline[BASELINE_BOOTS][ITERATIONS];
	double night[NIGHT_BOOTS][ITERATIONS];
	double pair_baseline[PAIRS][ITERATIONS];
	double pair_night[PAIRS][ITERATIONS];
};

static void measure(struct world *world, struct raw *raw)
{
	for (int i = 0; i < BASELINE_BOOTS; i++)
		run_boot(world, 0, raw->baseline[i]);
	for (int i = 0; i < NIGHT_BOOTS; i++)
		run_boot(world, world->step, raw->night[i]);
	for (int i = 0; i < PAIRS; i++) {
		run_boot(world, 0, raw->pair_baseline[i]);
		run_boot(world, world->step, raw->pair_night[i]);
	}
}

static void boot_values(double boots[][ITERATIONS], size_t count, double factor, double *values)
{
	for (size_t i = 0; i < count; i++) {
		double badness[ITERATIONS];
		for (int k = 0; k < ITERATIONS; k++)
			badness[k] = stats_badness(factor * boots[i][k], false);
		values[i] = verdict_boot_value(badness, ITERATIONS, 0);
	}
}

/* Both stages on raw numbers that are multiplied by FACTOR; SWAPPED exchanges the kernels. */
static void judge(struct raw *raw, double factor, bool swapped, struct verdict *stage1,
		  struct verdict *stage2)
{
	double baseline[BASELINE_BOOTS];
	double night[NIGHT_BOOTS];
	double pair_baseline[PAIRS];
	double pair_night[PAIRS];
	boot_values(raw->baseline, BASELINE_BOOTS, factor, baseline);
	boot_values(raw->night, NIGHT_BOOTS, factor, night);
	boot_values(raw->pair_baseline, PAIRS, factor, pair_baseline);
	boot_values(raw->pair_night, PAIRS, factor, pair_night);
	if (swapped)
		verdict_stage1(night, NIGHT_BOOTS, baseline, BASELINE_BOOTS, &nightly_rule, stage1);
	else
		verdict_stage1(baseline, BASELINE_BOOTS, night, NIGHT_BOOTS, &nightly_rule, stage1);
	*stage2 = *stage1;
	if (stage1->state != VERDICT_FLAGGED)
		return;
	struct verdict_pair pairs[PAIRS];
	for (size_t i = 0; i < PAIRS; i++)
		pairs[i] = (struct verdict_pair){
			.baseline = swapped ? pair_night[i] : pair_baseline[i],
			.head = swapped ? pair_baseline[i] : pair_night[i],
		};
	struct verdict_noise noise = {
		.deviation = stage1->deviation, .degrees = stage1->degrees, .layout_degrees = 20};
	verdict_stage2(pairs, PAIRS, stage1->change, &noise, &retest_rule, stage2);
}

static enum verdict_state judge_world(struct world *world)
{
	struct raw raw;
	struct verdict stage1;
	struct verdict stage2;
	measure(world, &raw);
	judge(&raw, 1, false, &stage1, &stage2);
	return stage2.state;
}

static int count_worlds(double step, double boot_noise, double iteration_noise, double outliers,
			enum verdict_state wanted)
{
	int count = 0;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		struct world world = make_world(seed);
		world.step = step;
		world.boot_noise = boot_noise;
		world.iteration_noise = iteration_noise;
		world.outliers = outliers;
		count += judge_world(&world) == wanted;
	}
	return count;
}

static double boot_deviation(void)
{
	return sqrt(BOOT_NOISE * BOOT_NOISE + ITERATION_NOISE * ITERATION_NOISE / ITERATIONS);
}

static void test_a_change_of_unit_changes_nothing(void **state)
{
	static const double factors[] = {1e-9, 0.001, 7, 1e6};
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct world world = make_world(seed);
		struct raw raw;
		struct verdict stage1[2];
		struct verdict stage2[2];
		world.step = seed % 2 ? 0.01 : 0.03;
		measure(&world, &raw);
		judge(&raw, 1, false, &stage1[0], &stage2[0]);
		judge(&raw, factors[seed % 4], false, &stage1[1], &stage2[1]);
		assert_int_equal(stage1[0].state, stage1[1].state);
		assert_int_equal(stage2[0].state, stage2[1].state);
		assert_close(stage2[0].change, stage2[1].change, 1e-9);
		assert_close(stage2[0].threshold, stage2[1].threshold, 1e-9);
		assert_close(stage2[0].p_value, stage2[1].p_value, 1e-6);
	}
}

static void test_swapping_the_kernels_mirrors_the_verdict(void **state)
{
	static const enum verdict_state mirror[] = {
		[VERDICT_UNCHANGED] = VERDICT_UNCHANGED,
		[VERDICT_FLAGGED] = VERDICT_FLAGGED,
		[VERDICT_REGRESSION] = VERDICT_IMPROVEMENT,
		[VERDICT_IMPROVEMENT] = VERDICT_REGRESSION,
		[VERDICT_NOT_REPEATED] = VERDICT_NOT_REPEATED,
	};
	int moved = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct world world = make_world(seed);
		struct raw raw;
		struct verdict stage1[2];
		struct verdict stage2[2];
		world.step = 0.05 * (uniform(&world) - 0.5);
		measure(&world, &raw);
		judge(&raw, 1, false, &stage1[0], &stage2[0]);
		judge(&raw, 1, true, &stage1[1], &stage2[1]);
		assert_int_equal(stage2[1].state, mirror[stage2[0].state]);
		assert_close(stage1[1].change, -stage1[0].change, 1e-12);
		assert_close(stage1[1].threshold, stage1[0].threshold, 1e-12);
		assert_close(stage2[1].change, -stage2[0].change, 1e-12);
		assert_close(stage2[1].p_value, stage2[0].p_value, 1e-9);
		moved += stage2[0].state == VERDICT_REGRESSION;
	}
	assert_in_range(moved, 40, 250);
}

static void test_the_first_stage_errs_as_often_as_it_says(void **state)
{
	const int worlds = 20000;
	int flagged = 0;
	struct verdict_rule rule = {.alpha = 0.01, .minimum_effect_percent = 0};
	(void)state;
	for (int seed = 1; seed <= worlds; seed++) {
		struct world world = make_world((uint64_t)seed);
		double boots[8];
		struct verdict verdict;
		for (int i = 0; i < 8; i++)
			boots[i] = gauss(&world);
		verdict_stage1(boots, 5, boots + 5, 3, &rule, &verdict);
		flagged += verdict.state == VERDICT_FLAGGED;
	}
	/* Two sides of 1 % each: 400 expected, standard error 20; Huber locations add a little. */
	assert_in_range(flagged, 330, 500);
}

static void test_the_rolling_baseline_errs_as_often_as_it_says_at_any_age(void **state)
{
	static const size_t ages[] = {8, 20, 40};
	const int worlds = 20000;
	struct verdict_rule rule = {
		.alpha = 0.01, .minimum_effect_percent = 0, .deviation_floor = 1e-6};
	(void)state;
	for (size_t age = 0; age < sizeof(ages) / sizeof(ages[0]); age++) {
		int flagged = 0;
		for (int seed = 1; seed <= worlds; seed++) {
			struct world world = make_world((uint64_t)seed);
			double nights[41];
			struct verdict verdict;
			for (size_t i = 0; i <= ages[age]; i++)
				nights[i] = gauss(&world);
			verdict_stage1_nights(nights, ages[age], nights[ages[age]], 3, &rule,
					      &verdict);
			flagged += verdict.state == VERDICT_FLAGGED;
		}
		/* Two sides of 1 % each: 400 expected; a window of 8 is off by a third. */
		assert_in_range(flagged, 260, 620);
	}
}

static void test_without_a_step_the_whole_rule_hardly_ever_alarms(void **state)
{
	(void)state;
	assert_true(count_worlds(0, BOOT_NOISE, ITERATION_NOISE, 0.01, VERDICT_REGRESSION) <
		    WORLDS / 100);
	assert_true(count_worlds(0, 4 * BOOT_NOISE, ITERATION_NOISE, 0.01, VERDICT_REGRESSION) <
		    WORLDS / 100);
}

static void test_a_step_of_ten_deviations_is_found(void **state)
{
	double step = 10 * boot_deviation();
	(void)state;
	assert_true(count_worlds(step, BOOT_NOISE, ITERATION_NOISE, 0.01, VERDICT_REGRESSION) >
		    WORLDS * 99 / 100);
	assert_true(count_worlds(-step, BOOT_NOISE, ITERATION_NOISE, 0.01, VERDICT_IMPROVEMENT) >
		    WORLDS * 99 / 100);
}

static void test_series_without_variance_are_decided_by_the_minimum_effect(void **state)
{
	(void)state;
	assert_int_equal(count_worlds(log(1.1), 0, 0, 0, VERDICT_REGRESSION), WORLDS);
	assert_int_equal(count_worlds(0, 0, 0, 0, VERDICT_UNCHANGED), WORLDS);
	assert_int_equal(count_worlds(log(1.009), 0, 0, 0, VERDICT_UNCHANGED), WORLDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_change_of_unit_changes_nothing),
		cmocka_unit_test(test_swapping_the_kernels_mirrors_the_verdict),
		cmocka_unit_test(test_the_first_stage_errs_as_often_as_it_says),
		cmocka_unit_test(test_the_rolling_baseline_errs_as_often_as_it_says_at_any_age),
		cmocka_unit_test(test_without_a_step_the_whole_rule_hardly_ever_alarms),
		cmocka_unit_test(test_a_step_of_ten_deviations_is_found),
		cmocka_unit_test(test_series_without_variance_are_decided_by_the_minimum_effect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
