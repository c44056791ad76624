/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_TESTS_SUPPORT_CONDUCTOR_FIXTURE_H
#define SENTINEL_TESTS_SUPPORT_CONDUCTOR_FIXTURE_H

#include "tests/support/test.h"
#include "tests/support/libgit2_leak.h"

#include <math.h>
#include <stdlib.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"
#include "sentinel/conductor.h"

/*
 * Hunts in a real repository and a real store; only the machine is made up: conductor_build() and
 * conductor_trial() below take the place of the real ones.
 */
enum { COMMITS = 17 };
#define SERIES "hackbench-pipe-process/groups-1/time"
#define OTHER_SERIES "hackbench-pipe-process/groups-2/time"
#define PAIRS 6

struct fixture {
	struct context context;
	char *folder;
	char *origin;
	char *config;
	char *state;
	char ids[COMMITS][OBJECT_ID_SIZE];
	struct error err;
};

/* The made-up machine. */
static struct world {
	const struct fixture *fixture;
	double steps[COMMITS]; /* added from this commit on, log scale */
	size_t unmoved_by;     /* OTHER_SERIES does not move at this commit; 0: it moves at all */
	size_t broken;         /* does not build; 0: none */
	size_t panics;         /* does not boot; 0: none */
	size_t boots;          /* measured so far */
	size_t fail_at;        /* this boot is interrupted; 0: none */
	size_t highest_layout;
	bool other_command; /* the benchmark's parameters are others than usual */
	unsigned noise;
} world;

static inline double next_noise(void)
{
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		world.noise = world.noise * 1103515245u + 12345u;
		sum += (double)(world.noise >> 16 & 0x7fff) / 32768.0;
	}
	return 0.004 * (sum - 6);
}

static inline size_t position(const char *commit)
{
	for (size_t i = 0; i < COMMITS; i++)
		if (strcmp(world.fixture->ids[i], commit) == 0)
			return i;
	return 0; /* a revert: as good as the first */
}

static inline double level(const char *commit, bool other_series)
{
	double sum = 0;
	for (size_t i = 0; i <= position(commit); i++)
		if (!other_series || i != world.unmoved_by)
			sum += world.steps[i];
	return sum;
}

int conductor_identity(struct context *context, struct digest *ret_identity, struct error *err)
{
	(void)context;
	(void)err;
	digest_text("identity", ret_identity);
	return 0;
}

int conductor_build(struct context *context, const char *commit, size_t layout,
		    struct store_build *ret_build, struct error *err)
{
	(void)context;
	(void)err;
	*ret_build = (struct store_build){.image_digest = text_format("%s-%zu", commit, layout)};
	if (world.broken && position(commit) == world.broken) {
		ret_build->failed = true;
		ret_build->reason = text_copy("kernel.c:7: error: expected ';'");
	}
	return 0;
}

enum { RUNS = 3 };

static inline void fill_samples(const struct store_trial *trial, struct store_sample *samples)
{
	static char series[][40] = {SERIES, OTHER_SERIES};
	static char commands[][20] = {"hackbench -g 1", "hackbench -g 2"};
	static char unit[] = "s";
	for (size_t s = 0; s < array_length(series); s++) {
		double value = exp(level(trial->commit, s == 1) + next_noise());
		for (size_t i = 0; i < RUNS; i++)
			samples[s * RUNS + i] = (struct store_sample){
				.series = series[s],
				.iteration = (int64_t)i,
				.valid = true,
				.value = value,
				.resolution = 0.0001,
				.unit = unit,
				.command = commands[world.other_command ? 1 - s : s]};
	}
}

static inline int store_boot(struct store *store, struct store_trial *trial, struct error *err)
{
	struct store_sample samples[2 * RUNS];
	fill_samples(trial, samples);
	trial->image_digest = text_format("%s-%zu", trial->commit, trial->layout);
	struct digest identity;
	digest_text("identity", &identity);
	trial->identity = text_copy(identity.hex);
	trial->clock = text_copy("virtual time");
	trial->state = TRIAL_STORED;
	trial->seconds = 10;
	return store_import(store, trial, "{}", 2, samples, array_length(samples), err);
}

