/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/artifact_manifest.h"
#include "builder/artifact_pack.h"
#include "builder/artifact_store.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

struct fixture {
	char *scratch;
	char *staging;
	char *archive;
	char *unpacked_image;
	struct artifact_store *store;
};

static void put_file(const char *folder, const char *name, const char *content)
{
	auto_free char *path = text_format("%s/%s", folder, name);
	auto_free char *parent = text_copy(path);
	struct error err;
	*strrchr(parent, '/') = '\0';
	assert_ok(file_make_folders(parent, &err), &err);
	assert_ok(file_write_durable(path, content, strlen(content), &err), &err);
}

static void make_staging(const char *folder, const char *key, const char *image)
{
	struct error err;
	char toolchain[] = "gcc 12.2.0, ld 2.40";
	char release[] = "6.1.0";
	char version[] = "#1 SMP";
	struct artifact artifact = {.toolchain = toolchain, .release = release, .version = version};
	const struct artifact_sources sources = {.tree = "tree", .config_inputs = "inputs"};
	snprintf(artifact.key, sizeof(artifact.key), "%s", key);
	snprintf(artifact.config_digest, sizeof(artifact.config_digest), "%s", OTHER);
	put_file(folder, ARTIFACT_IMAGE, image);
	put_file(folder, ARTIFACT_CONFIG, "CONFIG_SMP=y\n");
	put_file(folder, ARTIFACT_SYMBOLS, "0 T _start\n");
	put_file(folder, ARTIFACT_MODULES_CPIO, "070701");
	put_file(folder, "modules/lib/modules/6.1.0/kernel/crc32.ko", "ELF");
	assert_ok(artifact_manifest_write(folder, &artifact, &sources, &err), &err);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;
	fixture->scratch = make_scratch();
	fixture->staging = text_format("%s/staging", fixture->scratch);
	fixture->archive = text_format("%s/store/%s.tar.zst", fixture->scratch, KEY);
	fixture->unpacked_image = text_format("%s/store/%s/bzImage", fixture->scratch, KEY);
	auto_free char *folder = text_format("%s/store", fixture->scratch);
	assert_ok(artifact_store_open(folder, &fixture->store, &err), &err);
	make_staging(fixture->staging, KEY, "image");
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	artifact_store_close(&fixture->store);
	file_remove_tree(fixture->scratch, NULL);
	free(fixture->scratch);
	free(fixture->staging);
	free(fixture->archive);
	free(fixture->unpacked_image);
	free(fixture);
	return 0;
}

static void put(struct fixture *fixture)
{
	struct error err;
	assert_ok(artifact_store_put(fixture->store, KEY, fixture->staging, &err), &err);
}

static bool get(struct fixture *fixture, struct artifact *artifact)
{
	struct error err;
	bool found = false;
	assert_ok(artifact_store_get(fixture->store, KEY, &found, artifact, &err), &err);
	return found;
}

static void flip_byte(const char *path)
{
	auto_close int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte;
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, 3), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 3), 1);
}

static void test_an_artifact_comes_back_as_it_was_put(void **state)
{
	auto_artifact struct artifact artifact = {0};
	auto_free char *image = NULL;
	struct error err;
	assert_false(get(*state, &artifact));
	put(*state);
	assert_true(get(*state, &artifact));
	assert_string_equal(artifact.release, "6.1.0");
	assert_string_equal(artifact.config_digest, OTHER);
	assert_ok(file_read(artifact.image_path, 100, &image, NULL, &err), &err);
	assert_string_equal(image, "image");
	assert_true(file_exists(artifact.modules_cpio_path));
	assert_string_equal(artifact.version, "#1 SMP");
}

