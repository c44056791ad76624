/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/artifact_manifest.h"

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/json.h"
#include "sentinel/base/text.h"

#define MANIFEST_LIMIT_BYTES 65536
#define NO_MODULES "none"

struct part_digests {
	struct digest image;
	struct digest modules; /* NO_MODULES without a modules part */
	struct digest both;
};

static int digest_parts(const char *folder, struct part_digests *ret_digests, struct error *err)
{
	auto_free char *image = text_format("%s/%s", folder, ARTIFACT_IMAGE);
	auto_free char *modules = text_format("%s/%s", folder, ARTIFACT_MODULES_CPIO);
	struct part_digests digests = {.modules.hex = NO_MODULES};
	if (digest_file(image, &digests.image, err) < 0 ||
	    (file_exists(modules) && digest_file(modules, &digests.modules, err) < 0))
		return -1;
	auto_free char *both = text_format("%s %s", digests.image.hex, digests.modules.hex);
	digest_text(both, &digests.both);
	*ret_digests = digests;
	return 0;
}

int artifact_manifest_write(const char *folder, const struct artifact *artifact,
			    const struct artifact_sources *sources, struct error *err)
{
	struct part_digests digests;
	if (digest_parts(folder, &digests, err) < 0)
		return -1;
	auto_json json_t *manifest = json_object();
	json_object_set_new(manifest, "format", json_integer(ARTIFACT_FORMAT));
	const struct {
		const char *name;
		const char *value;
	} members[] = {
		{"key", artifact->key},
		{"tree", sources->tree},
		{"config_inputs", sources->config_inputs},
		{"config_digest", artifact->config_digest},
		{"toolchain", artifact->toolchain},
		{"release", artifact->release},
		{"version", artifact->version},
		{"bzimage_sha256", digests.image.hex},
		{"modules_sha256", digests.modules.hex},
		{"image_digest", digests.both.hex},
	};
	for (size_t i = 0; i < array_length(members); i++)
		json_object_set_new(manifest, members[i].name,
				    json_foreign(members[i].value, strlen(members[i].value)));
	auto_free char *text = json_to_text(manifest);
	auto_free char *path = text_format("%s/%s", folder, ARTIFACT_MANIFEST);
	return file_write_durable(path, text, strlen(text), err);
}

static int check_parts(const json_t *manifest, const char *folder, const char *path,
		       struct error *err)
{
	struct part_digests digests;
	const char *image;
	const char *modules;
	const char *both;
	if (json_get_string(manifest, "bzimage_sha256", path, &image, err) < 0 ||
	    json_get_string(manifest, "modules_sha256", path, &modules, err) < 0 ||
	    json_get_string(manifest, "image_digest", path, &both, err) < 0 ||
	    digest_parts(folder, &digests, err) < 0)
		return -1;
	if (strcmp(image, digests.image.hex) != 0 || strcmp(modules, digests.modules.hex) != 0 ||
	    strcmp(both, digests.both.hex) != 0)
		return error_set(err, ERROR_STATE, "%s: the image is not what the manifest says",
				 folder);
	return 0;
}

static int read_fields(const json_t *manifest, const char *key, const char *path,
		       struct artifact *artifact, struct error *err)
{
	json_int_t format;
	const char *named_key, *image, *config, *toolchain, *release, *version;
	if (json_get_integer(manifest, "format", path, &format, err) < 0 ||
	    json_get_string(manifest, "key", path, &named_key, err) < 0 ||
	    json_get_string(manifest, "image_digest", path, &image, err) < 0 ||
	    json_get_string(manifest, "config_digest", path, &config, err) < 0 ||
	    json_get_string(manifest, "toolchain", path, &toolchain, err) < 0 ||
	    json_get_string(manifest, "release", path, &release, err) < 0 ||
	    json_get_string(manifest, "version", path, &version, err) < 0)
		return -1;
	if (format != ARTIFACT_FORMAT || strcmp(named_key, key) != 0)
		return error_set(err, ERROR_STATE, "%s: belongs to another key or format", path);
	snprintf(artifact->key, DIGEST_SIZE, "%s", key);
	snprintf(artifact->image_digest, DIGEST_SIZE, "%s", image);
	snprintf(artifact->config_digest, DIGEST_SIZE, "%s", config);
	artifact->toolchain = text_copy(toolchain);
	artifact->release = text_copy(release);
	artifact->version = text_copy(version);
	return 0;
}

int artifact_manifest_read(const char *folder, const char *key, struct artifact *ret_artifact,
			   struct error *err)
{
	auto_free char *path = text_format("%s/%s", folder, ARTIFACT_MANIFEST);
	auto_free char *modules = text_format("%s/%s", folder, ARTIFACT_MODULES_CPIO);
	auto_free char *text = NULL;
	auto_json json_t *manifest = NULL;
	auto_artifact struct artifact artifact = {0};
	size_t length;
	if (file_read(path, MANIFEST_LIMIT_BYTES, &text, &length, err) < 0 ||
	    json_parse_object(text, length, path, &manifest, err) < 0 ||
	    read_fields(manifest, key, path, &artifact, err) < 0 ||
	    check_parts(manifest, folder, path, err) < 0)
		return -1;
	artifact.folder = text_copy(folder);
	artifact.image_path = text_format("%s/%s", folder, ARTIFACT_IMAGE);
	if (file_exists(modules))
		artifact.modules_cpio_path = take(modules);
	*ret_artifact = artifact;
	artifact = (struct artifact){0};
	return 0;
}
