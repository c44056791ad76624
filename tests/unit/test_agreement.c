/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <stdbool.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include "bench/verdict.h"
#include "bisect/search.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"

/* Our statistics against the GNU Scientific Library's, which shares no code with them. */

enum { SAMPLES = 200, LENGTH_LIMIT = 40 };

#define AGREEMENT 1e-9

struct sample {
	double values[LENGTH_LIMIT];
	double weights[LENGTH_LIMIT];
	size_t count;
	double scale;
};

static struct sample draw(gsl_rng *random)
{
	struct sample sample = {.count = 3 + gsl_rng_uniform_int(random, LENGTH_LIMIT - 2),
				.scale = 0.1 + gsl_rng_uniform(random)};
	for (size_t i = 0; i < sample.count; i++) {
		bool wild = gsl_rng_uniform(random) < 0.1;
		sample.values[i] = 7 + gsl_ran_gaussian(random, wild ? 30 : 1);
		sample.weights[i] = 0.2 + gsl_rng_uniform(random);
	}
	return sample;
}

static void test_tails_and_quantiles(void **state)
{
	(void)state;
	static const double degrees[] = {1, 2, 3.5, 8, 19, 40, 1000};
	static const double alphas[] = {0.4, 0.05, 0.01, 0.001, 1e-5};
	for (size_t i = 0; i < array_length(degrees); i++) {
		for (size_t j = 0; j < array_length(alphas); j++) {
			double quantile = gsl_cdf_tdist_Qinv(alphas[j], degrees[i]);
			assert_close(distribution_t_quantile_upper(alphas[j], degrees[i]) /
					     quantile,
				     1, AGREEMENT);
		}
		for (double x = -6; x < 40; x += 0.37) {
			assert_close(distribution_t_upper(x, degrees[i]),
				     gsl_cdf_tdist_Q(x, degrees[i]), AGREEMENT);
			assert_close(distribution_chi_square_upper(fabs(x), degrees[i]),
				     gsl_cdf_chisq_Q(fabs(x), degrees[i]), AGREEMENT);
		}
	}
}

static void test_normal_tails(void **state)
{
	(void)state;
	for (double z = -9; z < 9; z += 0.37)
		assert_close(distribution_normal_upper(z) / gsl_cdf_ugaussian_Q(z), 1, AGREEMENT);
}

struct noncentral {
	double t;
	double degrees;
	double noncentrality;
};

/* P(T > t) when the estimated variance is X / degrees, times the density of X. */
static double beyond(double x, void *context)
{
	const struct noncentral *of = context;
	double limit = of->t * sqrt(x / of->degrees);
	return gsl_cdf_ugaussian_Q(limit - of->noncentrality) * gsl_ran_chisq_pdf(x, of->degrees);
}

/* GSL lacks this distribution: from its definition instead. */
static void test_noncentral_tails(void **state)
{
	(void)state;
	static const double degrees[] = {3, 7, 19, 44};
	gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
	for (size_t i = 0; i < array_length(degrees); i++)
		for (double t = 0.5; t < 8; t += 0.9)
			for (double shift = 0; shift < 30; shift += 1.7) {
				struct noncentral of = {t, degrees[i], shift};
				gsl_function function = {.function = beyond, .params = &of};
				double probability;
				double error;
				gsl_integration_qagiu(&function, 0, 1e-12, 1e-11, 1000, work,
						      &probability, &error);
				assert_close(distribution_noncentral_t_upper(t, degrees[i], shift),
					     probability, AGREEMENT);
			}
	gsl_integration_workspace_free(work);
}

/* Of two boots Huber's location is the mean, and stage 1 is the two-sample t-test. */
static void test_the_young_baseline_s_test(void **state)
{
	gsl_rng *random = *state;
	struct verdict_rule rule = {.alpha = 0.01};
	for (int i = 0; i < SAMPLES; i++) {
		struct sample a = draw(random);
		struct sample b = draw(random);
		struct verdict verdict;
		verdict_stage1(a.values, 2, b.values, 2, &rule, &verdict);
		double t = gsl_stats_ttest(b.values, 1, 2, a.values, 1, 2);
		assert_close(verdict.p_value, gsl_cdf_tdist_Q(fabs(t), 2), AGREEMENT);
		assert_close(verdict.threshold * t / verdict.change,
			     gsl_cdf_tdist_Qinv(rule.alpha, 2), 1e-7);
	}
}

/* The sum of psi, whose root is Huber's location. */
static double psi_sum(double location, void *context)
{
	const struct sample *sample = context;
	double sum = 0;
	for (size_t i = 0; i < sample->count; i++) {
		double unit = sample->scale / sqrt(sample->weights[i]);
		double residual = (sample->values[i] - location) / unit;
		sum += GSL_MAX_DBL(-1.5, GSL_MIN_DBL(1.5, residual)) / unit;
	}
	return sum;
}