static void test_equal_contents_give_equal_archives(void **state)
{
	struct fixture *fixture = *state;
	struct digest first;
	struct digest second;
	struct error err;
	put(fixture);
	assert_ok(digest_file(fixture->archive, &first, &err), &err);
	auto_free char *map = text_format("%s/System.map", fixture->staging);
	assert_int_equal(utimensat(AT_FDCWD, map, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
	assert_int_equal(chmod(map, 0600), 0);
	put(fixture);
	assert_ok(digest_file(fixture->archive, &second, &err), &err);
	assert_string_equal(first.hex, second.hex);
}

static void test_the_image_digest_names_image_and_modules_only(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_artifact struct artifact first = {0};
	auto_artifact struct artifact other_commit = {0};
	auto_artifact struct artifact other_modules = {0};
	auto_free char *folder = text_format("%s/other", fixture->scratch);
	assert_ok(artifact_manifest_read(fixture->staging, KEY, &first, &err), &err);
	make_staging(folder, OTHER, "image");
	assert_ok(artifact_manifest_read(folder, OTHER, &other_commit, &err), &err);
	assert_string_equal(first.image_digest, other_commit.image_digest);
	put_file(folder, ARTIFACT_MODULES_CPIO, "070702");
	assert_int_equal(artifact_manifest_read(folder, OTHER, &other_modules, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
}

static void test_a_damaged_archive_is_removed_and_not_found(void **state)
{
	struct fixture *fixture = *state;
	auto_artifact struct artifact artifact = {0};
	put(fixture);
	flip_byte(fixture->archive);
	assert_false(get(fixture, &artifact));
	assert_false(file_exists(fixture->archive));
	put(fixture);
	assert_true(get(fixture, &artifact));
}

static void test_a_damaged_unpacked_image_is_unpacked_again(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *image = NULL;
	auto_artifact struct artifact first = {0};
	auto_artifact struct artifact second = {0};
	put(fixture);
	assert_true(get(fixture, &first));
	flip_byte(fixture->unpacked_image);
	assert_true(get(fixture, &second));
	assert_ok(file_read(fixture->unpacked_image, 100, &image, NULL, &err), &err);
	assert_string_equal(image, "image");
}

static void test_an_archive_without_its_digest_does_not_count(void **state)
{
	struct fixture *fixture = *state;
	auto_artifact struct artifact artifact = {0};
	auto_free char *digest = text_format("%s/store/%s.sha256", fixture->scratch, KEY);
	put(fixture);
	assert_int_equal(unlink(digest), 0);
	assert_false(get(fixture, &artifact));
}

static void test_a_staging_folder_that_is_not_whole_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *link = text_format("%s/modules/build", fixture->staging);
	auto_artifact struct artifact artifact = {0};
	assert_int_equal(symlink("/etc", link), 0);
	assert_int_equal(artifact_store_put(fixture->store, KEY, fixture->staging, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(artifact_store_put(fixture->store, OTHER, fixture->staging, &err), -1);
	assert_contains(err.message, "another key");
	assert_int_equal(artifact_store_put(fixture->store, "../../etc", fixture->staging, &err),
			 -1);
	assert_false(get(fixture, &artifact));
}

struct hostile_entry {
	const char *name;
	mode_t type;
	const char *link;
	bool hard;
};

static void write_hostile(const char *path, const struct hostile_entry *hostile)
{
	struct archive *archive = archive_write_new();
	archive_write_set_format_pax_restricted(archive);
	archive_write_add_filter_zstd(archive);
	assert_int_equal(archive_write_open_filename(archive, path), ARCHIVE_OK);
	struct archive_entry *entry = archive_entry_new();
	archive_entry_set_pathname(entry, hostile->name);
	archive_entry_set_filetype(entry, hostile->type);
	archive_entry_set_perm(entry, 04755);
	archive_entry_set_size(entry, hostile->type == AE_IFREG && !hostile->hard ? 4 : 0);
	if (hostile->hard)
		archive_entry_set_hardlink(entry, hostile->link);
	else if (hostile->link)
		archive_entry_set_symlink(entry, hostile->link);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	if (hostile->type == AE_IFREG && !hostile->hard)
		assert_int_equal(archive_write_data(archive, "evil", 4), 4);
	archive_entry_free(entry);
	assert_int_equal(archive_write_free(archive), ARCHIVE_OK);
}

static void test_hostile_archives_stay_inside_their_folder(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *absolute = text_format("%s/absolute", fixture->scratch);
	const struct hostile_entry entries[] = {
		{"../escaped", AE_IFREG, NULL, false}, {absolute, AE_IFREG, NULL, false},
		{"link", AE_IFLNK, "/etc", false},     {"hard", AE_IFREG, fixture->archive, true},
		{"fifo", AE_IFIFO, NULL, false},       {"device", AE_IFCHR, NULL, false},
	};
	auto_free char *escaped = text_format("%s/escaped", fixture->scratch);
	auto_free char *folder = text_format("%s/unpacked", fixture->scratch);
	auto_free char *archive = text_format("%s/hostile.tar.zst", fixture->scratch);
	auto_free char *before = getcwd(NULL, 0);
	for (size_t i = 0; i < array_length(entries); i++) {
		struct error err;
		write_hostile(archive, &entries[i]);
		assert_ok(file_remove_tree(folder, &err), &err);
		assert_int_equal(artifact_unpack(archive, folder, &err), -1);
		assert_int_equal(err.kind, ERROR_STATE);
		assert_false(file_exists(escaped));
		assert_false(file_exists(absolute));
	}
	auto_free char *after = getcwd(NULL, 0);
	assert_string_equal(before, after);
}

static void test_a_set_user_bit_is_not_unpacked(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	struct stat status;
	const struct hostile_entry entry = {"program", AE_IFREG, NULL, false};
	auto_free char *folder = text_format("%s/unpacked", fixture->scratch);
	auto_free char *program = text_format("%s/program", folder);
	auto_free char *archive = text_format("%s/hostile.tar.zst", fixture->scratch);
	write_hostile(archive, &entry);
	assert_ok(artifact_unpack(archive, folder, &err), &err);
	assert_int_equal(stat(program, &status), 0);
	assert_int_equal(status.st_mode & 07111, 0);
}

static void test_a_truncated_archive_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *folder = text_format("%s/unpacked", fixture->scratch);
	put(fixture);
	assert_int_equal(truncate(fixture->archive, file_size_bytes(fixture->archive) - 20), 0);
	assert_int_equal(artifact_unpack(fixture->archive, folder, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
}

int main(void)
{
#define store_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		store_test(test_an_artifact_comes_back_as_it_was_put),
		store_test(test_equal_contents_give_equal_archives),
		store_test(test_the_image_digest_names_image_and_modules_only),
		store_test(test_a_damaged_archive_is_removed_and_not_found),
		store_test(test_a_damaged_unpacked_image_is_unpacked_again),
		store_test(test_an_archive_without_its_digest_does_not_count),
		store_test(test_a_staging_folder_that_is_not_whole_is_refused),
		store_test(test_hostile_archives_stay_inside_their_folder),
		store_test(test_a_set_user_bit_is_not_unpacked),
		store_test(test_a_truncated_archive_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
