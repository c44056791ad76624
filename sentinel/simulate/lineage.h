/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_LINEAGE_H
#define SENTINEL_SIMULATE_LINEAGE_H

/* Histories to hunt in, and parts of them. Random numbers come from the process's stream. */

#include "bisect/commit_graph.h"

enum lineage_shape {
	LINEAGE_LINEAR,
	LINEAGE_DAG, /* topic branches fork off a main line, overlap, and are merged into it */
};

/* Every commit is an ancestor of the last one. Errors of commit_graph_create. */
int lineage_create(enum lineage_shape shape, size_t commits, struct commit_graph **ret_graph,
		   struct error *err);

/*
 * The commits that BAD holds and GOOD does not, after GOOD itself. ret_commits[i]: commit i of the
 * part in the whole; the caller frees it. A parent outside becomes GOOD. At least one commit must
 * be left beside GOOD.
 */
int lineage_part(const struct commit_graph *whole, size_t good, size_t bad,
		 struct commit_graph **ret_part, size_t **ret_commits, struct error *err);

#endif
