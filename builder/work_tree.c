/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work tree of source_tree. FOLDER/work.state holds one line: "clean TREE" when the work tree
 * is known to equal TREE, "writing FROM TREE" while a checkout from FROM is under way. The index
 * lies in the mirror; the work tree has no .git, so that no build can learn a commit id from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "builder/source_tree_internal.h"
#include "builder/tree_difference.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

/* Beyond this a full checkout is not dearer than one by paths. */
#define PATH_LIMIT 20000
#define STATE_LIMIT_BYTES 200
/* git's name for the tree without entries; it is known without being stored. */
#define EMPTY_TREE "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

struct work_state {
	enum { WORK_UNKNOWN, WORK_CLEAN, WORK_WRITING } kind;
	char from[OBJECT_ID_SIZE]; /* when WORK_WRITING */
	char tree[OBJECT_ID_SIZE];
};

int work_tree_prepare(const struct source_tree *tree, struct error *err)
{
	if (file_is_folder(tree->work_path))
		return 0;
	if (unlink(tree->state_path) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", tree->state_path);
	return file_make_folders(tree->work_path, err);
}

static int read_state(const struct source_tree *tree, struct work_state *ret_state,
		      struct error *err)
{
	struct work_state state = {.kind = WORK_UNKNOWN};
	auto_free char *text = NULL;
	if (file_exists(tree->state_path)) {
		if (file_read(tree->state_path, STATE_LIMIT_BYTES, &text, NULL, err) < 0)
			return -1;
		if (sscanf(text, "writing %40[0-9a-f] %40[0-9a-f]", state.from, state.tree) == 2)
			state.kind = WORK_WRITING;
		else if (sscanf(text, "clean %40[0-9a-f]", state.tree) == 1)
			state.kind = WORK_CLEAN;
	}
	*ret_state = state;
	return 0;
}

static int write_state(const struct source_tree *tree, const char *text, struct error *err)
{
	return file_write_durable(tree->state_path, text, strlen(text), err);
}

/* The whole work tree on disk, before it is called clean. */
static int sync_work(const struct source_tree *tree, struct error *err)
{
	auto_close int fd = open(tree->work_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot sync %s", tree->work_path);
	return 0;
}

/* The lock proves that nobody else is at work, so an index lock is one that a dead run left. */
static int lock_work(struct source_tree *tree, struct error *err)
{
	if (tree->lock < 0 && file_lock(tree->lock_path, &tree->lock, err) < 0)
		return error_prefix(err, "the work tree of \"%s\" is in use", tree->name);
	auto_free char *index_lock = text_format("%s/index.lock", tree->mirror_path);
	if (unlink(index_lock) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", index_lock);
	return 0;
}

static int add_path(const char *path, void *data)
{
	struct string_list *paths = data;
	string_list_add(paths, path);
	return paths->count > PATH_LIMIT;
}

/*
 * BASELINE is what the work tree held before: libgit2 would take HEAD, and leave out or leave
 * behind files when that is something else. Without PATHS everything is looked at.
 */
static int write_files(struct source_tree *tree, git_tree *baseline, const git_tree *wanted,
		       const struct string_list *paths, struct error *err)
{
	git_checkout_options options;
	git_checkout_options_init(&options, GIT_CHECKOUT_OPTIONS_VERSION);
	options.checkout_strategy = GIT_CHECKOUT_FORCE;
	options.disable_filters = 1;
	options.baseline = baseline;
	if (paths) {
		options.checkout_strategy |= GIT_CHECKOUT_DISABLE_PATHSPEC_MATCH;
		options.paths.strings = paths->items;
		options.paths.count = paths->count;
	}
	if (git_checkout_tree(tree->repository, (const git_object *)wanted, &options) < 0)
		return git_fault(err, ERROR_SYSTEM, "cannot check out into %s", tree->work_path);
	return 0;
}

/* From FROM, which the work tree holds, or (when BROKEN) held before something broke off. */
static int change_work(struct source_tree *tree, const char *from, bool broken, const char *to,
		       struct error *err)
{
	auto_git_tree git_tree *present = NULL;
	auto_git_tree git_tree *wanted = NULL;
	auto_string_list struct string_list paths = {0};
	auto_free char *writing = text_format("writing %s %s\n", from, to);
	auto_free char *clean = text_format("clean %s\n", to);
	bool too_many = broken;
	if (source_tree_find_tree(tree, from, &present, err) < 0 ||
	    source_tree_find_tree(tree, to, &wanted, err) < 0)
		return -1;
	if (!broken && tree_difference(tree->repository, present, wanted, NULL, add_path, &paths,
				       &too_many, err) < 0)
		return -1;
	if (write_state(tree, writing, err) < 0 ||
	    write_files(tree, present, wanted, too_many ? NULL : &paths, err) < 0 ||
	    sync_work(tree, err) < 0)
		return -1;
	return write_state(tree, clean, err);
}

static int start_anew(struct source_tree *tree, const char *to, struct error *err)
{
	auto_free char *index = text_format("%s/index", tree->mirror_path);
	if (unlink(tree->state_path) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", tree->state_path);
	if (unlink(index) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", index);
	if (file_remove_tree(tree->work_path, err) < 0 ||
	    file_make_folders(tree->work_path, err) < 0)
		return -1;
	return change_work(tree, EMPTY_TREE, true, to, err);
}

/* Finishing first what broke off makes every file tracked again: none of it stays behind. */
static int finish_interrupted(struct source_tree *tree, const struct work_state *state)
{
	struct error reason;
	log_notice("finishing an interrupted checkout of \"%s\"", tree->name);
	if (change_work(tree, state->from, true, state->tree, &reason) == 0)
		return 0;
	log_notice("it cannot be finished, starting anew: %s", reason.message);
	return -1;
}

int source_tree_checkout(struct source_tree *tree, const char *tree_id, const char **ret_path,
			 struct error *err)
{
	struct work_state state;
	auto_git_tree git_tree *present = NULL;
	auto_git_tree git_tree *wanted = NULL;
	if (source_tree_find_tree(tree, tree_id, &wanted, err) < 0 || lock_work(tree, err) < 0 ||
	    read_state(tree, &state, err) < 0 || interrupt_check(err) < 0)
		return -1;
	if (state.kind == WORK_WRITING && finish_interrupted(tree, &state) == 0)
		state.kind = WORK_CLEAN;
	/* After a change of the URL the tree that lies there may be unknown. */
	bool known = state.kind == WORK_CLEAN &&
		     source_tree_find_tree(tree, state.tree, &present, NULL) == 0;
	int status = 0;
	if (!known)
		status = start_anew(tree, tree_id, err);
	else if (strcmp(state.tree, tree_id) != 0)
		status = change_work(tree, state.tree, false, tree_id, err);
	if (status < 0)
		return -1;
	*ret_path = tree->work_path;
	return 0;
}

struct search {
	bool (*matches)(const char *path);
};

static int stop_at_match(const char *path, void *data)
{
	const struct search *search = data;
	return search->matches(path);
}

int source_tree_differs(struct source_tree *tree, const char *from, const char *to,
			bool (*matches)(const char *path), bool *ret_differs, struct error *err)
{
	auto_git_tree git_tree *before = NULL;
	auto_git_tree git_tree *after = NULL;
	struct search search = {matches};
	if (source_tree_find_tree(tree, to, &after, err) < 0)
		return -1;
	if (source_tree_find_tree(tree, from, &before, NULL) < 0) {
		*ret_differs = true;
		return 0;
	}
	return tree_difference(tree->repository, before, after, NULL, stop_at_match, &search,
			       ret_differs, err);
}
