/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/commit_graph.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

enum { WORD_BITS = 64 };

struct commit_graph {
	size_t count;
	size_t words;         /* of one row of "contained" */
	size_t *parent_start; /* count + 1 elements: where the parents of a commit start */
	size_t *parents;
	uint64_t *contained; /* one row a commit: itself and its ancestors */
};

static int check_shape(size_t count, size_t *const *parents, const size_t *parent_counts,
		       struct error *err)
{
	if (count < 2)
		return error_set(err, ERROR_STATE, "a hunt needs two ends, not %zu commits", count);
	if (count > COMMIT_GRAPH_LIMIT)
		return error_set(err, ERROR_USAGE,
				 "%zu commits between good and bad are more than the %d that one "
				 "hunt can hold: choose ends that lie closer together",
				 count, COMMIT_GRAPH_LIMIT);
	for (size_t commit = 0; commit < count; commit++) {
		if (commit > 0 && parent_counts[commit] == 0)
			return error_set(err, ERROR_STATE, "commit %zu of the range has no parent",
					 commit);
		for (size_t i = 0; i < parent_counts[commit]; i++)
			if (parents[commit][i] >= commit)
				return error_set(err, ERROR_STATE,
						 "parent %zu does not come before its child %zu",
						 parents[commit][i], commit);
	}
	return 0;
}

static void add_commit(struct commit_graph *graph, size_t commit, const size_t *parents,
		       size_t parent_count)
{
	uint64_t *row = graph->contained + commit * graph->words;
	row[commit / WORD_BITS] |= UINT64_C(1) << (commit % WORD_BITS);
	for (size_t i = 0; i < parent_count; i++) {
		const uint64_t *inherited = graph->contained + parents[i] * graph->words;
		for (size_t word = 0; word < graph->words; word++)
			row[word] |= inherited[word];
		graph->parents[graph->parent_start[commit] + i] = parents[i];
	}
	graph->parent_start[commit + 1] = graph->parent_start[commit] + parent_count;
}

int commit_graph_create(size_t count, size_t *const *parents, const size_t *parent_counts,
			struct commit_graph **ret_graph, struct error *err)
{
	if (check_shape(count, parents, parent_counts, err))
		return -1;
	size_t edges = 0;
	for (size_t commit = 0; commit < count; commit++)
		edges += parent_counts[commit];
	struct commit_graph *graph = memory_array(1, sizeof(*graph));
	graph->count = count;
	graph->words = (count + WORD_BITS - 1) / WORD_BITS;
	graph->parent_start = memory_array(count + 1, sizeof(*graph->parent_start));
	graph->parents = memory_array(edges, sizeof(*graph->parents));
	graph->contained = memory_array(count * graph->words, sizeof(*graph->contained));
	for (size_t commit = 0; commit < count; commit++)
		add_commit(graph, commit, parents[commit], parent_counts[commit]);
	*ret_graph = graph;
	return 0;
}

void commit_graph_free(struct commit_graph **graph)
{
	if (!*graph)
		return;
	free((*graph)->parent_start);
	free((*graph)->parents);
	free((*graph)->contained);
	free(*graph);
	*graph = NULL;
}

size_t commit_graph_count(const struct commit_graph *graph)
{
	return graph->count;
}

size_t commit_graph_parent_count(const struct commit_graph *graph, size_t commit)
{
	return graph->parent_start[commit + 1] - graph->parent_start[commit];
}

size_t commit_graph_parent(const struct commit_graph *graph, size_t commit, size_t index)
{
	return graph->parents[graph->parent_start[commit] + index];
}

bool commit_graph_contains(const struct commit_graph *graph, size_t commit, size_t ancestor)
{
	uint64_t word = graph->contained[commit * graph->words + ancestor / WORD_BITS];
	return word >> (ancestor % WORD_BITS) & 1;
}

double commit_graph_sum(const struct commit_graph *graph, size_t commit, const double *weights)
{
	const uint64_t *row = graph->contained + commit * graph->words;
	double sum = 0;
	/* Ancestors come first: nothing is set beyond the commit's own word. */
	for (size_t word = 0; word <= commit / WORD_BITS; word++)
		for (uint64_t left = row[word]; left; left &= left - 1)
			sum += weights[word * WORD_BITS + (size_t)__builtin_ctzll(left)];
	return sum;
}
