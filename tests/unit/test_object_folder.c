/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "builder/object_folder.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

static char *objects_of(void **state)
{
	return text_format("%s/objects", (char *)*state);
}

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

static void put(const char *folder, const char *name, int age_seconds)
{
	struct error err;
	auto_free char *path = text_format("%s/%s", folder, name);
	struct timespec written = {.tv_sec = time(NULL) - age_seconds};
	assert_ok(file_write_durable(path, "object", 6, &err), &err);
	assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){written, written}, 0), 0);
}

static bool has(const char *folder, const char *name)
{
	auto_free char *path = text_format("%s/%s", folder, name);
	return file_exists(path);
}

static void test_what_a_broken_off_build_wrote_last_is_removed(void **state)
{
	struct error err;
	auto_free char *objects = objects_of(state);
	auto_object_folder struct object_folder folder = {.lock = -1};
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	put(objects, "before.o", 5000);
	assert_ok(object_folder_begin(&folder, &err), &err);
	/* The build began an hour ago; "early.o" was long finished when it died. */
	struct timespec begun = {.tv_sec = time(NULL) - 3600};
	assert_int_equal(utimensat(AT_FDCWD, folder.mark, (struct timespec[2]){begun, begun}, 0),
			 0);
	put(objects, "early.o", 1000);
	put(objects, "last.o", 30);
	put(objects, "newest.o", 0);
	object_folder_close(&folder);

	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	assert_true(has(objects, "before.o"));
	assert_true(has(objects, "early.o"));
	assert_false(has(objects, "last.o"));
	assert_false(has(objects, "newest.o"));
}

static void test_nothing_older_than_the_broken_off_build_is_removed(void **state)
{
	struct error err;
	auto_free char *objects = objects_of(state);
	auto_object_folder struct object_folder folder = {.lock = -1};
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	put(objects, "just-before.o", 20);
	assert_ok(object_folder_begin(&folder, &err), &err);
	object_folder_close(&folder);
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	assert_true(has(objects, "just-before.o"));
}

static void test_a_build_that_came_to_its_end_keeps_everything(void **state)
{
	struct error err;
	auto_free char *objects = objects_of(state);
	auto_object_folder struct object_folder folder = {.lock = -1};
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	assert_ok(object_folder_begin(&folder, &err), &err);
	put(objects, "newest.o", 0);
	assert_ok(object_folder_end(&folder, &err), &err);
	object_folder_close(&folder);
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	assert_true(has(objects, "newest.o"));
}

/* A compiler whose make was killed goes on for a while, with the lock in its hands. */
static void test_survivors_of_an_earlier_build_are_waited_for(void **state)
{
	struct error err;
	auto_free char *objects = objects_of(state);
	auto_object_folder struct object_folder folder = {.lock = -1};
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
	pid_t survivor = fork();
	if (survivor == 0) {
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(127);
	}
	object_folder_close(&folder);
	assert_int_equal(object_folder_open(objects, 0.3, &folder, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_contains(err.message, "earlier build");
	kill(survivor, SIGKILL);
	waitpid(survivor, NULL, 0);
	assert_ok(object_folder_open(objects, 1, &folder, &err), &err);
}

int main(void)
{
#define folder_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		folder_test(test_what_a_broken_off_build_wrote_last_is_removed),
		folder_test(test_nothing_older_than_the_broken_off_build_is_removed),
		folder_test(test_a_build_that_came_to_its_end_keeps_everything),
		folder_test(test_survivors_of_an_earlier_build_are_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
