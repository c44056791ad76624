/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include <math.h>
#include <stdlib.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/* Information counts only from this share of what a boot tells when both sides are as likely. */
#define WORTHWHILE_SHARE 0.01
/* Two options closer than this are the same: sums in another order must not decide. */
#define TIE 1e-9
/* Beyond this distance a boot tells everything. */
#define DISTANCE_LIMIT 12.0
/* The trapezoid rule converges exponentially here: with this step to about 1e-7 bits. */
#define INTEGRATION_STEP 0.25
#define INTEGRATION_MARGIN 7.0 /* standard deviations beyond both outputs */

static double entropy_bits(double probability)
{
	return probability > 0 ? -probability * log2(probability) : 0;
}

static double open_bits(double probability)
{
	return entropy_bits(probability) + entropy_bits(1 - probability);
}

double search_information(double bad_probability, double distance)
{
	double q = fmin(bad_probability, 1 - bad_probability);
	if (q <= 0 || distance <= 0 || distance >= DISTANCE_LIMIT)
		return q <= 0 || distance <= 0 ? 0 : open_bits(q);
	/* What stays open: the entropy of the side given the output y, averaged over y. */
	double left = 0;
	for (double y = -INTEGRATION_MARGIN; y < distance + INTEGRATION_MARGIN;
	     y += INTEGRATION_STEP) {
		double good = (1 - q) * exp(-y * y / 2);
		double bad = q * exp(-(y - distance) * (y - distance) / 2);
		double density = good + bad;
		if (density > 0)
			left += density * open_bits(bad / density);
	}
	return fmax(0, open_bits(q) - left * INTEGRATION_STEP / sqrt(2 * M_PI));
}

/* The best option so far. */
struct contest {
	const struct search_evidence *evidence;
	const struct search_belief *belief;
	const struct search_price *price;
	double step;
	double most_bits;
	double best_rate; /* bits for the price */
	struct search_choice choice;
};

/* What one more boot adds to BOOTS of one build: the squared distances add up. */
static double distance_of_boot(const struct contest *contest, double boots)
{
	double layout = contest->evidence->layout_deviation * contest->evidence->layout_deviation;
	double boot = contest->evidence->deviation * contest->evidence->deviation;
	double before = boots > 0 ? 1 / (layout + boot / boots) : 0;
	return contest->step * sqrt(fmax(0, 1 / (layout + boot / (boots + 1)) - before));
}

static void consider(struct contest *contest, size_t commit, size_t layout, double boots,
		     bool built)
{
	double price = contest->price->boot + (built ? 0 : contest->price->build);
	double q = contest->belief->bad_probability[commit];
	double distance = distance_of_boot(contest, boots);
	/* No boot tells more than there is to tell. */
	if (open_bits(q) <= contest->best_rate * price * (1 + TIE))
		return;
	double bits = search_information(q, distance);
	contest->most_bits = fmax(contest->most_bits, bits);
	if (bits <= contest->best_rate * price * (1 + TIE))
		return;
	contest->best_rate = bits / price;
	contest->choice = (struct search_choice){commit, layout, distance};
}

/* What was booted already: once more, or another build of it. */
static void consider_entities(struct contest *contest)
{
	const struct search_evidence *evidence = contest->evidence;
	for (size_t i = 0; i < evidence->entity_count; i++) {
		const struct search_entity *entity = &evidence->entities[i];
		bool last = i + 1 == evidence->entity_count ||
			    evidence->entities[i + 1].commit != entity->commit;
		if (evidence->untestable[entity->commit])
			continue;
		consider(contest, entity->commit, entity->layout, entity->weight, true);
		if (last && evidence->layout_deviation > 0 &&
		    entity->layout + 1 < contest->price->layouts)
			consider(contest, entity->commit, entity->layout + 1, 0, false);
	}
}

static double openness(const struct contest *contest, size_t commit)
{
	double q = contest->belief->bad_probability[commit];
	return fmin(q, 1 - q);
}

/*
 * Of commits that cost the same and have no boots, the one whose side is most open tells most. One
 * pass finds the best with and without a build at hand.
 */
static void consider_untested(struct contest *contest, const bool *barred, size_t count)
{
	const bool *built = contest->price->built;
	size_t best[2];
	double most[2] = {0, 0};
	for (size_t commit = 0; commit < count; commit++) {
		double open = openness(contest, commit);
		bool at_hand = built && built[commit];
		if (open <= most[at_hand] + TIE || barred[commit])
			continue;
		most[at_hand] = open;
		best[at_hand] = commit;
	}
	for (int at_hand = 1; at_hand >= 0; at_hand--)
		if (most[at_hand] > 0)
			consider(contest, best[at_hand], 0, 0, at_hand);
}

/* Untestable, booted already, or known to have the image of one that was. */
static void bar(const struct commit_graph *graph, const struct search_evidence *evidence,
		bool *barred)
{
	size_t count = commit_graph_count(graph);
	for (size_t commit = 0; commit < count; commit++)
		barred[commit] = evidence->untestable[commit];
	for (size_t i = 0; i < evidence->entity_count; i++)
		barred[evidence->entities[i].commit] = true;
	if (!evidence->same_count)
		return;
	auto_free size_t *image = memory_array(count, sizeof(*image));
	auto_free bool *booted = memory_array(count, sizeof(*booted));
	search_images(graph, evidence, image);
	for (size_t i = 0; i < evidence->entity_count; i++)
		booted[image[evidence->entities[i].commit]] = true;
	for (size_t commit = 0; commit < count; commit++)
		barred[commit] |= booted[image[commit]];
}

bool search_next(const struct commit_graph *graph, const struct search_evidence *evidence,
		 const struct search_belief *belief, const struct search_price *price,
		 struct search_choice *ret_choice)
{
	size_t count = commit_graph_count(graph);
	auto_free bool *barred = memory_array(count, sizeof(*barred));
	struct contest contest = {
		.evidence = evidence,
		.belief = belief,
		.price = price,
		.step = search_step(belief),
	};
	bar(graph, evidence, barred);
	consider_untested(&contest, barred, count);
	consider_entities(&contest);
	double open_case = search_information(0.5, distance_of_boot(&contest, 0));
	if (contest.most_bits < WORTHWHILE_SHARE * open_case)
		return false;
	*ret_choice = contest.choice;
	return true;
}
