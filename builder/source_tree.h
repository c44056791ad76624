/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_SOURCE_TREE_H
#define SENTINEL_BUILDER_SOURCE_TREE_H

/*
 * A tracked git repository: a mirror below the state folder and one persistent work tree. The only
 * user of libgit2 for repositories. Object ids are 40 hexadecimal digits, terminated.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/policy.h"
#include "sentinel/base/error.h"

#define OBJECT_ID_SIZE 41

struct source_tree; /* opaque */

struct commit_info {
	char id[OBJECT_ID_SIZE];
	char tree[OBJECT_ID_SIZE];
	char *subject;          /* first line as found: foreign text */
	char *author_name;      /* foreign text */
	char *author_email;     /* foreign text */
	int64_t author_seconds; /* UTC */
	size_t parent_count;
};

/* good..bad: the candidates (ancestors of bad that are not ancestors of good) and good itself. */
struct commit_range {
	size_t count; /* index 0 is good; parents come before children; last is bad */
	char (*ids)[OBJECT_ID_SIZE];
	char (*trees)[OBJECT_ID_SIZE]; /* root tree object of each */
	/* Parents inside the range, as indices; a parent outside counts as index 0, once. */
	size_t **parents;
	size_t *parent_counts;
	bool *relevant; /* false: touches only irrelevant paths (see policy) */
};

/*
 * Opens (creating it when missing) the mirror in FOLDER/mirror.git and the work tree FOLDER/work.
 * For a local path the mirror borrows objects by alternates, or fetches. ERROR_USAGE when URL is a
 * path that is no repository. source_tree_close accepts NULL.
 */
int source_tree_open(const struct policy_tree *policy, const char *folder,
		     struct source_tree **ret_tree, struct error *err);
void source_tree_close(struct source_tree **tree);
#define auto_source_tree __attribute__((cleanup(source_tree_close)))

/* Brings the remote's branches and tags. ERROR_PEER when it cannot be reached. */
int source_tree_fetch(struct source_tree *tree, struct error *err);
/* A revision as git writes it (branch, tag, abbreviated id, HEAD~3) to a commit id. ERROR_USAGE
   names the revision, and the nearest branch or tag. Branches are the remote's. */
int source_tree_resolve(struct source_tree *tree, const char *revision,
			char ret_id[static OBJECT_ID_SIZE], struct error *err);
/* The commit at the head of the watched branch. */
int source_tree_head(struct source_tree *tree, char ret_id[static OBJECT_ID_SIZE],
		     struct error *err);
/* A URL without user name and password, as it may be shown; the caller frees it. */
char *source_tree_show_url(const char *url);
int source_tree_commit_info(struct source_tree *tree, const char *id, struct commit_info *ret_info,
			    struct error *err);
void commit_info_free(struct commit_info *info);
#define auto_commit_info __attribute__((cleanup(commit_info_free)))
/* ERROR_USAGE when good is not an ancestor of bad; the message names their merge base. */
int source_tree_range(struct source_tree *tree, const char *good, const char *bad,
		      struct commit_range *ret_range, struct error *err);
/*
 * How likely each commit of the range is beforehand: what the heaviest path weighs that it changes
 * against its first parent. A path weighs what the longest of its prefixes in WEIGHTS says, or 1.
 * RET_WEIGHTS has room for range->count; good itself and a commit without changes weigh 1.
 */
int source_tree_weigh(struct source_tree *tree, const struct commit_range *range,
		      const struct policy_weight *weights, size_t count, double *ret_weights,
		      struct error *err);
void commit_range_free(struct commit_range *range);
#define auto_commit_range __attribute__((cleanup(commit_range_free)))
/*
 * Makes the work tree equal to the tree object TREE, writing only files that differ, so that make
 * rebuilds only what changed. Untracked files stay. An interrupted checkout is repaired by the
 * next one. *ret_path is owned by the source tree.
 */
int source_tree_checkout(struct source_tree *tree, const char *tree_id, const char **ret_path,
			 struct error *err);
/* Whether MATCHES holds for one of the files that differ between two tree objects. An unknown FROM
   counts as different. */
int source_tree_differs(struct source_tree *tree, const char *from, const char *to,
			bool (*matches)(const char *path), bool *ret_differs, struct error *err);
/* A commit on top of HEAD that undoes COMMIT (a merge against its first parent). It is written to
   the mirror, where no branch holds it; the same two give the same one. When it does not apply,
   returns 0 and *ret_applied is false. */
int source_tree_revert(struct source_tree *tree, const char *commit, const char *head,
		       bool *ret_applied, char ret_commit[static OBJECT_ID_SIZE],
		       struct error *err);
/* Whether ANCESTOR is COMMIT or comes before it. */
int source_tree_is_ancestor(struct source_tree *tree, const char *ancestor, const char *commit,
			    bool *ret_is, struct error *err);
/* Commit ids of the first parents etc. of one commit, at most MAX. */
int source_tree_parents(struct source_tree *tree, const char *id,
			char (*ret_parents)[OBJECT_ID_SIZE], size_t max, size_t *ret_count,
			struct error *err);

#endif
