/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_COMMIT_GRAPH_H
#define SENTINEL_BISECT_COMMIT_GRAPH_H

/*
 * The candidates of a hunt as a graph of small numbers. 0 is the good end, count - 1 the bad end;
 * parents come before children. Everything here is pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "sentinel/base/error.h"

enum {
	COMMIT_GRAPH_LIMIT = 32768,        /* commits with merges among them; 128 MiB of bitsets */
	COMMIT_GRAPH_LINE_LIMIT = 1000000, /* commits of a line, which needs none */
};

struct commit_graph; /* opaque */

/*
 * Copies what it needs. ERROR_STATE when a parent does not come before its child, when a commit
 * other than 0 has no parent, or when count < 2; ERROR_USAGE above the limits: the range must be
 * narrowed. With merges it holds one ancestor bitset per commit: count^2 / 8 bytes.
 */
int commit_graph_create(size_t count, size_t *const *parents, const size_t *parent_counts,
			struct commit_graph **ret_graph, struct error *err);
void commit_graph_free(struct commit_graph **graph);
#define auto_commit_graph __attribute__((cleanup(commit_graph_free)))

size_t commit_graph_count(const struct commit_graph *graph);
/* True when every commit but 0 has exactly the commit before it as parent. */
bool commit_graph_is_line(const struct commit_graph *graph);
size_t commit_graph_parent_count(const struct commit_graph *graph, size_t commit);
size_t commit_graph_parent(const struct commit_graph *graph, size_t commit, size_t index);
/* True when ANCESTOR is COMMIT or one of its ancestors: if ANCESTOR is the culprit, COMMIT is bad.
 */
bool commit_graph_contains(const struct commit_graph *graph, size_t commit, size_t ancestor);
/* WEIGHTS are 0 or more. ret_sums[c]: their sum over c and its ancestors; one element a commit in
 * both. */
void commit_graph_sums(const struct commit_graph *graph, const double *weights, double *ret_sums);

#endif
