/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_ARTIFACT_PACK_H
#define SENTINEL_BUILDER_ARTIFACT_PACK_H

/* A folder of regular files as one .tar.zst, and back. Internal to artifact_store. */

#include "sentinel/base/error.h"

/*
 * Writes FOLDER as TARGET and syncs it. Equal contents give equal bytes: sorted paths, fixed owner,
 * mode and time. Anything but regular files and folders is ERROR_STATE.
 */
int artifact_pack(const char *folder, const char *target, struct error *err);
/*
 * Unpacks into FOLDER, which is made and must not exist. Archives are hostile: only regular files
 * and folders with plain relative names, at most ARTIFACT_LIMIT_BYTES altogether; the rest is
 * ERROR_STATE and FOLDER is to be thrown away.
 */
int artifact_unpack(const char *archive, const char *folder, struct error *err);

#define ARTIFACT_LIMIT_BYTES (INT64_C(4) << 30)

#endif