int conductor_trial(struct context *context, enum trial_purpose purpose, int64_t owner,
		    int64_t sequence, const char *commit, size_t layout, const char *plan,
		    struct store_trial *ret_trial, struct error *err)
{
	struct store_trial trial;
	if (store_queue_trial(context->store, purpose, owner, sequence, commit, layout, "guest",
			      plan, &trial, err) < 0)
		return -1;
	*ret_trial = trial;
	if (trial.state != TRIAL_QUEUED)
		return 0;
	if (world.fail_at && world.boots + 1 == world.fail_at) {
		world.fail_at = 0;
		store_trial_free(ret_trial);
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	}
	world.boots++;
	context->boot_seconds += 10;
	world.highest_layout = layout > world.highest_layout ? layout : world.highest_layout;
	if (world.panics && position(commit) == world.panics) {
		ret_trial->state = TRIAL_FAILED_BOOT;
		ret_trial->reason = text_copy("Oops: 0000 [#1] SMP");
		return store_update_trial(context->store, ret_trial, err);
	}
	return store_boot(context->store, ret_trial, err);
}

static inline char *git(const struct fixture *fixture, const char *line)
{
	static const char *const environment[] = {
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada",
		"GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_DATE=1700000000 +0000",
		NULL,
	};
	struct error err;
	const char *words[12] = {"git"};
	auto_free char *copy = text_copy(line);
	char *rest;
	size_t count = 1;
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	struct process_command command = {.argv = words,
					  .environment = environment,
					  .folder = fixture->origin,
					  .capture_limit_bytes = 10000};
	auto_process_result struct process_result result = {0};
	assert_ok(process_run(&command, &result, &err), &err);
	if (!process_succeeded(&result))
		fail_msg("git %s: %s", line, result.stderr_bytes);
	return text_copy(result.stdout_bytes ? result.stdout_bytes : "");
}

static inline void write_file(const char *path, const char *text)
{
	struct error err;
	assert_ok(file_write_durable(path, text, strlen(text), &err), &err);
}

static inline void make_history(struct fixture *fixture)
{
	auto_free char *path = text_format("%s/kernel.c", fixture->origin);
	free(git(fixture, "init -q -b main ."));
	for (size_t i = 0; i < COMMITS; i++) {
		auto_free char *text = text_format("%zu\n", i);
		auto_free char *commit = text_format("commit -q -m sched:change-%zu", i);
		write_file(path, text);
		free(git(fixture, "add -A"));
		free(git(fixture, commit));
		auto_free char *id = git(fixture, "rev-parse HEAD");
		memcpy(fixture->ids[i], id, OBJECT_ID_SIZE - 1);
	}
}

static inline void write_config(struct fixture *fixture)
{
	auto_free char *text = text_format("[tree \"demo\"]\n\turl = %s\n\tbranch = main\n"
					   "[machine \"guest\"]\n\ttrusted-kernel = vmlinuz\n"
					   "[night]\n\ttree = demo\n\tmachine = guest\n"
					   "\tbenchmarks = hackbench-pipe-process\n"
					   "[mail]\n\tserver = smtp://127.0.0.1:1\n"
					   "\tto = team@example.org\n",
					   fixture->origin);
	write_file(fixture->config, text);
}

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	fixture->folder = make_scratch();
	fixture->origin = text_format("%s/origin", fixture->folder);
	fixture->config = text_format("%s/sentinel.conf", fixture->folder);
	fixture->state = text_format("%s/state", fixture->folder);
	assert_ok(file_make_folders(fixture->origin, &fixture->err), &fixture->err);
	make_history(fixture);
	write_config(fixture);
	fixture->context = (struct context){
		.config_path = fixture->config, .state_option = fixture->state, .lock = -1};
	assert_ok(context_open_store(&fixture->context, &fixture->err), &fixture->err);
	assert_ok(context_open_artifacts(&fixture->context, &fixture->err), &fixture->err);
	world = (struct world){.fixture = fixture, .noise = 7};
	*state = fixture;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;
	context_close(&fixture->context);
	file_remove_tree(fixture->folder, NULL);
	free(fixture->folder);
	free(fixture->origin);
	free(fixture->config);
	free(fixture->state);
	free(fixture);
	return 0;
}

