/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/stats/change_point.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

enum { WINDOW = 50, SIDE = 3 };

#define CHANCE 0.001
/* Candidates pass a weaker gate first: next to a second step the first one looks weak. */
#define WEAK_CHANCE 0.01

/* Indices where a new level begins, in order. */
struct cuts {
	size_t *at;
	size_t count;
};

static double distances(const double *values, size_t a, size_t a_end, size_t b, size_t b_end)
{
	double sum = 0;
	for (size_t i = a; i < a_end; i++)
		for (size_t j = b; j < b_end; j++)
			sum += fabs(values[i] - values[j]);
	return sum;
}

/* The energy statistic of [start, cut) against [cut, end); within a side each pair counts twice. */
static double energy(const double *values, size_t start, size_t cut, size_t end)
{
	double m = (double)(cut - start);
	double n = (double)(end - cut);
	double between = 2 * distances(values, start, cut, cut, end) / (m * n);
	double left = distances(values, start, cut, start, cut) / (m * (m - 1));
	double right = distances(values, cut, end, cut, end) / (n * (n - 1));
	return m * n / (m + n) * (between - left - right);
}

/* Two-sided, of equal means with one deviation. Values that repeat exactly have no error. */
static double same_mean_chance(const double *values, size_t start, size_t cut, size_t end)
{
	struct pooled pooled = {0};
	pooled_add(&pooled, values + start, cut - start);
	pooled_add(&pooled, values + cut, end - cut);
	double change =
		fabs(stats_mean(values + cut, end - cut) - stats_mean(values + start, cut - start));
	double error = pooled_deviation(&pooled) *
		       sqrt(1 / (double)(cut - start) + 1 / (double)(end - cut));
	if (error <= 0)
		return change > 0 ? 0 : 1;
	return 2 * distribution_t_upper(change / error, (double)pooled.degrees);
}

static void add_cut(struct cuts *cuts, size_t cut)
{
	size_t place = cuts->count;
	for (size_t i = 0; i < cuts->count; i++)
		if (cuts->at[i] == cut)
			return;
	for (; place > 0 && cuts->at[place - 1] > cut; place--)
		cuts->at[place] = cuts->at[place - 1];
	cuts->at[place] = cut;
	cuts->count++;
}

/* Splits [start, end) where the energy is greatest, and both parts in turn, while a split holds. */
static void divide(const double *values, size_t start, size_t end, struct cuts *cuts)
{
	double best = -INFINITY;
	size_t cut = 0;
	for (size_t i = start + SIDE; i + SIDE <= end; i++) {
		double here = energy(values, start, i, end);
		if (here > best) {
			best = here;
			cut = i;
		}
	}
	if (!cut || same_mean_chance(values, start, cut, end) >= WEAK_CHANCE)
		return;
	add_cut(cuts, cut);
	divide(values, start, cut, cuts);
	divide(values, cut, end, cuts);
}

static struct change_point describe(const double *values, size_t count, const struct cuts *cuts,
				    size_t index)
{
	size_t start = index ? cuts->at[index - 1] : 0;
	size_t cut = cuts->at[index];
	size_t end = index + 1 < cuts->count ? cuts->at[index + 1] : count;
	return (struct change_point){
		.index = cut,
		.change = stats_mean(values + cut, end - cut) -
			  stats_mean(values + start, cut - start),
		.p_value = same_mean_chance(values, start, cut, end),
	};
}

/* Two windows may cut next to each other. */
static bool has_short_side(size_t count, const struct cuts *cuts, size_t index)
{
	size_t start = index ? cuts->at[index - 1] : 0;
	size_t end = index + 1 < cuts->count ? cuts->at[index + 1] : count;
	return cuts->at[index] - start < SIDE || end - cuts->at[index] < SIDE;
}

/* The weakest of the points that do not hold; COUNT of the cuts when all do. */
static size_t weakest(const double *values, size_t count, const struct cuts *cuts,
		      double minimum_change)
{
	size_t found = cuts->count;
	double worst = CHANCE;
	for (size_t i = 0; i < cuts->count; i++) {
		struct change_point point = describe(values, count, cuts, i);
		double p_value = point.p_value;
		if (has_short_side(count, cuts, i) || fabs(point.change) < minimum_change)
			p_value += 1; /* of these the weakest goes first, too */
		if (p_value < worst || (found < cuts->count && p_value == worst))
			continue;
		worst = p_value;
		found = i;
	}
	return found;
}

/* Taking a point out joins its sides, which changes what its neighbours stand between. */
static void merge_weak(const double *values, size_t count, double minimum_change, struct cuts *cuts)
{
	size_t weak;
	while ((weak = weakest(values, count, cuts, minimum_change)) < cuts->count) {
		for (size_t i = weak; i + 1 < cuts->count; i++)
			cuts->at[i] = cuts->at[i + 1];
		cuts->count--;
	}
}

void change_point_find(const double *values, size_t count, double minimum_change,
		       struct change_point **ret_points, size_t *ret_count)
{
	auto_free size_t *at = memory_array(count, sizeof(*at));
	struct cuts cuts = {.at = at};
	/* Windows overlap by half, so that a step at the rim of one lies inside another. */
	for (size_t start = 0; start == 0 || start + WINDOW / 2 < count; start += WINDOW / 2)
		divide(values, start, start + WINDOW < count ? start + WINDOW : count, &cuts);
	merge_weak(values, count, minimum_change, &cuts);
	*ret_points = memory_array(cuts.count, sizeof(**ret_points));
	*ret_count = cuts.count;
	for (size_t i = 0; i < cuts.count; i++)
		(*ret_points)[i] = describe(values, count, &cuts, i);
}
