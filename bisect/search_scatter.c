/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include <math.h>

#include "sentinel/base/distribution.h"

/* A build is on one side for certain when the other has less than this. */
#define CERTAIN 0.05
/*
 * Squared standard deviations: beyond them a build is an outlier, not a measure of scatter. Boots
 * that agree with each other are the less likely all outliers the more they are.
 */
#define WINSOR_SQUARES 9.0

struct moments {
	size_t count;
	double weights;
	double weight_squares;
	double squares; /* standardised by the boots alone */
};

static void add_entity(const struct search_evidence *evidence, const struct search_belief *belief,
		       const struct search_entity *entity, struct moments moments[2],
		       double *chi_square)
{
	double q = belief->bad_probability[entity->commit];
	if (fmin(q, 1 - q) >= CERTAIN)
		return;
	int side = q > 0.5;
	double layout = evidence->layout_deviation * evidence->layout_deviation;
	double variance = evidence->deviation * evidence->deviation / entity->weight;
	double residual = entity->location - belief->level[side];
	double square = residual * residual;
	double limit = WINSOR_SQUARES * (1 + layout / variance);
	moments[side].count++;
	moments[side].weights += 1 / variance;
	moments[side].weight_squares += 1 / (variance * variance);
	moments[side].squares += fmin(limit, square / variance);
	*chi_square += fmin(WINSOR_SQUARES * entity->weight, square / (variance + layout));
}

void search_scatter(const struct search_evidence *evidence, const struct search_belief *belief,
		    struct search_scatter *ret_scatter)
{
	struct search_scatter scatter = {0};
	struct moments moments[2] = {{0}};
	double squares = 0;
	double scale = 0;
	for (size_t i = 0; i < evidence->entity_count; i++)
		add_entity(evidence, belief, &evidence->entities[i], moments, &scatter.chi_square);
	for (int side = 0; side < 2; side++) {
		if (moments[side].count < 2)
			continue;
		scatter.degrees += (double)moments[side].count - 1;
		squares += moments[side].squares;
		scale += moments[side].weights -
			 moments[side].weight_squares / moments[side].weights;
	}
	if (scatter.degrees > 0 && scale > 0)
		scatter.layout_variance = fmax(0, (squares - scatter.degrees) / scale);
	*ret_scatter = scatter;
}

double search_one_step_chance(const struct search_scatter *scatter)
{
	if (scatter->degrees <= 0)
		return 1;
	return distribution_chi_square_upper(scatter->chi_square, scatter->degrees);
}
