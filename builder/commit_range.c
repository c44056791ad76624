/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The candidates of a hunt: part of source_tree. */
#include <stdio.h>
#include <string.h>

#include "builder/source_tree_internal.h"
#include "builder/tree_difference.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/text.h"

#define CANDIDATE_LIMIT 100000

struct id_list {
	git_oid *ids;
	size_t count;
	size_t capacity;
};

/* Where a commit stands in the range. */
struct place {
	git_oid id;
	size_t index;
};

struct places {
	struct place *items; /* sorted by id */
	size_t count;
};

static void add_id(struct id_list *list, const git_oid *id)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 64;
		list->ids = memory_resize(list->ids, list->capacity, sizeof(*list->ids));
	}
	list->ids[list->count++] = *id;
}

static int explain_not_ancestor(const struct source_tree *tree, const git_oid *good,
				const git_oid *bad, struct error *err)
{
	git_oid base;
	char good_text[13], bad_text[13], base_text[13];
	git_oid_tostr(good_text, sizeof(good_text), good);
	git_oid_tostr(bad_text, sizeof(bad_text), bad);
	if (git_merge_base(&base, tree->repository, good, bad) < 0)
		return error_set(
			err, ERROR_USAGE,
			"good %s is not an ancestor of bad %s; they have no common history",
			good_text, bad_text);
	git_oid_tostr(base_text, sizeof(base_text), &base);
	if (git_oid_equal(&base, bad))
		return error_set(err, ERROR_USAGE,
				 "good %s comes after bad %s; are they exchanged?", good_text,
				 bad_text);
	return error_set(err, ERROR_USAGE,
			 "good %s is not an ancestor of bad %s; their merge base is %s: measure "
			 "that one, and use it as good when it is",
			 good_text, bad_text, base_text);
}

static int check_ends(const struct source_tree *tree, const git_oid *good, const git_oid *bad,
		      struct error *err)
{
	if (git_oid_equal(good, bad))
		return error_set(err, ERROR_USAGE, "good and bad are the same commit, %.12s",
				 git_oid_tostr_s(good));
	int descends = git_graph_descendant_of(tree->repository, bad, good);
	if (descends < 0)
		return git_fault(err, ERROR_STATE, "cannot walk the history of %s",
				 tree->url_shown);
	return descends ? 0 : explain_not_ancestor(tree, good, bad, err);
}

/* GOOD, then the candidates, parents before children. */
static int list_candidates(const struct source_tree *tree, const git_oid *good, const git_oid *bad,
			   struct id_list *ret_list, struct error *err)
{
	auto_git_revwalk git_revwalk *walk = NULL;
	if (git_revwalk_new(&walk, tree->repository) < 0 ||
	    git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE) < 0 ||
	    git_revwalk_push(walk, bad) < 0 || git_revwalk_hide(walk, good) < 0)
		return git_fault(err, ERROR_STATE, "cannot walk the history of %s",
				 tree->url_shown);
	add_id(ret_list, good);
	git_oid id;
	int code;
	while ((code = git_revwalk_next(&id, walk)) == 0) {
		if (ret_list->count > CANDIDATE_LIMIT)
			return error_set(
				err, ERROR_USAGE,
				"more than %d commits lie between good and bad; take a good "
				"that is nearer",
				CANDIDATE_LIMIT);
		add_id(ret_list, &id);
	}
	if (code != GIT_ITEROVER)
		return git_fault(err, ERROR_STATE, "cannot walk the history of %s",
				 tree->url_shown);
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	return git_oid_cmp(&((const struct place *)a)->id, &((const struct place *)b)->id);
}

static struct places sort_places(const struct id_list *list)
{
	struct places places = {memory_array(list->count, sizeof(struct place)), list->count};
	for (size_t i = 0; i < list->count; i++)
		places.items[i] = (struct place){list->ids[i], i};
	qsort(places.items, places.count, sizeof(*places.items), compare_places);
	return places;
}

/* A parent outside the range is an ancestor of good, or joined from elsewhere: index 0. */
static size_t find_place(const struct places *places, const git_oid *id)
{
	struct place wanted = {.id = *id};
	const struct place *found = bsearch(&wanted, places->items, places->count,
					    sizeof(*places->items), compare_places);
	return found ? found->index : 0;
}

static void fill_parents(struct commit_range *range, size_t index, const git_commit *commit,
			 const struct places *places)
{
	unsigned int total = git_commit_parentcount(commit);
	size_t *parents = memory_array(total, sizeof(*parents));
	size_t count = 0;
	for (unsigned int i = 0; i < total; i++) {
		size_t parent = find_place(places, git_commit_parent_id(commit, i));
		bool present = false;
		for (size_t j = 0; j < count; j++)
			present |= parents[j] == parent;
		if (!present)
			parents[count++] = parent;
	}
	range->parents[index] = parents;
	range->parent_counts[index] = count;
}

