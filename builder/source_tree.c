/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/source_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "builder/source_tree_internal.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

#define REVISION_LIMIT_BYTES 250
#define FOREIGN_LIMIT_BYTES 4096

int git_fault(struct error *err, enum error_kind kind, const char *format, ...)
{
	const git_error *last = git_error_last();
	auto_free char *reason =
		text_one_line(last && last->message ? last->message : "unknown reason", 500);
	char context[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(context, sizeof(context), format, arguments);
	va_end(arguments);
	return error_set(err, kind, "%s: %s", context, reason);
}

static int parse_id(const char *id, git_oid *ret_oid, struct error *err)
{
	if (strnlen(id, OBJECT_ID_SIZE) != OBJECT_ID_SIZE - 1 || git_oid_fromstr(ret_oid, id) < 0)
		return error_set(err, ERROR_STATE, "\"%.40s\" is not a full object id", id);
	return 0;
}

int source_tree_find_commit(const struct source_tree *tree, const char *id, git_commit **ret_commit,
			    struct error *err)
{
	git_oid oid;
	if (parse_id(id, &oid, err) < 0)
		return -1;
	if (git_commit_lookup(ret_commit, tree->repository, &oid) < 0)
		return git_fault(err, ERROR_STATE, "commit %.12s is not in the mirror of %s", id,
				 tree->url_shown);
	return 0;
}

int source_tree_find_tree(const struct source_tree *tree, const char *id, git_tree **ret_tree,
			  struct error *err)
{
	git_oid oid;
	if (parse_id(id, &oid, err) < 0)
		return -1;
	if (git_tree_lookup(ret_tree, tree->repository, &oid) < 0)
		return git_fault(err, ERROR_STATE, "tree %.12s is not in the mirror of %s", id,
				 tree->url_shown);
	return 0;
}

int source_tree_open(const struct policy_tree *policy, const char *folder,
		     struct source_tree **ret_tree, struct error *err)
{
	auto_free char *absolute = NULL;
	if (file_make_folders(folder, err) < 0)
		return -1;
	absolute = realpath(folder, NULL);
	if (!absolute)
		return error_errno(err, ERROR_SYSTEM, "cannot find %s", folder);
	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	auto_source_tree struct source_tree *tree = memory_array(1, sizeof(*tree));
	tree->lock = -1;
	tree->name = text_copy(policy->name);
	tree->url = text_copy(policy->url);
	tree->branch = text_copy(policy->branch);
	for (size_t i = 0; i < policy->irrelevant.count; i++)
		string_list_add(&tree->irrelevant, policy->irrelevant.items[i]);
	tree->mirror_path = text_format("%s/mirror.git", absolute);
	tree->work_path = text_format("%s/work", absolute);
	tree->state_path = text_format("%s/work.state", absolute);
	tree->lock_path = text_format("%s/work.lock", absolute);
	if (work_tree_prepare(tree, err) < 0 || mirror_open(tree, err) < 0)
		return -1;
	*ret_tree = take(tree);
	return 0;
}

void source_tree_close(struct source_tree **handle)
{
	struct source_tree *tree = *handle;
	if (!tree)
		return;
	git_repository_free(tree->repository);
	cleanup_close(&tree->lock);
	free(tree->name);
	free(tree->url);
	free(tree->url_shown);
	free(tree->local_path);
	free(tree->branch);
	string_list_free(&tree->irrelevant);
	free(tree->mirror_path);
	free(tree->work_path);
	free(tree->state_path);
	free(tree->lock_path);
	free(tree);
	*handle = NULL;
	git_libgit2_shutdown();
}

/* Short names of all branches and tags: "master", "v6.1". */
static void list_names(const struct source_tree *tree, struct string_list *names)
{
	git_strarray references = {0};
	if (git_reference_list(&references, tree->repository) < 0)
		return;
	static const char *const spaces[] = {"refs/heads/", "refs/tags/"};
	for (size_t i = 0; i < references.count; i++)
		for (size_t j = 0; j < array_length(spaces); j++)
			if (text_starts_with(references.strings[i], spaces[j]))
				string_list_add(names, references.strings[i] + strlen(spaces[j]));
	git_strarray_dispose(&references);
}

static int unknown_revision(const struct source_tree *tree, const char *revision, struct error *err)
{
	auto_string_list struct string_list names = {0};
	list_names(tree, &names);
	auto_free const char **candidates = memory_array(names.count + 1, sizeof(*candidates));
	for (size_t i = 0; i < names.count; i++)
		candidates[i] = names.items[i];
	auto_free char *base = text_copy(revision);
	base[strcspn(base, "~^@")] = '\0';
	const char *nearest = text_nearest(base, candidates);
	auto_free char *shown = text_one_line(revision, REVISION_LIMIT_BYTES);
	auto_free char *shown_nearest = text_one_line(nearest ? nearest : "", 200);
	if (nearest && strcmp(nearest, base) != 0)
		return error_set(err, ERROR_USAGE,
				 "revision \"%s\" is not in %s; the nearest name there is \"%s\"",
				 shown, tree->url_shown, shown_nearest);
	return error_set(err, ERROR_USAGE,
			 "revision \"%s\" is not in %s (branch, tag or commit id)", shown,
			 tree->url_shown);
}

/* ":/text" and "^{/text}" search the whole history for a regular expression. */
static bool is_acceptable(const char *revision)
{
	return revision[0] && revision[0] != '-' && !strchr(revision, ':') &&
	       !strstr(revision, "{/") && strnlen(revision, 1000) <= REVISION_LIMIT_BYTES;
}

int source_tree_resolve(struct source_tree *tree, const char *revision,
			char ret_id[static OBJECT_ID_SIZE], struct error *err)
{
	auto_git_object git_object *object = NULL;
	auto_git_object git_object *commit = NULL;
	if (!is_acceptable(revision))
		return unknown_revision(tree, revision, err);
	int code = git_revparse_single(&object, tree->repository, revision);
	if (code == GIT_EAMBIGUOUS)
		return error_set(err, ERROR_USAGE,
				 "revision \"%s\" is ambiguous in %s; write more digits", revision,
				 tree->url_shown);
	if (code < 0)
		return unknown_revision(tree, revision, err);
	if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
		return error_set(err, ERROR_USAGE, "\"%s\" is not a commit in %s", revision,
				 tree->url_shown);
	git_oid_tostr(ret_id, OBJECT_ID_SIZE, git_object_id(commit));
	return 0;
}

static char *copy_foreign(const char *text)
{
	return text_format("%.*s", FOREIGN_LIMIT_BYTES, text ? text : "");
}

int source_tree_commit_info(struct source_tree *tree, const char *id, struct commit_info *ret_info,
			    struct error *err)
{
	auto_git_commit git_commit *commit = NULL;
	if (source_tree_find_commit(tree, id, &commit, err) < 0)
		return -1;
	const git_signature *author = git_commit_author(commit);
	struct commit_info info = {
		.subject = copy_foreign(git_commit_summary(commit)),
		.author_name = copy_foreign(author->name),
		.author_email = copy_foreign(author->email),
		.author_seconds = author->when.time,
		.parent_count = git_commit_parentcount(commit),
	};
	git_oid_tostr(info.id, OBJECT_ID_SIZE, git_commit_id(commit));
	git_oid_tostr(info.tree, OBJECT_ID_SIZE, git_commit_tree_id(commit));
	*ret_info = info;
	return 0;
}

void commit_info_free(struct commit_info *info)
{
	free(info->subject);
	free(info->author_name);
	free(info->author_email);
	*info = (struct commit_info){0};
}

int source_tree_parents(struct source_tree *tree, const char *id,
			char (*ret_parents)[OBJECT_ID_SIZE], size_t max, size_t *ret_count,
			struct error *err)
{
	auto_git_commit git_commit *commit = NULL;
	if (source_tree_find_commit(tree, id, &commit, err) < 0)
		return -1;
	size_t count = git_commit_parentcount(commit);
	if (count > max)
		count = max;
	for (size_t i = 0; i < count; i++)
		git_oid_tostr(ret_parents[i], OBJECT_ID_SIZE,
			      git_commit_parent_id(commit, (unsigned int)i));
	*ret_count = count;
	return 0;
}

/* Equal inputs give an equal commit: its dates are the head's. */
static int create_revert(struct source_tree *tree, const char *commit_id, git_commit *head,
			 const git_oid *tree_oid, char ret_commit[static OBJECT_ID_SIZE],
			 struct error *err)
{
	git_oid oid;
	auto_git_tree git_tree *contents = NULL;
	auto_git_signature git_signature *author = NULL;
	auto_free char *message = text_format("Revert %s\n", commit_id);
	const git_commit *parents[] = {head};
	if (git_tree_lookup(&contents, tree->repository, tree_oid) < 0 ||
	    git_signature_new(&author, "Sentinel", "sentinel@localhost", git_commit_time(head), 0) <
		    0 ||
	    git_commit_create(&oid, tree->repository, NULL, author, author, NULL, message, contents,
			      array_length(parents), parents) < 0)
		return git_fault(err, ERROR_SYSTEM, "cannot write the revert of %.12s", commit_id);
	git_oid_tostr(ret_commit, OBJECT_ID_SIZE, &oid);
	return 0;
}

int source_tree_revert(struct source_tree *tree, const char *commit_id, const char *head_id,
		       bool *ret_applied, char ret_commit[static OBJECT_ID_SIZE], struct error *err)
{
	auto_git_commit git_commit *commit = NULL;
	auto_git_commit git_commit *head = NULL;
	auto_git_index git_index *index = NULL;
	if (source_tree_find_commit(tree, commit_id, &commit, err) < 0 ||
	    source_tree_find_commit(tree, head_id, &head, err) < 0)
		return -1;
	if (git_commit_parentcount(commit) == 0)
		return error_set(err, ERROR_USAGE, "commit %.12s has no parent to go back to",
				 commit_id);
	unsigned int mainline = git_commit_parentcount(commit) > 1 ? 1 : 0;
	int code = git_revert_commit(&index, tree->repository, commit, head, mainline, NULL);
	if (code == GIT_EMERGECONFLICT || code == GIT_ECONFLICT ||
	    (code == 0 && git_index_has_conflicts(index))) {
		*ret_applied = false;
		return 0;
	}
	git_oid oid;
	if (code < 0 || git_index_write_tree_to(&oid, index, tree->repository) < 0)
		return git_fault(err, ERROR_SYSTEM, "cannot undo commit %.12s on top of %.12s",
				 commit_id, head_id);
	*ret_applied = true;
	return create_revert(tree, commit_id, head, &oid, ret_commit, err);
}
