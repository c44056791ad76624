/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_OBJECT_FOLDER_H
#define SENTINEL_BUILDER_OBJECT_FOLDER_H

/*
 * kbuild's object folder, kept trustworthy. When make is killed, or the power goes, a half-written
 * object may stay behind that is newer than its source, and make would take it for good; a kernel
 * would then be blamed for our own accident. So a mark stands while make works, and whoever finds
 * one removes what was written last. Compilers that outlive a killed Sentinel are waited for.
 */

#include "sentinel/base/error.h"

struct object_folder {
	char *path; /* owned */
	char *mark; /* owned */
	int lock;   /* inherited by make and all that it starts; -1: none */
};

/* Makes, locks and repairs PATH. The wait for survivors of an earlier build ends after
   WAIT_SECONDS with ERROR_STATE. */
int object_folder_open(const char *path, double wait_seconds, struct object_folder *ret_folder,
		       struct error *err);
void object_folder_close(struct object_folder *folder);
#define auto_object_folder __attribute__((cleanup(object_folder_close)))

/* Make is about to work; the mark is durable. */
int object_folder_begin(const struct object_folder *folder, struct error *err);
/* Make came to its own end: everything is on disk, and then the mark goes. */
int object_folder_end(const struct object_folder *folder, struct error *err);

#endif