static double root_of_psi(struct sample *sample)
{
	gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
	gsl_function function = {.function = psi_sum, .params = sample};
	gsl_root_fsolver_set(solver, &function, -200, 200);
	for (int i = 0; i < 500; i++) {
		gsl_root_fsolver_iterate(solver);
		if (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver),
					   gsl_root_fsolver_x_upper(solver), 1e-13,
					   0) == GSL_SUCCESS)
			break;
	}
	double root = gsl_root_fsolver_root(solver);
	gsl_root_fsolver_free(solver);
	return root;
}

/* Where every value is clipped the root is an interval, and any point of it will do. */
static void assert_location(struct sample *sample, double location)
{
	bool unique = false;
	for (size_t i = 0; i < sample->count; i++)
		unique |= fabs(sample->values[i] - location) * sqrt(sample->weights[i]) <
			  1.5 * sample->scale;
	assert_close(psi_sum(location, sample), 0, AGREEMENT);
	if (unique)
		assert_close(location, root_of_psi(sample), AGREEMENT);
}

static void test_huber_locations(void **state)
{
	gsl_rng *random = *state;
	for (int i = 0; i < SAMPLES; i++) {
		struct sample sample = draw(random);
		assert_location(&sample, stats_huber_weighted(sample.values, sample.weights,
							      sample.count, sample.scale));
		for (size_t j = 0; j < sample.count; j++)
			sample.weights[j] = 1;
		assert_location(&sample, stats_huber(sample.values, sample.count, sample.scale));
	}
}

static void test_means_deviations_and_medians(void **state)
{
	gsl_rng *random = *state;
	for (int i = 0; i < SAMPLES; i++) {
		struct sample sample = draw(random);
		double work[LENGTH_LIMIT];
		double sorted[LENGTH_LIMIT];
		memcpy(sorted, sample.values, sizeof(sorted));
		gsl_sort(sorted, 1, sample.count);
		assert_close(stats_mean(sample.values, sample.count),
			     gsl_stats_mean(sample.values, 1, sample.count), AGREEMENT);
		assert_close(stats_deviation(sample.values, sample.count),
			     gsl_stats_sd(sample.values, 1, sample.count), AGREEMENT);
		assert_close(stats_median(sample.values, sample.count),
			     gsl_stats_median_from_sorted_data(sorted, 1, sample.count), AGREEMENT);
		/* GSL knows the consistency factor to more digits than are customary. */
		assert_close(stats_median_deviation(sample.values, sample.count) / 1.4826,
			     gsl_stats_mad0(sample.values, 1, sample.count, work), AGREEMENT);
	}
}

static void test_pooled_deviations(void **state)
{
	gsl_rng *random = *state;
	for (int i = 0; i < SAMPLES; i++) {
		struct sample a = draw(random);
		struct sample b = draw(random);
		struct pooled pooled = {0};
		pooled_add(&pooled, a.values, a.count);
		pooled_add(&pooled, b.values, b.count);
		double variance = gsl_stats_pvariance(a.values, 1, a.count, b.values, 1, b.count);
		assert_close(pooled_deviation(&pooled), sqrt(variance), AGREEMENT);
	}
}

struct channel {
	double q;
	double distance;
};

static double open_nats(double p)
{
	return p > 0 && p < 1 ? -p * log(p) - (1 - p) * log(1 - p) : 0;
}

static double left_open(double y, void *context)
{
	const struct channel *channel = context;
	double good = (1 - channel->q) * gsl_ran_ugaussian_pdf(y);
	double bad = channel->q * gsl_ran_ugaussian_pdf(y - channel->distance);
	return good + bad > 0 ? (good + bad) * open_nats(bad / (good + bad)) : 0;
}

/* Ours is a coarse rule that is made for speed: it promises 1e-6 bits, not the last digit. */
static void test_the_information_of_a_boot(void **state)
{
	(void)state;
	gsl_integration_workspace *work = gsl_integration_workspace_alloc(1000);
	for (double q = 0.01; q <= 0.5; q += 0.07)
		for (double distance = 0.2; distance < 8; distance += 0.9) {
			struct channel channel = {q, distance};
			gsl_function function = {.function = left_open, .params = &channel};
			double left;
			double error;
			gsl_integration_qags(&function, -9, distance + 9, 1e-12, 1e-10, 1000, work,
					     &left, &error);
			assert_close(search_information(q, distance), (open_nats(q) - left) / M_LN2,
				     1e-6);
		}
	gsl_integration_workspace_free(work);
}

static int set_up(void **state)
{
	gsl_set_error_handler_off();
	*state = gsl_rng_alloc(gsl_rng_mt19937);
	return 0;
}

static int tear_down(void **state)
{
	gsl_rng_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tails_and_quantiles),
		cmocka_unit_test(test_normal_tails),
		cmocka_unit_test(test_noncentral_tails),
		cmocka_unit_test(test_the_young_baseline_s_test),
		cmocka_unit_test(test_huber_locations),
		cmocka_unit_test(test_means_deviations_and_medians),
		cmocka_unit_test(test_pooled_deviations),
		cmocka_unit_test(test_the_information_of_a_boot),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
