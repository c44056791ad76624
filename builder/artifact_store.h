/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_ARTIFACT_STORE_H
#define SENTINEL_BUILDER_ARTIFACT_STORE_H

/*
 * Finished builds, addressed by what was built: KEY = SHA-256 over tree object, inputs of the
 * configuration, toolchain and module list. One artifact is KEY.tar.zst (bzImage, config,
 * System.map, modules/, modules.cpio, manifest.json) and KEY.sha256 beside it, both published by
 * rename; whoever sees the digest file sees a whole artifact.
 */

#include <stdbool.h>
#include <stddef.h>

#include "sentinel/base/digest.h"
#include "sentinel/base/error.h"

struct artifact_store; /* opaque */

struct artifact {
	char key[DIGEST_SIZE];
	char image_digest[DIGEST_SIZE]; /* of bzImage and loaded modules: equal digests = equal
					   kernels, whatever the commit */
	char config_digest[DIGEST_SIZE];
	char *toolchain; /* "gcc 12.2.0, ld 2.40"; owned */
	char *release;   /* uname -r of this kernel; owned */
	char *version;   /* uname -v; owned */
	/* Where the parts lie, unpacked and verified, read-only for others; owned. */
	char *folder;
	char *image_path;
	char *modules_cpio_path; /* initramfs part with the modules, or NULL */
};

int artifact_store_open(const char *folder, struct artifact_store **ret_store, struct error *err);
void artifact_store_close(struct artifact_store **store);
#define auto_artifact_store __attribute__((cleanup(artifact_store_close)))

/* Finds, verifies (SHA-256) and unpacks KEY. *ret_found false: not there, or damaged and removed.
 */
int artifact_store_get(struct artifact_store *store, const char *key, bool *ret_found,
		       struct artifact *ret_artifact, struct error *err);
/* Whether KEY was published; nothing is verified. */
bool artifact_store_has(const struct artifact_store *store, const char *key);
/* Packs STAGING (bzImage, config, System.map, modules/, manifest.json) and publishes it. */
int artifact_store_put(struct artifact_store *store, const char *key, const char *staging,
		       struct error *err);
void artifact_free(struct artifact *artifact);
#define auto_artifact __attribute__((cleanup(artifact_free)))

#endif
