/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_SEARCH_H
#define SENTINEL_BISECT_SEARCH_H

/*
 * Where is the step? A posterior over the candidates from noisy boot values, and the commit whose
 * next boot tells most. One step is assumed; every boot of every commit counts. Pure.
 *
 * The model. Hypothesis K: "K is the culprit"; then a commit is on the bad side exactly when K is
 * the commit itself or one of its ancestors. A commit with n boots is known by the Huber mean z of
 * their values; around the level mu of its side z follows a t distribution with 6 n degrees and
 * variance s^2 / n, so that a single wild boot convinces nobody. The two levels are integrated out
 * by Gauss-Hermite quadrature around weighted means of everything measured.
 */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/commit_graph.h"

/* What is known so far. All arrays have commit_graph_count elements unless said. */
struct search_evidence {
	const double *const *values; /* boot values of each commit; log scale, more is worse */
	const size_t *value_counts;
	const bool *excluded;   /* cannot be the culprit: cannot change the image */
	const bool *untestable; /* does not build or boot: never measured, keeps its probability */
	/* Pairs of commits with the same image: both lie on the same side of the step. */
	const size_t (*same)[2];
	size_t same_count;
	double deviation;    /* standard deviation of one boot value; > 0 */
	double minimum_step; /* log scale: levels closer than this are not a step; > 0 */
};

/*
 * Marks who can be the culprit: the ancestors of the last commit but commit 0, without the excluded
 * and without those that would put two commits with the same image on different sides. Returns
 * their number.
 */
size_t search_candidates(const struct commit_graph *graph, const struct search_evidence *evidence,
			 bool *ret_candidate);

/* ret_image[c]: the first commit that is known to have the image of c, over any chain of pairs. */
void search_images(const struct commit_graph *graph, const struct search_evidence *evidence,
		   size_t *ret_image);

/* The first testable commit that holds COMMIT; the number of commits when there is none. */
size_t search_witness(const struct commit_graph *graph, const struct search_evidence *evidence,
		      size_t commit);

/*
 * ret_group[c] is equal for commits that no testable commit tells apart: each testable commit holds
 * all of them or none. A group has at most one testable member.
 */
void search_groups(const struct commit_graph *graph, const struct search_evidence *evidence,
		   size_t *ret_group);

/*
 * ret_probability[K] = P(K is the culprit | evidence); sums to 1 over the candidates and is 0
 * elsewhere. ret_bad_probability[c] = P(c lies on the bad side). ret_step: estimated bad level -
 * good level, at least minimum_step. Both ends need a value; without, the candidates are equally
 * likely. -1 with ERROR_STATE when no candidate is left.
 */
int search_posterior(const struct commit_graph *graph, const struct search_evidence *evidence,
		     double *ret_probability, double *ret_bad_probability, double *ret_step,
		     struct error *err);

/*
 * What one boot tells, in bits, about a commit that is bad with BAD_PROBABILITY: the mutual
 * information through a channel with two Gaussian outputs DISTANCE standard deviations apart.
 */
double search_information(double bad_probability, double distance);

/*
 * The commit whose next boot is expected to tell most; the first one among equals. Never one that
 * is untestable, nor one whose image has been measured under another commit. False when no boot
 * tells as much as a hundredth of what a boot of an open case would.
 */
bool search_next(const struct commit_graph *graph, const struct search_evidence *evidence,
		 const double *bad_probability, double step, size_t *ret_commit);

/*
 * Marks the group of candidates that holds most of the probability (see search_groups) and returns
 * its size. A member that is a hundred times less likely than another is left out: it had boots
 * before it became untestable. ret_probability: of the marked ones together.
 */
size_t search_suspects(const struct commit_graph *graph, const struct search_evidence *evidence,
		       const double *probability, bool *ret_member, double *ret_probability);

/*
 * Marks the smallest set of candidates that holds the probability WANTED, the likeliest first;
 * a group goes in together, but for members left out as above. Returns its size.
 */
size_t search_credible_set(const struct commit_graph *graph, const struct search_evidence *evidence,
			   const double *probability, double wanted, bool *ret_member);

#endif