/* Between the first and the last commit. */
static inline struct store_hunt add_hunt_of(struct fixture *fixture, int64_t night, size_t layouts,
					    const char *series)
{
	struct store_hunt hunt = {
		.night = night,
		.tree_name = text_copy("demo"),
		.machine = text_copy("guest"),
		.series = text_copy(series),
		.rule = {.stop_probability = 0.9,
			 .report_probability = 0.99,
			 .maximum_boots = 200,
			 .flagged_step = 0.1,
			 .minimum_step = 0.01,
			 .layouts = layouts,
			 .noise = {.deviation = 0.004, .degrees = 20, .deviation_floor = 0.0005}},
		.started_seconds = clock_utc_seconds(),
	};
	memcpy(hunt.good, fixture->ids[0], OBJECT_ID_SIZE);
	memcpy(hunt.bad, fixture->ids[COMMITS - 1], OBJECT_ID_SIZE);
	if (layouts > 1)
		hunt.rule.noise.layout_deviation = 0.02;
	assert_ok(store_add_hunt(fixture->context.store, &hunt, &fixture->err), &fixture->err);
	return hunt;
}

static inline struct store_hunt add_hunt(struct fixture *fixture, int64_t night, size_t layouts)
{
	return add_hunt_of(fixture, night, layouts, SERIES);
}

static inline void run(struct fixture *fixture, enum trial_purpose purpose, int64_t owner,
		       int64_t sequence, size_t commit, size_t layout)
{
	auto_store_trial struct store_trial trial = {0};
	assert_ok(conductor_trial(&fixture->context, purpose, owner, sequence, fixture->ids[commit],
				  layout, "{}", &trial, &fixture->err),
		  &fixture->err);
}

/* A night that has measured, retested (over two layouts) and wants to hunt. */
static inline int64_t add_night(struct fixture *fixture)
{
	struct store *store = fixture->context.store;
	struct store_baseline baseline = {
		.tree_name = text_copy("demo"), .machine = text_copy("guest"), .boots = 3};
	memcpy(baseline.commit, fixture->ids[0], OBJECT_ID_SIZE);
	assert_ok(store_add_baseline(store, &baseline, &fixture->err), &fixture->err);
	struct store_night night = {.kind = text_copy("nightly"),
				    .tree_name = text_copy("demo"),
				    .machine = text_copy("guest"),
				    .baseline = baseline.id,
				    .retest_pairs = PAIRS,
				    .layouts = 2,
				    .state = NIGHT_HUNTING};
	memcpy(night.head, fixture->ids[COMMITS - 1], OBJECT_ID_SIZE);
	assert_ok(store_add_night(store, &night, &fixture->err), &fixture->err);
	for (int64_t i = 0; i < 3; i++) {
		/* Somebody changed the benchmark after the first one. */
		world.other_command = i == 0;
		run(fixture, PURPOSE_BASELINE, baseline.id, i, 0, 0);
	}
	for (int64_t i = 0; i < 2; i++)
		run(fixture, PURPOSE_NIGHT, night.id, i, COMMITS - 1, 0);
	for (int64_t i = 0; i < 2 * PAIRS; i++)
		run(fixture, PURPOSE_RETEST, night.id, i,
		    i % 4 == 1 || i % 4 == 2 ? COMMITS - 1 : 0, (size_t)i / 2 % 2);
	int64_t id = night.id;
	store_baseline_free(&baseline);
	store_night_free(&night);
	return id;
}

static inline void hunt_down(struct fixture *fixture, struct store_hunt *hunt)
{
	assert_ok(conductor_hunt(&fixture->context, hunt, NULL, 0, &fixture->err), &fixture->err);
	assert_true(hunt->finished);
}

static inline size_t count_hunt_trials(struct fixture *fixture, int64_t hunt)
{
	struct store_trial *trials;
	size_t count;
	assert_ok(store_list_trials(fixture->context.store, PURPOSE_HUNT, hunt, NULL, 1000, &trials,
				    &count, &fixture->err),
		  &fixture->err);
	store_trials_free(trials, count);
	return count;
}

#define conductor_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
