/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which commits are likelier beforehand: part of source_tree. */
#include <math.h>
#include <string.h>

#include "builder/source_tree_internal.h"
#include "builder/tree_difference.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/text.h"

struct weighing {
	const struct policy_weight *weights;
	size_t count;
	double heaviest; /* of the paths seen so far */
};

/* The longest prefix speaks for a path; one without any weighs 1. */
static double path_weight(const struct weighing *weighing, const char *path)
{
	size_t longest = 0;
	double weight = 1;
	for (size_t i = 0; i < weighing->count; i++) {
		const char *prefix = weighing->weights[i].prefix;
		if (strlen(prefix) <= longest || !text_starts_with(path, prefix))
			continue;
		longest = strlen(prefix);
		weight = weighing->weights[i].weight;
	}
	return weight;
}

static int weigh_path(const char *path, void *data)
{
	struct weighing *weighing = data;
	weighing->heaviest = fmax(weighing->heaviest, path_weight(weighing, path));
	return 0;
}

static int weigh_commit(const struct source_tree *tree, const char *id, struct weighing *weighing,
			struct error *err)
{
	auto_git_commit git_commit *commit = NULL;
	auto_git_commit git_commit *parent = NULL;
	auto_git_tree git_tree *before = NULL;
	auto_git_tree git_tree *after = NULL;
	if (source_tree_find_commit(tree, id, &commit, err) < 0)
		return -1;
	if (git_commit_tree(&after, commit) < 0 ||
	    (git_commit_parentcount(commit) > 0 &&
	     (git_commit_parent(&parent, commit, 0) < 0 || git_commit_tree(&before, parent) < 0)))
		return git_fault(err, ERROR_STATE, "cannot read what commit %.12s changed", id);
	weighing->heaviest = 0;
	return tree_difference(tree->repository, before, after, &tree->irrelevant, weigh_path,
			       weighing, NULL, err);
}

int source_tree_weigh(struct source_tree *tree, const struct commit_range *range,
		      const struct policy_weight *weights, size_t count, double *ret_weights,
		      struct error *err)
{
	struct weighing weighing = {.weights = weights, .count = count};
	for (size_t i = 0; i < range->count; i++) {
		ret_weights[i] = 1;
		if (i == 0 || !count)
			continue;
		if (interrupt_check(err) < 0 ||
		    weigh_commit(tree, range->ids[i], &weighing, err) < 0)
			return -1;
		if (weighing.heaviest > 0)
			ret_weights[i] = weighing.heaviest;
	}
	return 0;
}
