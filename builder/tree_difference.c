/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/tree_difference.h"

#include "builder/source_tree_internal.h"
#include "sentinel/base/text.h"

/* Far beyond any real tree; each level costs stack. */
#define DEPTH_LIMIT 200

struct walk {
	git_repository *repository;
	const struct string_list *ignored;
	tree_difference_visitor *visitor;
	void *data;
	bool stopped;
	unsigned int depth;
	struct text path;
	struct error *err;
};

static int walk_trees(struct walk *walk, const git_tree *before, const git_tree *after);

static bool is_tree(const git_tree_entry *entry)
{
	return entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE;
}

static bool same_entry(const git_tree_entry *a, const git_tree_entry *b)
{
	return a && b && git_oid_equal(git_tree_entry_id(a), git_tree_entry_id(b)) &&
	       git_tree_entry_filemode_raw(a) == git_tree_entry_filemode_raw(b);
}

static bool is_ignored(const struct walk *walk, const char *path)
{
	for (size_t i = 0; walk->ignored && i < walk->ignored->count; i++)
		if (text_starts_with(path, walk->ignored->items[i]))
			return true;
	return false;
}

static int open_subtree(const struct walk *walk, const git_tree_entry *entry, git_tree **ret_tree)
{
	if (!is_tree(entry))
		return 0;
	int code = git_tree_lookup(ret_tree, walk->repository, git_tree_entry_id(entry));
	if (code < 0)
		return git_fault(walk->err, ERROR_STATE, "cannot read folder %s of a commit",
				 walk->path.data);
	return 0;
}

static int visit_subtrees(struct walk *walk, const git_tree_entry *before,
			  const git_tree_entry *after)
{
	auto_git_tree git_tree *old_tree = NULL;
	auto_git_tree git_tree *new_tree = NULL;
	if (open_subtree(walk, before, &old_tree) < 0 || open_subtree(walk, after, &new_tree) < 0)
		return -1;
	if (++walk->depth > DEPTH_LIMIT)
		return error_set(walk->err, ERROR_STATE, "a commit nests more than %d folders",
				 DEPTH_LIMIT);
	text_append(&walk->path, "/");
	int status = is_ignored(walk, walk->path.data) ? 0 : walk_trees(walk, old_tree, new_tree);
	walk->depth--;
	return status;
}

/* BEFORE or AFTER is NULL when the name is on one side only. */
static int visit_entry(struct walk *walk, const git_tree_entry *before, const git_tree_entry *after)
{
	if (walk->stopped || same_entry(before, after))
		return 0;
	size_t length = walk->path.length;
	text_append(&walk->path, git_tree_entry_name(before ? before : after));
	int status = 0;
	bool leaf = (before && !is_tree(before)) || (after && !is_tree(after));
	if (leaf && !is_ignored(walk, walk->path.data))
		walk->stopped = walk->visitor(walk->path.data, walk->data) != 0;
	if (!walk->stopped && (is_tree(before) || is_tree(after)))
		status = visit_subtrees(walk, before, after);
	walk->path.length = length;
	walk->path.data[length] = '\0';
	return status;
}

static int walk_trees(struct walk *walk, const git_tree *before, const git_tree *after)
{
	size_t old_count = before ? git_tree_entrycount(before) : 0;
	size_t new_count = after ? git_tree_entrycount(after) : 0;
	for (size_t i = 0; i < old_count; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(before, i);
		const git_tree_entry *other =
			after ? git_tree_entry_byname(after, git_tree_entry_name(entry)) : NULL;
		if (visit_entry(walk, entry, other) < 0)
			return -1;
	}
	for (size_t i = 0; i < new_count; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(after, i);
		if (before && git_tree_entry_byname(before, git_tree_entry_name(entry)))
			continue;
		if (visit_entry(walk, NULL, entry) < 0)
			return -1;
	}
	return 0;
}

int tree_difference(git_repository *repository, const git_tree *before, const git_tree *after,
		    const struct string_list *ignored, tree_difference_visitor *visitor, void *data,
		    bool *ret_stopped, struct error *err)
{
	struct walk walk = {.repository = repository,
			    .ignored = ignored,
			    .visitor = visitor,
			    .data = data,
			    .err = err};
	text_append(&walk.path, "");
	int status = 0;
	bool equal = before && after && git_oid_equal(git_tree_id(before), git_tree_id(after));
	if (!equal)
		status = walk_trees(&walk, before, after);
	text_free(&walk.path);
	if (status == 0 && ret_stopped)
		*ret_stopped = walk.stopped;
	return status;
}
