/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

static char *scratch;

static int make(void **state)
{
	(void)state;
	scratch = make_scratch();
	return 0;
}

static int clear(void **state)
{
	(void)state;
	file_remove_tree(scratch, NULL);
	free(scratch);
	return 0;
}

static void test_a_file_is_replaced_as_a_whole(void **state)
{
	(void)state;
	struct error err;
	auto_free char *path = text_format("%s/f", scratch);
	auto_free char *bytes = NULL;
	size_t length;
	assert_ok(file_write_durable(path, "old", 3, &err), &err);
	assert_ok(file_write_durable(path, "a\0b", 3, &err), &err);
	assert_ok(file_read(path, 100, &bytes, &length, &err), &err);
	assert_int_equal(length, 3);
	assert_memory_equal(bytes, "a\0b", 4);
}

static void test_a_file_over_the_limit_is_not_read(void **state)
{
	(void)state;
	struct error err;
	char *bytes;
	auto_free char *path = text_format("%s/f", scratch);
	assert_ok(file_write_durable(path, "12345", 5, &err), &err);
	assert_int_equal(file_read(path, 4, &bytes, NULL, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
}

static void test_removing_a_tree_does_not_follow_links(void **state)
{
	(void)state;
	struct error err;
	auto_free char *outside = text_format("%s/outside", scratch);
	auto_free char *tree = text_format("%s/tree/a/b", scratch);
	auto_free char *link = text_format("%s/tree/a/link", scratch);
	auto_free char *top = text_format("%s/tree", scratch);
	assert_ok(file_write_durable(outside, "x", 1, &err), &err);
	assert_ok(file_make_folders(tree, &err), &err);
	assert_int_equal(symlink(scratch, link), 0);
	assert_ok(file_remove_tree(top, &err), &err);
	assert_false(file_exists(top));
	assert_true(file_exists(outside));
	assert_ok(file_remove_tree(top, &err), &err);
}

static void test_a_folder_below_a_file_is_refused(void **state)
{
	(void)state;
	struct error err;
	auto_free char *path = text_format("%s/f", scratch);
	auto_free char *below = text_format("%s/f/g", scratch);
	assert_ok(file_write_durable(path, "x", 1, &err), &err);
	assert_int_equal(file_make_folders(below, &err), -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
}

static void test_copies_keep_the_permission_bits(void **state)
{
	(void)state;
	struct error err;
	struct stat status;
	struct digest digest;
	auto_free char *from = text_format("%s/from", scratch);
	auto_free char *to = text_format("%s/to", scratch);
	assert_ok(file_write_durable(from, "abc", 3, &err), &err);
	assert_int_equal(chmod(from, 0755), 0);
	assert_ok(file_copy(from, to, &err), &err);
	assert_int_equal(stat(to, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0755);
	assert_ok(digest_file(to, &digest, &err), &err);
	/* FIPS 180-2, appendix B.1 */
	assert_string_equal(digest.hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2"
					"0015ad");
}

static void test_a_second_process_is_told_who_holds_the_lock(void **state)
{
	(void)state;
	struct error err = {0};
	auto_free char *path = text_format("%s/lock", scratch);
	auto_close int lock = -1;
	assert_ok(file_lock(path, &lock, &err), &err);
	auto_free char *holder = text_format("held by process %d;", (int)getpid());
	pid_t child = fork();
	if (child == 0) {
		int second = -1;
		bool told = file_lock(path, &second, &err) == -1 && err.kind == ERROR_STATE &&
			    strstr(err.message, holder);
		_exit(told ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_file_is_replaced_as_a_whole, make, clear),
		cmocka_unit_test_setup_teardown(test_a_file_over_the_limit_is_not_read, make,
						clear),
		cmocka_unit_test_setup_teardown(test_removing_a_tree_does_not_follow_links, make,
						clear),
		cmocka_unit_test_setup_teardown(test_a_folder_below_a_file_is_refused, make, clear),
		cmocka_unit_test_setup_teardown(test_copies_keep_the_permission_bits, make, clear),
		cmocka_unit_test_setup_teardown(test_a_second_process_is_told_who_holds_the_lock,
						make, clear),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
