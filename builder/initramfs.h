/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_INITRAMFS_H
#define SENTINEL_BUILDER_INITRAMFS_H

/*
 * Writes a newc cpio archive (uncompressed; the kernel accepts several in a row in one initrd file)
 * with libarchive. Equal inputs give equal bytes: fixed owner, times and inode numbers.
 */

#include <stddef.h>
#include <sys/types.h>

#include "sentinel/base/error.h"

struct initramfs; /* opaque: an archive being written */

int initramfs_create(const char *path, struct initramfs **ret_initramfs, struct error *err);
/* Paths are relative ("lib/x.so"); missing parent folders are added. A path given twice is skipped.
 */
int initramfs_add_file(struct initramfs *initramfs, const char *path, const char *source,
		       mode_t mode, struct error *err);
int initramfs_add_bytes(struct initramfs *initramfs, const char *path, const void *bytes,
			size_t length, mode_t mode, struct error *err);
int initramfs_add_folder(struct initramfs *initramfs, const char *path, struct error *err);
int initramfs_add_device(struct initramfs *initramfs, const char *path, unsigned int major,
			 unsigned int minor, struct error *err);
/* A program found in PATH with its dynamic loader and all its libraries. ERROR_SYSTEM names
   PACKAGE when the program is missing. */
int initramfs_add_program(struct initramfs *initramfs, const char *program, const char *package,
			  struct error *err);
/* Finishes and publishes by rename. After it, or on scope exit, the handle is gone. */
int initramfs_finish(struct initramfs **initramfs, struct error *err);
void initramfs_abandon(struct initramfs **initramfs);
#define auto_initramfs __attribute__((cleanup(initramfs_abandon)))

/* Writes the parts one after the other, each padded to four bytes. */
int initramfs_concatenate(const char *path, const char *const *parts, size_t count,
			  struct error *err);

#endif
