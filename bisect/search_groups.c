/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/* A commit this much less likely than its group has boots of its own that speak for it. */
#define NEGLIGIBLE 0.01

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

/* On a line the untestable commits before a testable one are told from all but that one. */
static void group_line(const struct search_evidence *evidence, size_t count, size_t *ret_group)
{
	size_t witness = count - 1;
	for (size_t commit = count; commit-- > 0;) {
		if (!evidence->untestable[commit])
			witness = commit;
		ret_group[commit] = witness;
	}
}

static void group_graph(const struct commit_graph *graph, const struct search_evidence *evidence,
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

void search_groups(const struct commit_graph *graph, const struct search_evidence *evidence,
		   size_t *ret_group)
{
	if (commit_graph_is_line(graph))
		group_line(evidence, commit_graph_count(graph), ret_group);
	else
		group_graph(graph, evidence, ret_group);
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
