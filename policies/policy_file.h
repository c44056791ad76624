/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_POLICIES_POLICY_FILE_H
#define SENTINEL_POLICIES_POLICY_FILE_H

/* The only user of libgit2's config reader: a git-config file as a row of entries. */

#include "sentinel/base/error.h"

/* "[section "name"] key = value". Section and key in lower case; all text is foreign. */
struct policy_entry {
	const char *section;
	const char *name; /* "" without one */
	const char *key;
	const char *value;          /* never NULL */
	unsigned int include_depth; /* 0: in the file itself */
};

/* Returns 0, or -1 with *err set, which ends the reading. */
typedef int policy_visit(const struct policy_entry *entry, void *context, struct error *err);

/*
 * Visits the entries of PATH and of the files that its [include] sections name, in order, and of no
 * other file. ERROR_USAGE: PATH or a file it includes is missing, too large or no git-config text
 * (with the line). An error of VISIT gets file, section, key and value put before it.
 */
int policy_file_read(const char *path, policy_visit *visit, void *context, struct error *err);

/* Keep libgit2 loaded between several reads: starting it costs more than a read. May be nested. */
void policy_file_begin(void);
void policy_file_end(void);

#endif
