/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_POLICIES_POLICY_VALUES_H
#define SENTINEL_POLICIES_POLICY_VALUES_H

/* One value of a policy file: its text checked against the key's row and put into the struct. */

#include <stdbool.h>

#include "policies/policy_keys.h"
#include "sentinel/base/error.h"

/* Longest value, in bytes. */
#define POLICY_VALUE_LIMIT 4096

/* What relative file names are taken relative to; both absolute. */
struct policy_folders {
	const char *file;    /* folder of the policy file */
	const char *shipped; /* for names that start with "shipped:" */
};

/*
 * Stores TEXT in the member of ITEM that KEY describes. Keys of many values append; others replace.
 * ERROR_USAGE says only what is wrong with the value; the caller adds where it stands.
 */
int policy_value_store(const struct policy_key *key, const char *text,
		       const struct policy_folders *folders, void *item, struct error *err);
/* Frees the member and leaves it empty. */
void policy_value_clear(const struct policy_key *key, void *item);
/* The file that a PATH in a policy file means, absolute: "~/", "shipped:" and relative names are
   resolved. The caller frees it. */
char *policy_value_path(const char *path, const struct policy_folders *folders);
/* Letters, digits and "._-", at most 64, the first a letter or digit: fit for file names, series
   names and terminals. */
bool policy_name_is_valid(const char *name);

#endif
