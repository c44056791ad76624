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
	uint64_t *contained; /* one row a commit: itself and its ancestors; NULL for a line */
};

static bool is_line(size_t count, size_t *const *parents, const size_t *parent_counts)
{
	for (size_t commit = 1; commit < count; commit++)
		if (parent_counts[commit] != 1 || parents[commit][0] != commit - 1)
			return false;
	return parent_counts[0] == 0;
}

static int check_shape(size_t count, size_t *const *parents, const size_t *parent_counts, bool line,
		       struct error *err)
{
	size_t limit = line ? COMMIT_GRAPH_LINE_LIMIT : COMMIT_GRAPH_LIMIT;
	if (count < 2)
		return error_set(err, ERROR_STATE, "a hunt needs two ends, not %zu commits", count);
	if (count > limit)
		return error_set(err, ERROR_USAGE,
				 "%zu commits between good and bad are more than the %zu that one "
				 "hunt can hold: choose ends that lie closer together",
				 count, limit);
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

static void add_ancestors(struct commit_graph *graph, size_t commit)
{
	uint64_t *row = graph->contained + commit * graph->words;
	row[commit / WORD_BITS] |= UINT64_C(1) << (commit % WORD_BITS);
	for (size_t i = 0; i < commit_graph_parent_count(graph, commit); i++) {
		size_t parent = commit_graph_parent(graph, commit, i);
		const uint64_t *inherited = graph->contained + parent * graph->words;
		for (size_t word = 0; word <= parent / WORD_BITS; word++)
			row[word] |= inherited[word];
	}
}

static void add_parents(struct commit_graph *graph, size_t commit, const size_t *parents,
			size_t parent_count)
{
	size_t start = graph->parent_start[commit];
	for (size_t i = 0; i < parent_count; i++)
		graph->parents[start + i] = parents[i];
	graph->parent_start[commit + 1] = start + parent_count;
}

int commit_graph_create(size_t count, size_t *const *parents, const size_t *parent_counts,
			struct commit_graph **ret_graph, struct error *err)
{
	bool line = is_line(count, parents, parent_counts);
	if (check_shape(count, parents, parent_counts, line, err))
		return -1;
	size_t edges = 0;
	for (size_t commit = 0; commit < count; commit++)
		edges += parent_counts[commit];
	struct commit_graph *graph = memory_array(1, sizeof(*graph));
	graph->count = count;
	graph->words = (count + WORD_BITS - 1) / WORD_BITS;
	graph->parent_start = memory_array(count + 1, sizeof(*graph->parent_start));
	graph->parents = memory_array(edges, sizeof(*graph->parents));
	for (size_t commit = 0; commit < count; commit++)
		add_parents(graph, commit, parents[commit], parent_counts[commit]);
	if (!line)
		graph->contained = memory_array(count * graph->words, sizeof(*graph->contained));
	for (size_t commit = 0; commit < count && !line; commit++)
		add_ancestors(graph, commit);
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

bool commit_graph_is_line(const struct commit_graph *graph)
{
	return !graph->contained;
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
	if (!graph->contained)
		return ancestor <= commit;
	uint64_t word = graph->contained[commit * graph->words + ancestor / WORD_BITS];
	return word >> (ancestor % WORD_BITS) & 1;
}

static void sum_words(const struct commit_graph *graph, const double *weights, double *word_sums)
{
	for (size_t commit = 0; commit < graph->count; commit++)
		word_sums[commit / WORD_BITS] += weights[commit];
}

static double sum_row(const struct commit_graph *graph, size_t commit, const double *weights,
		      const double *word_sums)
{
	const uint64_t *row = graph->contained + commit * graph->words;
	double sum = 0;
	/* Ancestors come first: nothing is set beyond the commit's own word. */
	for (size_t word = 0; word <= commit / WORD_BITS; word++) {
		if (row[word] == UINT64_MAX) {
			sum += word_sums[word];
			continue;
		}
		for (uint64_t left = word_sums[word] > 0 ? row[word] : 0; left; left &= left - 1)
			sum += weights[word * WORD_BITS + (size_t)__builtin_ctzll(left)];
	}
	return sum;
}

void commit_graph_sums(const struct commit_graph *graph, const double *weights, double *ret_sums)
{
	double sum = 0;
	if (!graph->contained) {
		for (size_t commit = 0; commit < graph->count; commit++)
			ret_sums[commit] = sum += weights[commit];
		return;
	}
	auto_free double *word_sums = memory_array(graph->words, sizeof(*word_sums));
	sum_words(graph, weights, word_sums);
	for (size_t commit = 0; commit < graph->count; commit++)
		ret_sums[commit] = sum_row(graph, commit, weights, word_sums);
}
