/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_SOURCE_TREE_INTERNAL_H
#define SENTINEL_BUILDER_SOURCE_TREE_INTERNAL_H

/* What the files of the source_tree module share; nobody else includes it. */

#include <git2.h>
#include <stdbool.h>

#include "builder/source_tree.h"
#include "policies/policy.h"
#include "sentinel/base/error.h"

struct source_tree {
	char *name;
	char *url;        /* as the policy has it */
	char *url_shown;  /* without user name and password: for messages */
	char *local_path; /* of the repository when the URL is a path, or NULL */
	char *branch;
	struct string_list irrelevant;
	char *mirror_path;
	char *work_path;
	char *state_path; /* what the work tree holds: see work_tree.c */
	char *lock_path;
	int lock;                   /* held from the first checkout to the end; -1 before */
	git_repository *repository; /* the mirror; its work folder is set to work_path */
};

/* As error_set, with ": " and libgit2's own message (made one safe line) appended. */
int git_fault(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Parses 40 hexadecimal digits and finds the object; ERROR_STATE names it. */
int source_tree_find_commit(const struct source_tree *tree, const char *id, git_commit **ret_commit,
			    struct error *err);
int source_tree_find_tree(const struct source_tree *tree, const char *id, git_tree **ret_tree,
			  struct error *err);

/* mirror.c: fills url_shown and local_path from url, then opens or creates the mirror. */
int mirror_open(struct source_tree *tree, struct error *err);
/* work_tree.c: makes the folder; what was known of one that was removed is forgotten. */
int work_tree_prepare(const struct source_tree *tree, struct error *err);

#define auto_string_list __attribute__((cleanup(string_list_free)))

static inline void cleanup_git_commit(git_commit **commit)
{
	git_commit_free(*commit);
}
#define auto_git_commit __attribute__((cleanup(cleanup_git_commit)))

static inline void cleanup_git_tree(git_tree **tree)
{
	git_tree_free(*tree);
}
#define auto_git_tree __attribute__((cleanup(cleanup_git_tree)))

static inline void cleanup_git_object(git_object **object)
{
	git_object_free(*object);
}
#define auto_git_object __attribute__((cleanup(cleanup_git_object)))

static inline void cleanup_git_signature(git_signature **signature)
{
	git_signature_free(*signature);
}
#define auto_git_signature __attribute__((cleanup(cleanup_git_signature)))

static inline void cleanup_git_index(git_index **index)
{
	git_index_free(*index);
}
#define auto_git_index __attribute__((cleanup(cleanup_git_index)))

static inline void cleanup_git_repository(git_repository **repository)
{
	git_repository_free(*repository);
}
#define auto_git_repository __attribute__((cleanup(cleanup_git_repository)))

static inline void cleanup_git_remote(git_remote **remote)
{
	git_remote_free(*remote);
}
#define auto_git_remote __attribute__((cleanup(cleanup_git_remote)))

static inline void cleanup_git_config(git_config **config)
{
	git_config_free(*config);
}
#define auto_git_config __attribute__((cleanup(cleanup_git_config)))

static inline void cleanup_git_revwalk(git_revwalk **walk)
{
	git_revwalk_free(*walk);
}
#define auto_git_revwalk __attribute__((cleanup(cleanup_git_revwalk)))

#endif
