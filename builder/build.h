/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_BUILD_H
#define SENTINEL_BUILDER_BUILD_H

/*
 * Tree object -> artifact. kbuild runs out of tree with a fixed user, host and timestamp and no
 * commit id, so that equal sources give equal images. A kernel that does not build is a result.
 */

#include <stdbool.h>

#include "builder/artifact_store.h"
#include "builder/source_tree.h"
#include "policies/policy.h"
#include "sentinel/base/error.h"

enum build_state { BUILD_OK, BUILD_FAILED };

struct build_result {
	enum build_state state;
	bool reused;              /* taken from the artifact store, nothing was built */
	struct artifact artifact; /* when BUILD_OK */
	char *log_path;           /* full output of make, kept; owned */
	char *reason;             /* when BUILD_FAILED: the first error line, one line; owned */
	bool timed_out;           /* when BUILD_FAILED: a busy host can do this to a good kernel */
	double seconds;           /* spent now */
};

/* How kernels of this tree are built, here and now: configuration asked for, and toolchain. */
int build_recipe(const struct policy_tree *policy, struct digest *ret_recipe, struct error *err);
/*
 * The artifact key that a build of TREE_ID in LAYOUT would have, here and now; nothing is built.
 * ERROR_USAGE when there is no such layout.
 */
int build_key(const struct policy_tree *policy, const char *tree_id, size_t layout,
	      char ret_key[static DIGEST_SIZE], struct error *err);
/* The same for many trees, with a recipe of build_recipe(); only of the plain layout. */
void build_plain_key(const struct digest *recipe, const char *tree_id,
		     char ret_key[static DIGEST_SIZE]);

/*
 * Builds TREE_ID of SOURCE in LAYOUT (builder/layout.h), or takes the finished artifact from the
 * store. FOLDER holds an object folder for each layout (FOLDER/objects, FOLDER/objects-layout-1 …),
 * logs and kbuild's staging. A configuration symbol that was asked for and did not survive is
 * ERROR_USAGE naming every such symbol; a missing tool is ERROR_SYSTEM.
 */
int build_kernel(struct source_tree *source, const struct policy_tree *policy, const char *tree_id,
		 size_t layout, const char *folder, struct artifact_store *store,
		 struct build_result *ret_result, struct error *err);
void build_result_free(struct build_result *result);
#define auto_build_result __attribute__((cleanup(build_result_free)))

#endif
