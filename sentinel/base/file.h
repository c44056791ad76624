/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_FILE_H
#define SENTINEL_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sentinel/base/error.h"

/* Reads a whole file of at most LIMIT_BYTES; a NUL is appended and not counted. Caller frees. */
int file_read(const char *path, size_t limit_bytes, char **ret_bytes, size_t *ret_length,
	      struct error *err);
/*
 * Replaces PATH as a whole: a temporary file beside it is written, synced and renamed over it, and
 * the folder is synced. After a power cut there is the old file or the new one, never a part.
 */
int file_write_durable(const char *path, const void *bytes, size_t length, struct error *err);
/* Renames within one file system and syncs both folders. */
int file_rename_durable(const char *from, const char *to, struct error *err);
/* Like mkdir -p, mode 0755. An existing folder is success. */
int file_make_folders(const char *path, struct error *err);
/* Removes a tree without following symbolic links; a missing one is success. */
int file_remove_tree(const char *path, struct error *err);
/* Copies contents and permission bits; TO is replaced by rename. */
int file_copy(const char *from, const char *to, struct error *err);
bool file_exists(const char *path);
bool file_is_folder(const char *path);
/* Bytes; -1 when it cannot be read. */
int64_t file_size_bytes(const char *path);
/* Free space for us on the file system that holds PATH, in bytes. */
int file_free_bytes(const char *path, int64_t *ret_bytes, struct error *err);
/* Waits for nothing: -1 with ERROR_STATE that names the holder's pid when another process has it.
   The lock ends with the process. *ret_fd is the caller's to close. */
int file_lock(const char *path, int *ret_fd, struct error *err);

#endif
