/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_ARTIFACT_MANIFEST_H
#define SENTINEL_BUILDER_ARTIFACT_MANIFEST_H

/*
 * manifest.json of an artifact: what was built, from what, and the digests of its parts. Every
 * other file of the artifact's folder has a fixed name.
 */

#include "builder/artifact_store.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/error.h"

#define ARTIFACT_FORMAT 1
#define ARTIFACT_IMAGE "bzImage"
#define ARTIFACT_CONFIG "config"
#define ARTIFACT_SYMBOLS "System.map"
#define ARTIFACT_MODULES "modules"
#define ARTIFACT_MODULES_CPIO "modules.cpio"
#define ARTIFACT_MANIFEST "manifest.json"

/* What the manifest says beyond struct artifact. */
struct artifact_sources {
	const char *tree;          /* tree object that was built */
	const char *config_inputs; /* digest of base, fragments and module list */
};

/*
 * Computes the digests of the parts in FOLDER and writes FOLDER/manifest.json. Of ARTIFACT only
 * key, config_digest, toolchain, release and version are read. Durable.
 */
int artifact_manifest_write(const char *folder, const struct artifact *artifact,
			    const struct artifact_sources *sources, struct error *err);
/*
 * Reads FOLDER/manifest.json and proves that the parts have the digests it names and that it
 * belongs to KEY. ERROR_STATE otherwise. The caller frees *ret_artifact.
 */
int artifact_manifest_read(const char *folder, const char *key, struct artifact *ret_artifact,
			   struct error *err);

#endif
