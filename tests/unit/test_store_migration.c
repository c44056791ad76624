/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store_fixture.h"

#include "sentinel/store_private.h"

/* What a store of version 1 may hold, every table with a row in it. */
static const char rows[] =
	"PRAGMA foreign_keys = ON;"
	"INSERT INTO build VALUES ('key', 'demo', '" COMMIT_A "', 0, 'image', 'release', 'gcc',"
	" 'config', NULL, 'log', 14.5);"
	"INSERT INTO trial VALUES (5, 'hunt', 3, 0, '" COMMIT_A "', 'qemu', '{}', 'stored', 1,"
	" 'token', 'key', 'image', 'identity', 'clock', NULL, NULL, NULL, NULL, NULL, NULL, 9.5, "
	"1, 2);"
	"INSERT INTO trial VALUES (6, 'night', 1, 0, '" COMMIT_B "', 'qemu', '{}', 'queued', 0,"
	" '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 0);"
	"INSERT INTO sealed_file VALUES (5, x'7b7d');"
	"INSERT INTO sample VALUES (5, 'b/one/time', 0, 1, 2.5, 0.01, 's', 0, 'run', NULL, NULL);"
	"INSERT INTO baseline VALUES (1, 'demo', 'qemu', '" COMMIT_A "', 3, 1, 1);"
	"INSERT INTO night VALUES (1, 'nightly', 'demo', 'qemu', '" COMMIT_B
	"', 1, 'hunting', NULL,"
	" 1, 0);"
	"INSERT INTO verdict VALUES (1, 1, 0, 'b/one/time', 'flagged', 0.1, 10, 0.01, 8, 0.03, "
	"0.001,"
	" 3, 2);"
	"INSERT INTO hunt VALUES (3, 1, 'demo', 'qemu', 'b/one/time', '" COMMIT_A "', '" COMMIT_B
	"',"
	" 0.9, 0.99, 200, 0.1, 0.01, 8, 0.001, 0.02, 1, 'culprit', '" COMMIT_B
	"', 0.995, 0.1, 0.09,"
	" 0.11, 2, 3, 21, '', 1, 2);"
	"INSERT INTO hunt_set VALUES (3, 0, '" COMMIT_B "');"
	"INSERT INTO hunt_event VALUES (3, 0, 'measured', 'reproduce', '" COMMIT_A "', '', 0.5, 5,"
	" NULL);"
	"INSERT INTO hunt_event VALUES (3, 1, 'untestable', 'search', '" COMMIT_B
	"', '', NULL, NULL,"
	" 'no build');"
	"INSERT INTO mail VALUES (1, 'id@example.org', 3, 'subject', x'78', 1);"
	"INSERT INTO recipient VALUES (1, 0, 'a@example.org', 'queued', 0, 0, 0, NULL);"
	"PRAGMA application_id = 0x534e544c; PRAGMA user_version = 1;";

/* A file as the first Sentinel wrote it. */
static void write_version_1(const char *path, const char *more)
{
	sqlite3 *database;
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	const char *const scripts[] = {store_migrations[0], rows, more};
	for (size_t i = 0; i < array_length(scripts); i++)
		if (sqlite3_exec(database, scripts[i], NULL, NULL, NULL) != SQLITE_OK)
			fail_msg("%s", sqlite3_errmsg(database));
	sqlite3_close(database);
}

static int64_t ask(struct fixture *fixture, const char *sql)
{
	auto_query struct query query = {0};
	query_prepare(&query, fixture->store, sql);
	assert_int_equal(query_next(&query, &fixture->err), 1);
	return sqlite3_column_int64(query.statement, 0);
}

static void open_version_1(struct fixture *fixture, const char *more)
{
	store_close(&fixture->store);
	assert_int_equal(file_remove_tree(fixture->path, &fixture->err), 0);
	write_version_1(fixture->path, more);
	assert_ok(store_open(fixture->path, &fixture->store, &fixture->err), &fixture->err);
}

