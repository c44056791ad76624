/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_KERNEL_CONFIG_H
#define SENTINEL_BUILDER_KERNEL_CONFIG_H

/* A kernel's configuration: a base, fragments on top, and the proof that they took effect. */

#include <stdbool.h>
#include <stddef.h>

#include "builder/kbuild.h"
#include "builder/source_tree.h"
#include "policies/policy.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/error.h"

struct kernel_config {
	struct digest digest; /* of the symbols in the final .config */
	bool has_modules;     /* CONFIG_MODULES=y */
};

/* Digest of all that the policy puts in: base, bytes of the fragments, modules. Known before
   anything is checked out. ERROR_USAGE when a file is missing. */
int kernel_config_inputs(const struct policy_tree *policy, struct digest *ret_digest,
			 struct error *err);
struct kernel_config_request {
	const struct policy_tree *policy;
	struct source_tree *source;
	const char *tree_id;         /* what the work tree holds */
	const struct digest *inputs; /* see kernel_config_inputs */
	const char *folder;          /* object folder of the configuration alone; it is kept */
};

/*
 * Writes kbuild->objects/.config, only when its content changes. Nothing is made when the last
 * configuration had the same inputs and toolchain and no file that Kconfig reads has changed since.
 * A symbol that did not survive is ERROR_USAGE naming each with the value asked and got. When the
 * tree's own Kconfig is broken, ret_result->made is false and says why.
 */
int kernel_config_make(const struct kbuild *kbuild, const struct kernel_config_request *request,
		       struct kernel_config *ret_config, struct kbuild_result *ret_result,
		       struct error *err);
/* Whether a change of PATH in the source tree can change a configuration. */
bool kernel_config_reads(const char *path);

/* One line of a fragment or a .config. */
struct config_symbol {
	char *name;   /* "CONFIG_SMP" */
	char *value;  /* "y", "m", "n", "8", "\"text\"" */
	char *origin; /* file it was read from, for messages */
};
struct config_symbols {
	struct config_symbol *items;
	size_t count;
};

/* Adds the symbols of TEXT; a later value of a name replaces an earlier one. ERROR_USAGE names
   ORIGIN and line when a line is neither setting, comment nor empty. */
int config_symbols_parse(const char *text, const char *origin, struct config_symbols *symbols,
			 struct error *err);
/* ERROR_USAGE names each symbol of WANTED that FINAL has not; absent there counts as "n". */
int config_symbols_check(const struct config_symbols *wanted, const struct config_symbols *final,
			 struct error *err);
void config_symbols_digest(const struct config_symbols *symbols, struct digest *ret_digest);
void config_symbols_free(struct config_symbols *symbols);
#define auto_config_symbols __attribute__((cleanup(config_symbols_free)))

#endif
