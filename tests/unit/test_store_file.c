/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "sentinel/store_private.h"

static const char hostile[] = HOSTILE_TEXT;

/* Opening must fail with this kind and name the path and NEEDLE. */
static void assert_refused(const char *path, enum error_kind kind, const char *needle)
{
	struct store *store = NULL;
	struct error err = {0};
	assert_int_equal(store_open(path, &store, &err), -1);
	assert_null(store);
	assert_int_equal(err.kind, kind);
	assert_contains(err.message, path);
	assert_contains(err.message, needle);
}

/* Bytes of an SQLite header, big-endian: 60 user_version, 68 application_id. */
static void patch_header(const char *path, long offset, unsigned value)
{
	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, offset, SEEK_SET), 0);
	const unsigned char bytes[] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
				       (unsigned char)(value >> 8), (unsigned char)value};
	assert_int_equal(fwrite(bytes, 1, 4, file), 4);
	fclose(file);
}

static void test_a_newer_or_foreign_file_is_refused_and_left_alone(void **state)
{
	struct fixture *fixture = *state;
	store_close(&fixture->store);
	patch_header(fixture->path, 60, 1000);
	assert_refused(fixture->path, ERROR_STATE, "version 1000");
	patch_header(fixture->path, 60, (unsigned)store_version);
	patch_header(fixture->path, 68, 0x12345678);
	assert_refused(fixture->path, ERROR_STATE, "another program");
	patch_header(fixture->path, 68, 0x534e544c);
	assert_ok(store_open(fixture->path, &fixture->store, &fixture->err), &fixture->err);
}

static void test_a_damaged_file_is_named(void **state)
{
	struct fixture *fixture = *state;
	static const char noise[4096] = "this is no database, whatever its name says";
	auto_free char *path = text_format("%s/noise.db", fixture->folder);
	assert_ok(file_write_durable(path, noise, sizeof(noise), &fixture->err), &fixture->err);
	assert_refused(path, ERROR_STATE, "damaged");
	/* A sound header over pages of zeros. */
	auto_free char *bytes = NULL;
	size_t length;
	store_close(&fixture->store);
	assert_ok(file_read(fixture->path, 1 << 20, &bytes, &length, &fixture->err), &fixture->err);
	memset(bytes + 100, 0, length - 100);
	assert_ok(file_write_durable(path, bytes, length, &fixture->err), &fixture->err);
	assert_refused(path, ERROR_STATE, "damaged");
}

/* Root writes everywhere: the test becomes somebody else for a while. */
static void become(uid_t user)
{
	if (getuid() == 0)
		assert_int_equal(seteuid(user), 0);
}

static void test_a_missing_folder_and_a_read_only_one_are_the_hosts_fault(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *missing = text_format("%s/no/store.db", fixture->folder);
	auto_free char *fresh = text_format("%s/fresh.db", fixture->folder);
	store_close(&fixture->store);
	assert_refused(missing, ERROR_SYSTEM, "folder");
	assert_int_equal(chmod(fixture->path, 0444), 0);
	assert_int_equal(chmod(fixture->folder, 0555), 0);
	become(65534);
	assert_refused(fresh, ERROR_SYSTEM, "writable");
	assert_refused(fixture->path, ERROR_SYSTEM, "writable");
	become(0);
	assert_int_equal(chmod(fixture->folder, 0755), 0);
}

static void test_a_disk_that_takes_no_more_loses_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit before;
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	char series[] = "b/one/time";
	char unit[] = "s";
	struct store_sample one = {.series = series, .valid = true, .value = 1, .unit = unit};
	auto_free char *seal = memory_array(1 << 20, 1);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	struct rlimit small = {.rlim_cur = 1 << 19, .rlim_max = before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int result = store_import(fixture->store, &trial, seal, 1 << 20, &one, 1, &fixture->err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(result, -1);
	assert_int_equal(fixture->err.kind, ERROR_SYSTEM);
	assert_contains(fixture->err.message, fixture->path);
	/* The same store takes it once there is room. */
	assert_ok(store_import(fixture->store, &trial, seal, 1 << 20, &one, 1, &fixture->err),
		  &fixture->err);
}

static void test_an_empty_file_becomes_a_store(void **state)
{
	struct fixture *fixture = *state;
	auto_store struct store *store = NULL;
	auto_free char *path = text_format("%s/empty.db", fixture->folder);
	assert_ok(file_write_durable(path, "", 0, &fixture->err), &fixture->err);
	assert_ok(store_open(path, &store, &fixture->err), &fixture->err);
	struct store_trial trial;
	assert_ok(store_queue_trial(store, PURPOSE_MEASURE, 0, 0, COMMIT_A, 0, hostile, hostile,
				    &trial, &fixture->err),
		  &fixture->err);
	assert_int_equal(trial.id, 1);
	assert_string_equal(trial.machine, hostile);
	assert_string_equal(trial.plan, hostile);
	store_trial_free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_a_newer_or_foreign_file_is_refused_and_left_alone),
		store_test(test_a_damaged_file_is_named),
		store_test(test_a_missing_folder_and_a_read_only_one_are_the_hosts_fault),
		store_test(test_a_disk_that_takes_no_more_loses_nothing),
		store_test(test_an_empty_file_becomes_a_store),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
