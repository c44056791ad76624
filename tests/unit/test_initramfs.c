/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "builder/initramfs.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

static int set_up(void **state)
{
	*state = make_scratch();
	return 0;
}

static int tear_down(void **state)
{
	file_remove_tree(*state, NULL);
	free(*state);
	return 0;
}

static void write_example(const char *scratch, const char *path)
{
	struct error err;
	auto_initramfs struct initramfs *initramfs = NULL;
	auto_free char *source = text_format("%s/source", scratch);
	assert_ok(file_write_durable(source, "content", 7, &err), &err);
	assert_ok(initramfs_create(path, &initramfs, &err), &err);
	assert_ok(initramfs_add_file(initramfs, "lib/deep/file", source, 0755, &err), &err);
	assert_ok(initramfs_add_file(initramfs, "lib/deep/file", source, 0755, &err), &err);
	assert_ok(initramfs_add_bytes(initramfs, "init", "#!", 2, 0700, &err), &err);
	assert_ok(initramfs_add_device(initramfs, "dev/console", 5, 1, &err), &err);
	assert_ok(initramfs_add_folder(initramfs, "proc", &err), &err);
	assert_false(file_exists(path));
	assert_ok(initramfs_finish(&initramfs, &err), &err);
	assert_null(initramfs);
}

static struct archive *read_back(const char *path)
{
	struct archive *archive = archive_read_new();
	archive_read_support_format_cpio(archive);
	assert_int_equal(archive_read_open_filename(archive, path, 10240), ARCHIVE_OK);
	return archive;
}

static void test_entries_come_back_with_parents_first_and_each_once(void **state)
{
	static const struct {
		const char *path;
		mode_t mode;
		int64_t size;
	} expected[] = {
		{"lib", S_IFDIR | 0755, 0},           {"lib/deep", S_IFDIR | 0755, 0},
		{"lib/deep/file", S_IFREG | 0755, 7}, {"init", S_IFREG | 0700, 2},
		{"dev", S_IFDIR | 0755, 0},           {"dev/console", S_IFCHR | 0600, 0},
		{"proc", S_IFDIR | 0755, 0},
	};
	auto_free char *path = text_format("%s/initramfs", (char *)*state);
	write_example(*state, path);
	struct archive *archive = read_back(path);
	struct archive_entry *entry;
	for (size_t i = 0; i < array_length(expected); i++) {
		assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_OK);
		assert_string_equal(archive_entry_pathname(entry), expected[i].path);
		assert_int_equal(archive_entry_mode(entry), expected[i].mode);
		assert_int_equal(archive_entry_size(entry), expected[i].size);
		assert_int_equal(archive_entry_uid(entry), 0);
		assert_int_equal(archive_entry_mtime(entry), 0);
		if (S_ISCHR(expected[i].mode))
			assert_int_equal(archive_entry_rdev(entry), makedev(5, 1));
	}
	assert_int_equal(archive_read_next_header(archive, &entry), ARCHIVE_EOF);
	archive_read_free(archive);
}

static void test_equal_inputs_give_equal_bytes(void **state)
{
	struct digest digests[2];
	struct error err;
	for (int i = 0; i < 2; i++) {
		auto_free char *path = text_format("%s/initramfs-%d", (char *)*state, i);
		write_example(*state, path);
		assert_ok(digest_file(path, &digests[i], &err), &err);
	}
	assert_string_equal(digests[0].hex, digests[1].hex);
}

static void test_paths_that_leave_the_archive_are_refused(void **state)
{
	static const char *const refused[] = {"",          "/etc/passwd", "../x",
					      "a/../../x", "a//b",        "a/."};
	struct error err;
	auto_free char *path = text_format("%s/initramfs", (char *)*state);
	auto_initramfs struct initramfs *initramfs = NULL;
	assert_ok(initramfs_create(path, &initramfs, &err), &err);
	for (size_t i = 0; i < array_length(refused); i++) {
		assert_int_equal(initramfs_add_bytes(initramfs, refused[i], "x", 1, 0644, &err),
				 -1);
		assert_int_equal(err.kind, ERROR_USAGE);
	}
}

static void test_an_abandoned_archive_leaves_nothing(void **state)
{
	struct error err;
	auto_free char *path = text_format("%s/initramfs", (char *)*state);
	auto_free char *temporary = text_format("%s.new", path);
	struct initramfs *initramfs = NULL;
	assert_ok(initramfs_create(path, &initramfs, &err), &err);
	assert_true(file_exists(temporary));
	initramfs_abandon(&initramfs);
	assert_false(file_exists(temporary));
	assert_false(file_exists(path));
}

