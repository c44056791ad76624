/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/* Information counts only from this share of what a boot tells when both sides are as likely. */
#define WORTHWHILE_SHARE 0.01
/* Two probabilities closer than this are the same: sums in another order must not decide. */
#define TIE 1e-9
/* A commit this much less likely than its group has boots of its own that speak for it. */
#define NEGLIGIBLE 0.01
/* Beyond this distance a boot tells everything. */
#define DISTANCE_LIMIT 12.0
#define INTEGRATION_STEP 0.05
#define INTEGRATION_MARGIN 8.0 /* standard deviations beyond both outputs */

static bool sides_agree(const struct commit_graph *graph, const struct search_evidence *evidence,
			size_t culprit)
{
	for (size_t i = 0; i < evidence->same_count; i++)
		if (commit_graph_contains(graph, evidence->same[i][0], culprit) !=
		    commit_graph_contains(graph, evidence->same[i][1], culprit))
			return false;
	return true;
}

size_t search_candidates(const struct commit_graph *graph, const struct search_evidence *evidence,
			 bool *ret_candidate)
{
	size_t last = commit_graph_count(graph) - 1;
	size_t count = 0;
	for (size_t commit = 0; commit <= last; commit++) {
		ret_candidate[commit] = commit > 0 && !evidence->excluded[commit] &&
					commit_graph_contains(graph, last, commit) &&
					sides_agree(graph, evidence, commit);
		count += ret_candidate[commit];
	}
	return count;
}

void search_images(const struct commit_graph *graph, const struct search_evidence *evidence,
		   size_t *ret_image)
{
	size_t count = commit_graph_count(graph);
	for (size_t commit = 0; commit < count; commit++)
		ret_image[commit] = commit;
	for (size_t i = 0; i < evidence->same_count; i++) {
		size_t a = ret_image[evidence->same[i][0]];
		size_t b = ret_image[evidence->same[i][1]];
		size_t from = a > b ? a : b;
		size_t to = a > b ? b : a;
		for (size_t commit = from; commit < count && from != to; commit++)
			if (ret_image[commit] == from)
				ret_image[commit] = to;
	}
}

static bool told_apart(const struct commit_graph *graph, const struct search_evidence *evidence,
		       size_t a, size_t b)
{
	for (size_t commit = a < b ? a : b; commit < commit_graph_count(graph); commit++)
		if (!evidence->untestable[commit] &&
		    commit_graph_contains(graph, commit, a) !=
			    commit_graph_contains(graph, commit, b))
			return true;
	return false;
}

size_t search_witness(const struct commit_graph *graph, const struct search_evidence *evidence,
		      size_t commit)
{
	size_t witness = commit;
	while (witness < commit_graph_count(graph) &&
	       (evidence->untestable[witness] || !commit_graph_contains(graph, witness, commit)))
		witness++;
	return witness;
}

void search_groups(const struct commit_graph *graph, const struct search_evidence *evidence,
		   size_t *ret_group)
{
	size_t count = commit_graph_count(graph);
	auto_free size_t *witness = memory_array(count, sizeof(*witness));
	for (size_t commit = 0; commit < count; commit++) {
		ret_group[commit] = commit;
		if (!evidence->untestable[commit])
			continue;
		witness[commit] = search_witness(graph, evidence, commit);
		/* The only testable commit that can share the group is the first witness. */
		if (witness[commit] < count &&
		    !told_apart(graph, evidence, commit, witness[commit])) {
			ret_group[commit] = witness[commit];
			continue;
		}
		for (size_t other = 0; other < commit; other++)
			if (evidence->untestable[other] && ret_group[other] == other &&
			    witness[other] == witness[commit] &&
			    !told_apart(graph, evidence, commit, other)) {
				ret_group[commit] = other;
				break;
			}
	}
}

static double entropy_bits(double probability)
{
	return probability > 0 ? -probability * log2(probability) : 0;
}

double search_information(double bad_probability, double distance)
{
	double q = fmin(bad_probability, 1 - bad_probability);
	double both = entropy_bits(q) + entropy_bits(1 - q);
	if (q <= 0 || distance >= DISTANCE_LIMIT)
		return q <= 0 ? 0 : both;
	/* What stays open: the entropy of the side given the output y, averaged over y. */
	double left = 0;
	for (double y = -INTEGRATION_MARGIN; y < distance + INTEGRATION_MARGIN;
	     y += INTEGRATION_STEP) {
		double good = (1 - q) * exp(-y * y / 2);
		double bad = q * exp(-(y - distance) * (y - distance) / 2);
		double density = good + bad;
		if (density > 0)
			left += density *
				(entropy_bits(good / density) + entropy_bits(bad / density));
	}
	return fmax(0, both - left * INTEGRATION_STEP / sqrt(2 * M_PI));
}

