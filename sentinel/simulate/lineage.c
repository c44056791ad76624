/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/lineage.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/random.h"
#include "sentinel/base/text.h"

#define FORK_CHANCE 0.15
#define MERGE_CHANCE 0.2
#define MAIN_LINE_CHANCE 0.2

enum {
	BRANCHES_LIMIT = 6,
	BRANCH_LENGTH_LIMIT = 24,
	FORK_REACH = 40, /* a branch begins at one of the last so many commits of the main line */
	PARENTS_LIMIT = 2,
};

struct edges {
	size_t (*flat)[PARENTS_LIMIT];
	size_t **parents;
	size_t *counts;
};

static void edges_create(size_t commits, struct edges *ret_edges)
{
	ret_edges->flat = memory_array(commits, sizeof(*ret_edges->flat));
	ret_edges->parents = memory_array(commits, sizeof(*ret_edges->parents));
	ret_edges->counts = memory_array(commits, sizeof(*ret_edges->counts));
	for (size_t commit = 0; commit < commits; commit++)
		ret_edges->parents[commit] = ret_edges->flat[commit];
}

static void edges_free(struct edges *edges)
{
	free(edges->flat);
	free(edges->parents);
	free(edges->counts);
}

static void add_parent(struct edges *edges, size_t commit, size_t parent)
{
	edges->parents[commit][edges->counts[commit]++] = parent;
}

struct branch {
	size_t head;
	size_t left; /* commits that it still gets */
};

/* A history while it grows. */
struct growth {
	struct edges *edges;
	size_t *main_line;
	size_t main_length;
	struct branch branches[BRANCHES_LIMIT];
	size_t branch_count;
};

static size_t main_head(const struct growth *growth)
{
	return growth->main_line[growth->main_length - 1];
}

static void grow_main(struct growth *growth, size_t commit)
{
	add_parent(growth->edges, commit, main_head(growth));
	growth->main_line[growth->main_length++] = commit;
}

static void fork_branch(struct growth *growth, size_t commit)
{
	size_t reach = growth->main_length < FORK_REACH ? growth->main_length : FORK_REACH;
	size_t fork = growth->main_line[growth->main_length - 1 - random_below(reach)];
	add_parent(growth->edges, commit, fork);
	growth->branches[growth->branch_count++] =
		(struct branch){commit, random_below(BRANCH_LENGTH_LIMIT)};
}

static void merge_branch(struct growth *growth, size_t commit)
{
	size_t index = random_below(growth->branch_count);
	grow_main(growth, commit);
	add_parent(growth->edges, commit, growth->branches[index].head);
	growth->branches[index] = growth->branches[--growth->branch_count];
}

static void grow_branch(struct growth *growth, size_t commit)
{
	struct branch *branch = &growth->branches[random_below(growth->branch_count)];
	if (branch->left == 0) {
		grow_main(growth, commit);
		return;
	}
	add_parent(growth->edges, commit, branch->head);
	branch->head = commit;
	branch->left--;
}

/* LEFT: commits still to come, this one included. In the end all branches must be merged. */
static void grow(struct growth *growth, size_t commit, size_t left)
{
	size_t open = growth->branch_count;
	if (open > 0 && (left <= open || random_uniform() < MERGE_CHANCE))
		merge_branch(growth, commit);
	else if (open < BRANCHES_LIMIT && left > open + 1 && random_uniform() < FORK_CHANCE)
		fork_branch(growth, commit);
	else if (open == 0 || random_uniform() < MAIN_LINE_CHANCE)
		grow_main(growth, commit);
	else
		grow_branch(growth, commit);
}

int lineage_create(enum lineage_shape shape, size_t commits, struct commit_graph **ret_graph,
		   struct error *err)
{
	auto_cleanup(edges_free) struct edges edges = {0};
	edges_create(commits, &edges);
	auto_free size_t *main_line = memory_array(commits, sizeof(*main_line));
	struct growth growth = {.edges = &edges, .main_line = main_line, .main_length = 1};
	for (size_t commit = 1; commit < commits; commit++) {
		if (shape == LINEAGE_DAG)
			grow(&growth, commit, commits - commit);
		else
			grow_main(&growth, commit);
	}
	return commit_graph_create(commits, edges.parents, edges.counts, ret_graph, err);
}

static bool has_parent(const struct edges *edges, size_t commit, size_t parent)
{
	for (size_t i = 0; i < edges->counts[commit]; i++)
		if (edges->parents[commit][i] == parent)
			return true;
	return false;
}

int lineage_part(const struct commit_graph *whole, size_t good, size_t bad,
		 struct commit_graph **ret_part, size_t **ret_commits, struct error *err)
{
	size_t total = commit_graph_count(whole);
	auto_cleanup(edges_free) struct edges edges = {0};
	edges_create(total, &edges);
	auto_free size_t *commits = memory_array(total, sizeof(*commits));
	/* Where a commit is in the part; 0 is the good end, and whatever lies outside. */
	auto_free size_t *place = memory_array(total, sizeof(*place));
	size_t count = 1;
	commits[0] = good;
	for (size_t commit = 0; commit <= bad; commit++) {
		if (!commit_graph_contains(whole, bad, commit) ||
		    commit_graph_contains(whole, good, commit))
			continue;
		for (size_t i = 0; i < commit_graph_parent_count(whole, commit); i++) {
			size_t parent = place[commit_graph_parent(whole, commit, i)];
			if (!has_parent(&edges, count, parent))
				add_parent(&edges, count, parent);
		}
		place[commit] = count;
		commits[count++] = commit;
	}
	if (commit_graph_create(count, edges.parents, edges.counts, ret_part, err) < 0)
		return -1;
	*ret_commits = take(commits);
	return 0;
}