static void test_a_store_of_version_1_keeps_everything(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		const char *table;
		int64_t rows;
	} tables[] = {{"build", 1},      {"trial", 2},    {"sealed_file", 1}, {"sample", 1},
		      {"baseline", 1},   {"night", 1},    {"verdict", 1},     {"hunt", 1},
		      {"hunt_event", 2}, {"hunt_set", 1}, {"mail", 1},        {"recipient", 1}};
	open_version_1(fixture, "");
	for (size_t i = 0; i < array_length(tables); i++) {
		auto_free char *sql = text_format("SELECT count(*) FROM %s", tables[i].table);
		assert_int_equal(ask(fixture, sql), tables[i].rows);
	}
	assert_int_equal(ask(fixture, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	assert_int_equal(ask(fixture, "PRAGMA foreign_keys"), 1);
	assert_int_equal(ask(fixture, "PRAGMA user_version"), store_version);
	assert_int_equal(ask(fixture, "SELECT count(*) FROM sqlite_schema"
				      " WHERE name IN ('trial_by_commit', 'hunt_event_by_trial')"),
			 2);
}

static void test_trials_and_hunts_of_version_1_are_read_as_before(void **state)
{
	struct fixture *fixture = *state;
	open_version_1(fixture, "");
	auto_store_trial struct store_trial trial = {0};
	struct store_hunt *hunts;
	struct store_hunt_event *events;
	size_t count;
	assert_ok(store_get_trial(fixture->store, 5, &trial, &fixture->err), &fixture->err);
	assert_int_equal(trial.layout, 0);
	assert_string_equal(trial.commit, COMMIT_A);
	assert_string_equal(trial.identity, "identity");
	assert_ok(store_list_hunts(fixture->store, 1, false, &hunts, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	assert_close(hunts[0].rule.noise.deviation, 0.01, 0);
	assert_int_equal(hunts[0].rule.layouts, 1);
	assert_int_equal(hunts[0].boots, 21);
	assert_int_equal(hunts[0].origin, 0);
	store_hunts_free(hunts, count);
	assert_ok(store_get_hunt_events(fixture->store, 3, &events, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_close(events[0].value, 0.5, 0);
	assert_close(events[0].weight, 1, 0);
	assert_int_equal(events[0].trial, 5);
	assert_string_equal(events[1].reason, "no build");
	store_hunt_events_free(events, count);
	/* The same boot is still no evidence twice. */
	struct store_hunt_event again = {.commit = COMMIT_A, .value = 1, .weight = 1, .trial = 5};
	assert_int_equal(store_add_hunt_event(fixture->store, 3, &again, &fixture->err), -1);
}

static void test_nights_of_version_1_go_on_against_their_baseline(void **state)
{
	struct fixture *fixture = *state;
	open_version_1(fixture, "");
	struct store_verdict *verdicts;
	struct store_night night;
	size_t count;
	assert_ok(store_get_night(fixture->store, 1, &night, &fixture->err), &fixture->err);
	assert_int_equal(night.state, NIGHT_HUNTING);
	assert_int_equal(night.retest_pairs, 3);
	assert_int_equal(night.layouts, 1);
	store_night_free(&night);
	assert_ok(store_get_verdicts(fixture->store, 1, 1, &verdicts, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	assert_int_equal(verdicts[0].verdict.state, VERDICT_FLAGGED);
	assert_int_equal(verdicts[0].verdict.basis, VERDICT_BY_BOOTS);
	assert_close(verdicts[0].verdict.change, 0.1, 0);
	assert_string_equal(verdicts[0].reference, COMMIT_A);
	store_verdicts_free(verdicts, count);
}

static void test_a_store_whose_records_dangle_is_refused_and_left_alone(void **state)
{
	struct fixture *fixture = *state;
	store_close(&fixture->store);
	assert_int_equal(file_remove_tree(fixture->path, &fixture->err), 0);
	write_version_1(fixture->path,
			"PRAGMA foreign_keys = OFF; DELETE FROM trial WHERE id = 5;");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(store_open(fixture->path, &fixture->store, &fixture->err), -1);
		assert_int_equal(fixture->err.kind, ERROR_STATE);
		assert_contains(fixture->err.message, "restore it from a copy");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_a_store_of_version_1_keeps_everything),
		store_test(test_trials_and_hunts_of_version_1_are_read_as_before),
		store_test(test_nights_of_version_1_go_on_against_their_baseline),
		store_test(test_a_store_whose_records_dangle_is_refused_and_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