static bool measured_elsewhere(const struct search_evidence *evidence, const size_t *image,
			       size_t count, size_t commit)
{
	for (size_t other = 0; other < count && evidence->same_count; other++)
		if (other != commit && image[other] == image[commit] &&
		    evidence->value_counts[other] &&
		    (other < commit || !evidence->value_counts[commit]))
			return true;
	return false;
}

bool search_next(const struct commit_graph *graph, const struct search_evidence *evidence,
		 const double *bad_probability, double step, size_t *ret_commit)
{
	size_t count = commit_graph_count(graph);
	auto_free size_t *image = memory_array(count, sizeof(*image));
	search_images(graph, evidence, image);
	/*
	 * Without a layout effect every boot has the same distance, whatever was measured before;
	 * then information only depends on, and grows with, how open the side is.
	 */
	double best = 0;
	size_t chosen = 0;
	for (size_t commit = 0; commit < count; commit++) {
		double open = fmin(bad_probability[commit], 1 - bad_probability[commit]);
		if (open > best + TIE && !evidence->untestable[commit] &&
		    !measured_elsewhere(evidence, image, count, commit)) {
			best = open;
			chosen = commit;
		}
	}
	double distance = fmax(step, evidence->minimum_step) / evidence->deviation;
	if (search_information(best, distance) <
	    WORTHWHILE_SHARE * search_information(0.5, distance))
		return false;
	*ret_commit = chosen;
	return true;
}

struct ranked {
	size_t commit;
	double probability;
};

static int likeliest_first(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;
	if (a->probability != b->probability)
		return a->probability < b->probability ? 1 : -1;
	return (a->commit > b->commit) - (a->commit < b->commit);
}

/* Adds the group of the likeliest commit; returns how many. */
static size_t add_group(size_t count, const size_t *group, const double *probability,
			size_t likeliest, bool *member, double *held)
{
	size_t added = 0;
	for (size_t commit = 0; commit < count; commit++) {
		if (group[commit] != group[likeliest] || probability[commit] <= 0 ||
		    probability[commit] < NEGLIGIBLE * probability[likeliest])
			continue;
		member[commit] = true;
		*held += probability[commit];
		added++;
	}
	return added;
}

size_t search_suspects(const struct commit_graph *graph, const struct search_evidence *evidence,
		       const double *probability, bool *ret_member, double *ret_probability)
{
	size_t count = commit_graph_count(graph);
	auto_free size_t *group = memory_array(count, sizeof(*group));
	auto_free double *held = memory_array(count, sizeof(*held));
	search_groups(graph, evidence, group);
	size_t top = 0;
	for (size_t commit = 0; commit < count; commit++) {
		held[group[commit]] += probability[commit];
		if (held[group[commit]] > held[top])
			top = group[commit];
	}
	size_t likeliest = top;
	for (size_t commit = 0; commit < count; commit++)
		if (group[commit] == top && probability[commit] > probability[likeliest])
			likeliest = commit;
	memset(ret_member, 0, count * sizeof(*ret_member));
	*ret_probability = 0;
	return add_group(count, group, probability, likeliest, ret_member, ret_probability);
}

size_t search_credible_set(const struct commit_graph *graph, const struct search_evidence *evidence,
			   const double *probability, double wanted, bool *ret_member)
{
	size_t count = commit_graph_count(graph);
	auto_free struct ranked *ranked = memory_array(count, sizeof(*ranked));
	auto_free size_t *group = memory_array(count, sizeof(*group));
	for (size_t commit = 0; commit < count; commit++)
		ranked[commit] = (struct ranked){commit, probability[commit]};
	qsort(ranked, count, sizeof(*ranked), likeliest_first);
	search_groups(graph, evidence, group);
	memset(ret_member, 0, count * sizeof(*ret_member));
	double held = 0;
	size_t size = 0;
	for (size_t i = 0; i < count && held < wanted && ranked[i].probability > 0; i++)
		if (!ret_member[ranked[i].commit])
			size += add_group(count, group, probability, ranked[i].commit, ret_member,
					  &held);
	return size;
}
