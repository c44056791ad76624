/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"
#include "sentinel/store.h"

/*
 * A child works through a script as the night does, looking first at what is there, and reports
 * each step after its commit. It is killed at any moment and started again, as after a crash.
 */

#define ROUNDS 40
#define SAMPLES 3
#define COMMIT "cccccccccccccccccccccccccccccccccccccccc"

enum step { STEP_QUEUED, STEP_ARMED, STEP_STORED, STEP_EVENT, STEP_MAIL, STEP_DELIVERED, STEPS };

static struct error child_error;

/* No cmocka in the child: it would unwind into the parent's tests. */
#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) != 0) {                                                                 \
			fprintf(stderr, "child: %s: %s\n", #call, child_error.message);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Steps are numbered through: the number done once this one is. */
static void tell(int fd, int64_t item, enum step step)
{
	int64_t done = item * STEPS + (int64_t)step + 1;
	if (write(fd, &done, sizeof(done)) != (ssize_t)sizeof(done))
		_exit(1);
}

static void do_trial(struct store *store, int64_t item, int fd, int64_t *ret_trial)
{
	static char series[] = "b/one/time";
	static char unit[] = "s";
	auto_store_trial struct store_trial trial = {0};
	struct store_sample samples[SAMPLES] = {0};
	must(store_queue_trial(store, PURPOSE_HUNT, 1, item, COMMIT, 0, "qemu", "{}", &trial,
			       &child_error));
	tell(fd, item, STEP_QUEUED);
	if (trial.state == TRIAL_QUEUED) {
		trial.state = TRIAL_ARMED;
		trial.attempts++;
		must(store_update_trial(store, &trial, &child_error));
	}
	tell(fd, item, STEP_ARMED);
	for (int i = 0; i < SAMPLES; i++)
		samples[i] = (struct store_sample){.series = series,
						   .iteration = i,
						   .valid = true,
						   .value = (double)(10 * item + i),
						   .unit = unit};
	if (trial.state == TRIAL_ARMED)
		must(store_import(store, &trial, "{}", 2, samples, SAMPLES, &child_error));
	tell(fd, item, STEP_STORED);
	*ret_trial = trial.id;
}

static void do_event(struct store *store, int64_t hunt, int64_t item, int64_t trial, int fd)
{
	struct store_hunt_event *events;
	size_t count;
	must(store_get_hunt_events(store, hunt, &events, &count, &child_error));
	store_hunt_events_free(events, count);
	struct store_hunt_event event = {.kind = HUNT_MEASURED,
					 .stage = HUNT_SEARCH,
					 .commit = COMMIT,
					 .value = (double)item,
					 .weight = 1,
					 .trial = trial};
	if ((int64_t)count <= item)
		must(store_add_hunt_event(store, hunt, &event, &child_error));
	tell(fd, item, STEP_EVENT);
}

static void do_mail(struct store *store, int64_t item, int fd)
{
	static const char *const address = "a@example.org";
	char message_id[32];
	char text[] = "x";
	struct store_recipient *recipients;
	size_t count;
	snprintf(message_id, sizeof(message_id), "%lld@example.org", (long long)item);
	struct store_mail mail = {
		.message_id = message_id, .subject = text, .content = text, .content_length = 1};
	must(store_queue_mail(store, &mail, &address, 1, &child_error));
	tell(fd, item, STEP_MAIL);
	must(store_list_recipients(store, mail.id, &recipients, &count, &child_error));
	if (count != 1)
		_exit(1);
	recipients[0].attempts++;
	if (recipients[0].state == MAIL_QUEUED) {
		recipients[0].state = MAIL_DELIVERED;
		must(store_update_recipient(store, &recipients[0], &child_error));
	}
	store_recipients_free(recipients, count);
	tell(fd, item, STEP_DELIVERED);
}

static int64_t find_or_add_hunt(struct store *store)
{
	char text[] = "x";
	struct store_hunt *hunts;
	size_t count;
	struct store_hunt hunt = {.tree_name = text, .machine = text, .series = text};
	must(store_list_hunts(store, 0, true, &hunts, &count, &child_error));
	if (count)
		hunt.id = hunts[0].id;
	store_hunts_free(hunts, count);
	if (!count)
		must(store_add_hunt(store, &hunt, &child_error));
	return hunt.id;
}

static _Noreturn void work(const char *path, int64_t first_item, int fd)
{
	struct store *store;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(store_open(path, &store, &child_error));
	int64_t hunt = find_or_add_hunt(store);
	for (int64_t item = first_item;; item++) {
		int64_t trial;
		do_trial(store, item, fd, &trial);
		do_event(store, hunt, item, trial, fd);
		do_mail(store, item, fd);
	}
}

/* Runs the child for this long; returns how many steps are known to be done. */
static int64_t run_and_kill(const char *path, int64_t done, long microseconds)
{
	int ends[2];
	int64_t reported;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	/* Big enough that the child never waits for us. */
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		work(path, done / STEPS, ends[1]);
	close(ends[1]);
	nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
	kill(pid, SIGKILL);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* It never ends by itself: then a step failed. */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	while (read(ends[0], &reported, sizeof(reported)) == (ssize_t)sizeof(reported))
		if (reported > done)
			done = reported;
	close(ends[0]);
	return done;
}

static int64_t ask(sqlite3 *database, const char *sql)
{
	sqlite3_stmt *statement;
	assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	int64_t value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

/* How many items have this step behind them when DONE steps are done. */
static int64_t items_with(int64_t done, enum step step)
{
	return (done + STEPS - 1 - (int64_t)step) / STEPS;
}

/* All that was reported is there, and at most the one step after it. */
static void assert_count(sqlite3 *database, const char *sql, int64_t done, enum step step)
{
	int64_t count = ask(database, sql);
	if (count < items_with(done, step) || count > items_with(done + 1, step))
		fail_msg("%s: %lld after %lld steps", sql, (long long)count, (long long)done);
}

static void check(const char *path, int64_t done)
{
	static const struct {
		enum step step;
		const char *sql;
	} counts[] = {
		{STEP_QUEUED, "SELECT count(*) FROM trial"},
		{STEP_ARMED, "SELECT count(*) FROM trial WHERE state <> 'queued'"},
		{STEP_STORED, "SELECT count(*) FROM trial WHERE state = 'stored'"},
		{STEP_STORED, "SELECT count(*) FROM sealed_file"},
		{STEP_STORED, "SELECT count(DISTINCT trial) FROM sample"},
		{STEP_EVENT, "SELECT count(*) FROM hunt_event"},
		{STEP_EVENT, "SELECT count(DISTINCT trial) FROM hunt_event"},
		{STEP_MAIL, "SELECT count(*) FROM mail"},
		{STEP_MAIL, "SELECT count(*) FROM recipient"},
		{STEP_DELIVERED, "SELECT count(*) FROM recipient WHERE state = 'delivered'"},
	};
	static const char *const zeros[] = {
		"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
		"SELECT count(*) FROM pragma_foreign_key_check",
		"SELECT count(*) > 1 FROM hunt",
		"SELECT count(*) FROM trial WHERE attempts > 1",
		"SELECT count(*) FROM recipient WHERE attempts > 1",
		/* An import is whole or not there at all. */
		"SELECT count(*) FROM trial WHERE (state = 'stored') <>"
		" ((SELECT count(*) FROM sample WHERE trial = trial.id AND"
		" value = 10 * trial.sequence + iteration) = 3)",
		"SELECT count(*) FROM hunt_event WHERE value <> sequence",
	};
	struct store *store;
	struct error err;
	sqlite3 *database;
	assert_ok(store_open(path, &store, &err), &err);
	store_close(&store);
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	for (size_t i = 0; i < array_length(counts); i++)
		assert_count(database, counts[i].sql, done, counts[i].step);
	for (size_t i = 0; i < array_length(zeros); i++)
		if (ask(database, zeros[i]) != 0)
			fail_msg("not 0: %s", zeros[i]);
	sqlite3_close(database);
}

static void test_kill_9_at_any_moment_loses_nothing_and_doubles_nothing(void **unused)
{
	(void)unused;
	auto_free char *folder = make_scratch();
	auto_free char *path = NULL;
	int64_t steps = 0;
	int64_t done = 0;
	srandom(20);
	for (int round = 0; round < ROUNDS; round++) {
		/* Every fifth round begins with no file and is killed early, while it is made. */
		bool fresh = round % 5 == 0;
		if (fresh) {
			free(path);
			path = text_format("%s/store-%d.db", folder, round);
			done = 0;
		}
		int64_t before = done;
		done = run_and_kill(path, done, random() % (fresh ? 60000 : 150000));
		check(path, done);
		steps += done - before;
	}
	print_message("%d kills, %lld steps\n", ROUNDS, (long long)steps);
	assert_true(steps > ROUNDS);
	assert_int_equal(file_remove_tree(folder, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kill_9_at_any_moment_loses_nothing_and_doubles_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
