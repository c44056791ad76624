/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/artifact_store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "builder/artifact_manifest.h"
#include "builder/artifact_pack.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

#define DIGEST_FILE_LIMIT_BYTES 1000

struct artifact_store {
	char *folder;
};

/* The names that belong to one key. */
struct places {
	char *archive;
	char *digest; /* as sha256sum writes it; present: the archive is whole */
	char *unpacked;
	char *verified;  /* marker in the unpacked folder: unpacking came to its end */
	char *temporary; /* for archive and unpacked folder alike */
};

int artifact_store_open(const char *folder, struct artifact_store **ret_store, struct error *err)
{
	if (file_make_folders(folder, err) < 0)
		return -1;
	struct artifact_store *store = memory_array(1, sizeof(*store));
	store->folder = text_copy(folder);
	*ret_store = store;
	return 0;
}

void artifact_store_close(struct artifact_store **handle)
{
	if (!*handle)
		return;
	free((*handle)->folder);
	free(*handle);
	*handle = NULL;
}

static int find_places(const struct artifact_store *store, const char *key,
		       struct places *ret_places, struct error *err)
{
	if (strlen(key) != DIGEST_SIZE - 1 || strspn(key, "0123456789abcdef") != DIGEST_SIZE - 1)
		return error_set(err, ERROR_STATE, "\"%.80s\" is not the key of an artifact", key);
	*ret_places = (struct places){
		.archive = text_format("%s/%s.tar.zst", store->folder, key),
		.digest = text_format("%s/%s.sha256", store->folder, key),
		.unpacked = text_format("%s/%s", store->folder, key),
		.verified = text_format("%s/%s/verified", store->folder, key),
		.temporary = text_format("%s/%s.new", store->folder, key),
	};
	return 0;
}

static void places_free(struct places *places)
{
	free(places->archive);
	free(places->digest);
	free(places->unpacked);
	free(places->verified);
	free(places->temporary);
}

bool artifact_store_has(const struct artifact_store *store, const char *key)
{
	struct places places;
	if (find_places(store, key, &places, NULL) < 0)
		return false;
	bool published = file_exists(places.digest);
	places_free(&places);
	return published;
}

static int remove_file(const char *path, struct error *err)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", path);
	return 0;
}

/* The digest file goes first: without it the rest does not count. */
static int remove_artifact(const struct places *places, struct error *err)
{
	if (remove_file(places->digest, err) < 0 || remove_file(places->archive, err) < 0 ||
	    remove_file(places->verified, err) < 0)
		return -1;
	return file_remove_tree(places->unpacked, err);
}

static int check_archive(const struct places *places, struct error *err)
{
	auto_free char *expected = NULL;
	struct digest digest;
	if (file_read(places->digest, DIGEST_FILE_LIMIT_BYTES, &expected, NULL, err) < 0 ||
	    digest_file(places->archive, &digest, err) < 0)
		return -1;
	if (strncmp(expected, digest.hex, DIGEST_SIZE - 1) != 0)
		return error_set(err, ERROR_STATE, "%s: not the bytes that %s names",
				 places->archive, places->digest);
	return 0;
}

static int unpack(const struct places *places, const char *key, struct error *err)
{
	auto_artifact struct artifact proof = {0};
	auto_free char *mark = text_format("%s/verified", places->temporary);
	if (check_archive(places, err) < 0 || file_remove_tree(places->temporary, err) < 0 ||
	    file_remove_tree(places->unpacked, err) < 0 ||
	    artifact_unpack(places->archive, places->temporary, err) < 0 ||
	    artifact_manifest_read(places->temporary, key, &proof, err) < 0 ||
	    file_write_durable(mark, "", 0, err) < 0)
		return -1;
	return file_rename_durable(places->temporary, places->unpacked, err);
}

static int find_artifact(const struct places *places, const char *key, bool *ret_found,
			 struct artifact *ret_artifact, struct error *err)
{
	struct error damage = {0};
	*ret_found = false;
	if (!file_exists(places->digest))
		return 0;
	*ret_found = true;
	if (file_exists(places->verified) &&
	    artifact_manifest_read(places->unpacked, key, ret_artifact, &damage) == 0)
		return 0;
	if (unpack(places, key, &damage) == 0)
		return artifact_manifest_read(places->unpacked, key, ret_artifact, err);
	/* A full disk is no reason to throw a good archive away. */
	if (damage.kind == ERROR_SYSTEM && file_exists(places->archive))
		return error_set(err, damage.kind, "%s", damage.message);
	log_notice("removing a damaged artifact: %s", damage.message);
	*ret_found = false;
	return remove_artifact(places, err);
}

int artifact_store_get(struct artifact_store *store, const char *key, bool *ret_found,
		       struct artifact *ret_artifact, struct error *err)
{
	struct places places;
	bool found;
	if (find_places(store, key, &places, err) < 0)
		return -1;
	int status = find_artifact(&places, key, &found, ret_artifact, err);
	places_free(&places);
	if (status == 0)
		*ret_found = found;
	return status;
}

static int publish(const struct places *places, const char *key, const char *staging,
		   struct error *err)
{
	auto_artifact struct artifact proof = {0};
	struct digest digest;
	if (artifact_manifest_read(staging, key, &proof, err) < 0 ||
	    remove_artifact(places, err) < 0 || file_remove_tree(places->temporary, err) < 0 ||
	    artifact_pack(staging, places->temporary, err) < 0 ||
	    digest_file(places->temporary, &digest, err) < 0 ||
	    file_rename_durable(places->temporary, places->archive, err) < 0)
		return -1;
	auto_free char *line = text_format("%s  %s.tar.zst\n", digest.hex, key);
	return file_write_durable(places->digest, line, strlen(line), err);
}

int artifact_store_put(struct artifact_store *store, const char *key, const char *staging,
		       struct error *err)
{
	struct places places;
	if (find_places(store, key, &places, err) < 0)
		return -1;
	int status = publish(&places, key, staging, err);
	if (status < 0)
		file_remove_tree(places.temporary, NULL);
	places_free(&places);
	return status;
}

void artifact_free(struct artifact *artifact)
{
	free(artifact->toolchain);
	free(artifact->release);
	free(artifact->version);
	free(artifact->folder);
	free(artifact->image_path);
	free(artifact->modules_cpio_path);
	*artifact = (struct artifact){0};
}