static int stop_at_first(const char *path, void *data)
{
	(void)path;
	(void)data;
	return 1;
}

/* A commit matters when its tree differs from every parent's, irrelevant paths left out. */
static int find_relevance(const struct source_tree *tree, const git_commit *commit,
			  bool *ret_relevant, struct error *err)
{
	auto_git_tree git_tree *after = NULL;
	if (git_commit_tree(&after, commit) < 0)
		return git_fault(err, ERROR_STATE, "cannot read the tree of commit %.12s",
				 git_oid_tostr_s(git_commit_id(commit)));
	bool differs = true;
	for (unsigned int i = 0; differs && i < git_commit_parentcount(commit); i++) {
		auto_git_commit git_commit *parent = NULL;
		auto_git_tree git_tree *before = NULL;
		if (git_commit_parent(&parent, commit, i) < 0 ||
		    git_commit_tree(&before, parent) < 0)
			return git_fault(err, ERROR_STATE,
					 "cannot read the parents of commit %.12s",
					 git_oid_tostr_s(git_commit_id(commit)));
		if (tree_difference(tree->repository, before, after, &tree->irrelevant,
				    stop_at_first, NULL, &differs, err) < 0)
			return -1;
	}
	*ret_relevant = differs;
	return 0;
}

static int fill_commit(const struct source_tree *tree, const struct id_list *list,
		       const struct places *places, size_t index, struct commit_range *range,
		       struct error *err)
{
	auto_git_commit git_commit *commit = NULL;
	git_oid_tostr(range->ids[index], OBJECT_ID_SIZE, &list->ids[index]);
	if (source_tree_find_commit(tree, range->ids[index], &commit, err) < 0)
		return -1;
	git_oid_tostr(range->trees[index], OBJECT_ID_SIZE, git_commit_tree_id(commit));
	range->relevant[index] = true;
	if (index == 0)
		return 0;
	fill_parents(range, index, commit, places);
	return find_relevance(tree, commit, &range->relevant[index], err);
}

static int fill_range(const struct source_tree *tree, const struct id_list *list,
		      struct commit_range *range, struct error *err)
{
	range->count = list->count;
	range->ids = memory_array(list->count, sizeof(*range->ids));
	range->trees = memory_array(list->count, sizeof(*range->trees));
	range->parents = memory_array(list->count, sizeof(*range->parents));
	range->parent_counts = memory_array(list->count, sizeof(*range->parent_counts));
	range->relevant = memory_array(list->count, sizeof(*range->relevant));
	struct places places = sort_places(list);
	int status = 0;
	for (size_t i = 0; status == 0 && i < list->count; i++)
		if ((status = interrupt_check(err)) == 0)
			status = fill_commit(tree, list, &places, i, range, err);
	free(places.items);
	return status;
}

int source_tree_range(struct source_tree *tree, const char *good_id, const char *bad_id,
		      struct commit_range *ret_range, struct error *err)
{
	auto_git_commit git_commit *good = NULL;
	auto_git_commit git_commit *bad = NULL;
	if (source_tree_find_commit(tree, good_id, &good, err) < 0 ||
	    source_tree_find_commit(tree, bad_id, &bad, err) < 0 ||
	    check_ends(tree, git_commit_id(good), git_commit_id(bad), err) < 0)
		return -1;
	struct id_list list = {0};
	struct commit_range range = {0};
	int status = list_candidates(tree, git_commit_id(good), git_commit_id(bad), &list, err);
	if (status == 0)
		status = fill_range(tree, &list, &range, err);
	free(list.ids);
	if (status == 0)
		*ret_range = range;
	else
		commit_range_free(&range);
	return status;
}

void commit_range_free(struct commit_range *range)
{
	for (size_t i = 0; i < range->count; i++)
		free(range->parents[i]);
	free(range->ids);
	free(range->trees);
	free(range->parents);
	free(range->parent_counts);
	free(range->relevant);
	*range = (struct commit_range){0};
}

int source_tree_is_ancestor(struct source_tree *tree, const char *ancestor_id,
			    const char *commit_id, bool *ret_is, struct error *err)
{
	auto_git_commit git_commit *ancestor = NULL;
	auto_git_commit git_commit *commit = NULL;
	if (source_tree_find_commit(tree, ancestor_id, &ancestor, err) < 0 ||
	    source_tree_find_commit(tree, commit_id, &commit, err) < 0)
		return -1;
	int descends = git_graph_descendant_of(tree->repository, git_commit_id(commit),
					       git_commit_id(ancestor));
	if (descends < 0)
		return git_fault(err, ERROR_STATE, "cannot walk the history of %s",
				 tree->url_shown);
	*ret_is = descends || strcmp(ancestor_id, commit_id) == 0;
	return 0;
}