/* Unpacks the archive and runs the program with the loader and libraries found in it only. */
static void test_a_program_brings_all_that_it_needs_to_run(void **state)
{
	struct error err;
	/* Before anything is allocated: skip() does not come back to release it. */
	if (geteuid() != 0) {
		print_message("NOT TESTED: only root may change its root folder\n");
		skip();
	}
	const char *scratch = *state;
	auto_free char *path = text_format("%s/initramfs", scratch);
	auto_free char *cpio = NULL;
	auto_initramfs struct initramfs *initramfs = NULL;
	assert_ok(process_find_program("cpio", "cpio", &cpio, &err), &err);
	assert_ok(initramfs_create(path, &initramfs, &err), &err);
	assert_ok(initramfs_add_program(initramfs, "ls", "coreutils", &err), &err);
	assert_ok(initramfs_finish(&initramfs, &err), &err);
	const char *const unpack[] = {cpio, "-idm", "--quiet", "-F", path, NULL};
	struct process_command command = {
		.argv = unpack, .folder = scratch, .capture_limit_bytes = 1000};
	auto_process_result struct process_result unpacked = {0};
	assert_ok(process_run(&command, &unpacked, &err), &err);
	assert_true(process_succeeded(&unpacked));

	auto_free char *program = NULL;
	assert_ok(process_find_program("ls", "coreutils", &program, &err), &err);
	const char *const run[] = {"chroot", scratch, program, "/lib64", NULL};
	struct process_command inside = {.argv = run, .capture_limit_bytes = 1000};
	auto_process_result struct process_result result = {0};
	assert_ok(process_run(&inside, &result, &err), &err);
	assert_string_equal(result.stderr_bytes, "");
	assert_true(process_succeeded(&result));
	assert_contains(result.stdout_bytes, "ld-linux");
}

static void test_a_missing_program_names_its_package(void **state)
{
	struct error err;
	auto_free char *path = text_format("%s/initramfs", (char *)*state);
	auto_free char *script = text_format("%s/script", (char *)*state);
	auto_initramfs struct initramfs *initramfs = NULL;
	assert_ok(initramfs_create(path, &initramfs, &err), &err);
	assert_int_equal(initramfs_add_program(initramfs, "no-such-benchmark", "rt-tests", &err),
			 -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
	assert_contains(err.message, "rt-tests");

	assert_ok(file_write_durable(script, "#!/bin/sh\n", 10, &err), &err);
	assert_int_equal(chmod(script, 0755), 0);
	assert_int_equal(initramfs_add_program(initramfs, script, "x", &err), -1);
	assert_contains(err.message, "not a 64-bit ELF program");
}

static void test_parts_are_padded_to_four_bytes(void **state)
{
	struct error err;
	auto_free char *a = text_format("%s/a", (char *)*state);
	auto_free char *b = text_format("%s/b", (char *)*state);
	auto_free char *whole = text_format("%s/whole", (char *)*state);
	auto_free char *bytes = NULL;
	size_t length;
	const char *const parts[] = {a, b};
	assert_ok(file_write_durable(a, "12345", 5, &err), &err);
	assert_ok(file_write_durable(b, "abcd", 4, &err), &err);
	assert_ok(initramfs_concatenate(whole, parts, 2, &err), &err);
	assert_ok(file_read(whole, 100, &bytes, &length, &err), &err);
	assert_int_equal(length, 12);
	assert_memory_equal(bytes, "12345\0\0\0abcd", 12);

	assert_int_equal(unlink(b), 0);
	assert_int_equal(initramfs_concatenate(whole, parts, 2, &err), -1);
	assert_contains(err.message, b);
	assert_int_equal(file_size_bytes(whole), 12);
}

int main(void)
{
#define scratch_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		scratch_test(test_entries_come_back_with_parents_first_and_each_once),
		scratch_test(test_equal_inputs_give_equal_bytes),
		scratch_test(test_paths_that_leave_the_archive_are_refused),
		scratch_test(test_an_abandoned_archive_leaves_nothing),
		scratch_test(test_a_program_brings_all_that_it_needs_to_run),
		scratch_test(test_a_missing_program_names_its_package),
		scratch_test(test_parts_are_padded_to_four_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
