/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_SEARCH_H
#define SENTINEL_BISECT_SEARCH_H

/*
 * Where is the step? A posterior over the candidates from noisy boot values, and the boot that
 * tells most for its price. One step is assumed; every boot of every commit counts. Pure.
 *
 * The model (STATISTICS 3.3). Hypothesis K: "K is the culprit"; then a commit is on the bad side
 * exactly when K is the commit itself or one of its ancestors. One build of a commit with n boots
 * is known by the Huber mean z of their values; around the level mu of its side z follows a t
 * distribution with 6 n degrees and variance su^2 + s^2 / n, so that a single wild boot convinces
 * nobody, nor many boots of one build. The two levels are integrated out by Gauss-Hermite
 * quadrature around weighted means of everything measured.
 */

#include <stdbool.h>
#include <stddef.h>

#include "bisect/commit_graph.h"

/* One build of one commit, and what its boots say together. */
struct search_entity {
	size_t commit;
	size_t layout;
	double location; /* log scale, more is worse */
	double weight;   /* boots, each by its precision; > 0 */
	double degrees;  /* of freedom of the t distribution */
};

/* What is known so far. Arrays have commit_graph_count elements unless said. */
struct search_evidence {
	const struct search_entity *entities; /* by commit, then by layout */
	size_t entity_count;
	const bool *excluded;   /* cannot be the culprit: cannot change the image */
	const bool *untestable; /* does not build or boot: never measured, keeps its probability */
	const double *prior; /* how likely beforehand, any scale, never below 0; NULL: all alike */
	/* Pairs of commits with the same image: both lie on the same side of the step. */
	const size_t (*same)[2];
	size_t same_count;
	double deviation;        /* standard deviation of one boot value; > 0 */
	double layout_deviation; /* between builds of the same source; 0: none */
	double minimum_step;     /* log scale: levels closer than this are not a step; > 0 */
};

/* What follows from it. Owned arrays, by commit; free with search_belief_free. */
struct search_belief {
	double *probability;     /* P(it is the culprit); sums to 1 over the candidates */
	double *bad_probability; /* P(it lies on the bad side) */
	double level[2];         /* of the good and of the bad side, at least minimum_step apart */
	double level_error[2];   /* their standard errors; 0 while an end has no boot */
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

/*
 * Both ends need a boot; without, the candidates are as likely as beforehand. -1 with ERROR_STATE
 * when no candidate is left.
 */
int search_believe(const struct commit_graph *graph, const struct search_evidence *evidence,
		   struct search_belief *ret_belief, struct error *err);
void search_belief_free(struct search_belief *belief);
double search_step(const struct search_belief *belief);

/*
 * How the builds whose side is certain scatter about the levels, beyond what their boots explain
 * (DerSimonian and Laird's estimate of the variance between them, each build winsorised).
 */
struct search_scatter {
	double layout_variance;
	double degrees;    /* of freedom behind it; 0: nothing can be said */
	double chi_square; /* about the levels with the evidence's own layout deviation; each build
			      winsorised by its boots */
};
void search_scatter(const struct search_evidence *evidence, const struct search_belief *belief,
		    struct search_scatter *ret_scatter);
/* How likely chance scatters the builds as much about two levels, when there is only one step. */
double search_one_step_chance(const struct search_scatter *scatter);

/*
 * What one boot tells, in bits, about a commit that is bad with BAD_PROBABILITY: the mutual
 * information through a channel with two Gaussian outputs DISTANCE standard deviations apart.
 */
double search_information(double bad_probability, double distance);

/* What a boot costs, in any unit. */
struct search_price {
	double build;
	double boot;       /* > 0 */
	const bool *built; /* by commit: its plain build is at hand; NULL: those of the entities */
	size_t layouts;    /* builds of one commit that may be asked for; 1: the plain one only */
};

struct search_choice {
	size_t commit;
	size_t layout;
	double distance; /* of the levels, as this boot sees them, in standard deviations */
};

/*
 * The boot that is expected to tell most for its price; the first one among equals. Never one of a
 * commit that is untestable, nor of one whose image has been measured under another commit. False
 * when no boot tells as much as a hundredth of what a boot of an open case would.
 */
bool search_next(const struct commit_graph *graph, const struct search_evidence *evidence,
		 const struct search_belief *belief, const struct search_price *price,
		 struct search_choice *ret_choice);

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
