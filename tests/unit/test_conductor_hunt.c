/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#include "sentinel/night_step.h"
#include "sentinel/report.h"

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
	size_t broken;         /* does not build; 0: none */
	size_t boots;          /* measured so far */
	size_t fail_at;        /* this boot is interrupted; 0: none */
	size_t highest_layout;
	bool other_command; /* the benchmark's parameters are others than usual */
	unsigned noise;
} world;

static double next_noise(void)
{
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		world.noise = world.noise * 1103515245u + 12345u;
		sum += (double)(world.noise >> 16 & 0x7fff) / 32768.0;
	}
	return 0.004 * (sum - 6);
}

static size_t position(const char *commit)
{
	for (size_t i = 0; i < COMMITS; i++)
		if (strcmp(world.fixture->ids[i], commit) == 0)
			return i;
	return 0; /* a revert: as good as the first */
}

static double level(const char *commit)
{
	double sum = 0;
	for (size_t i = 0; i <= position(commit); i++)
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

/* Both series move by the same steps. */
static void fill_samples(const struct store_trial *trial, struct store_sample *samples)
{
	static char series[][40] = {SERIES, OTHER_SERIES};
	static char commands[][20] = {"hackbench -g 1", "hackbench -g 2"};
	static char unit[] = "s";
	for (size_t s = 0; s < array_length(series); s++) {
		double value = exp(level(trial->commit) + next_noise());
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

static int store_boot(struct store *store, struct store_trial *trial, struct error *err)
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
	if (trial.state == TRIAL_STORED)
		return 0;
	if (world.fail_at && world.boots + 1 == world.fail_at) {
		world.fail_at = 0;
		store_trial_free(ret_trial);
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	}
	world.boots++;
	context->boot_seconds += 10;
	world.highest_layout = layout > world.highest_layout ? layout : world.highest_layout;
	return store_boot(context->store, ret_trial, err);
}

static char *git(const struct fixture *fixture, const char *line)
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

static void write_file(const char *path, const char *text)
{
	struct error err;
	assert_ok(file_write_durable(path, text, strlen(text), &err), &err);
}

static void make_history(struct fixture *fixture)
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

static void write_config(struct fixture *fixture)
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

static int set_up(void **state)
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

static int tear_down(void **state)
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
static struct store_hunt add_hunt_of(struct fixture *fixture, int64_t night, size_t layouts,
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

static struct store_hunt add_hunt(struct fixture *fixture, int64_t night, size_t layouts)
{
	return add_hunt_of(fixture, night, layouts, SERIES);
}

static void run(struct fixture *fixture, enum trial_purpose purpose, int64_t owner,
		int64_t sequence, size_t commit, size_t layout)
{
	auto_store_trial struct store_trial trial = {0};
	assert_ok(conductor_trial(&fixture->context, purpose, owner, sequence, fixture->ids[commit],
				  layout, "{}", &trial, &fixture->err),
		  &fixture->err);
}

/* A night that has measured, retested (over two layouts) and wants to hunt. */
static int64_t add_night(struct fixture *fixture)
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

static void hunt_down(struct fixture *fixture, struct store_hunt *hunt)
{
	assert_ok(conductor_hunt(&fixture->context, hunt, NULL, 0, &fixture->err), &fixture->err);
	assert_true(hunt->finished);
}

static size_t count_hunt_trials(struct fixture *fixture, int64_t hunt)
{
	struct store_trial *trials;
	size_t count;
	assert_ok(store_list_trials(fixture->context.store, PURPOSE_HUNT, hunt, NULL, 1000, &trials,
				    &count, &fixture->err),
		  &fixture->err);
	store_trials_free(trials, count);
	return count;
}

static void test_a_hunt_by_hand_names_the_planted_commit(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	world.broken = 6;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.kind, "culprit");
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	assert_int_equal(hunt.retest_boots, 0);
	assert_int_equal(hunt.boots, count_hunt_trials(fixture, hunt.id));
	assert_int_equal(hunt.boots, hunt.reproduce_boots + hunt.search_boots + hunt.confirm_boots);
	assert_int_equal(world.highest_layout, 0);
	store_hunt_free(&hunt);
}

static void test_a_culprit_behind_a_broken_commit_is_a_set(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	world.broken = 8;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.kind, "set");
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	assert_contains(body, "it is one of these, which nothing testable tells apart:");
	assert_contains(body, "sched:change-8\n");
	assert_contains(body, "sched:change-9\n");
	assert_contains(body, "1 commit could not be tested");
	assert_contains(subject, "one of 2 commits");
	auto_free char *pair =
		text_format("- %.10s and %.10s were measured", fixture->ids[9], fixture->ids[7]);
	assert_contains(body, pair);
	store_hunt_free(&hunt);
}

static void test_layouts_that_a_hunt_asks_for_are_built_and_told(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	struct store_hunt hunt = add_hunt(fixture, 0, 2);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	assert_int_equal(world.highest_layout, 1);
	struct store_hunt_event *events;
	size_t count;
	assert_ok(store_get_hunt_events(fixture->context.store, hunt.id, &events, &count,
					&fixture->err),
		  &fixture->err);
	for (size_t i = 0; i < count; i++) {
		auto_store_trial struct store_trial trial = {0};
		assert_ok(store_get_trial(fixture->context.store, events[i].trial, &trial,
					  &fixture->err),
			  &fixture->err);
		assert_int_equal(events[i].layout, trial.layout);
		assert_string_equal(events[i].commit, trial.commit);
	}
	store_hunt_events_free(events, count);
	store_hunt_free(&hunt);
}

static void test_a_nights_retest_is_the_reproduction(void **state)
{
	struct fixture *fixture = *state;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[5]);
	assert_int_equal(hunt.retest_boots, 2 * PAIRS);
	assert_int_equal(hunt.reproduce_boots, 0);
	assert_int_equal(hunt.boots, count_hunt_trials(fixture, hunt.id));
	assert_close(hunt.price.boot_seconds, 10, 0);
	struct store_hunt_event *events;
	size_t count;
	assert_ok(store_get_hunt_events(fixture->context.store, hunt.id, &events, &count,
					&fixture->err),
		  &fixture->err);
	/* Two of the baseline's boots are alike, and both of the head's. */
	for (size_t i = 0; i < 4 + 2 * PAIRS; i++)
		assert_int_equal(events[i].stage, i < 4 ? HUNT_KNOWN : HUNT_REPRODUCE);
	assert_int_equal(events[4].layout, 0);
	assert_int_equal(events[6].layout, 1);
	assert_int_equal(events[4 + 2 * PAIRS].stage, HUNT_SEARCH);
	store_hunt_events_free(events, count);
	store_hunt_free(&hunt);
}

static void test_a_retest_pair_with_an_invalid_boot_is_no_evidence(void **state)
{
	struct fixture *fixture = *state;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	/* One more pair, whose second boot never came to an end. */
	run(fixture, PURPOSE_RETEST, night, 2 * PAIRS, 0, 0);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	assert_int_equal(hunt.retest_boots, 2 * PAIRS);
	store_hunt_free(&hunt);
}

static void test_an_interruption_anywhere_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	size_t boots = 0;
	world.steps[11] = 0.1;
	for (size_t round = 0; round < 14; round++) {
		/* The first one finds no prices in the store, the second is the pattern. */
		size_t stop = round < 2 ? 0 : round - 1;
		world.boots = 0;
		world.noise = 99;
		world.fail_at = stop;
		struct store_hunt hunt = add_hunt(fixture, 0, 1);
		int result = conductor_hunt(&fixture->context, &hunt, NULL, 0, &fixture->err);
		if (stop) {
			assert_int_equal(result, -1);
			assert_int_equal(fixture->err.kind, ERROR_INTERRUPTED);
			hunt_down(fixture, &hunt);
			assert_int_equal(world.boots, boots);
		}
		assert_string_equal(hunt.culprit, fixture->ids[11]);
		boots = world.boots;
		store_hunt_free(&hunt);
	}
}

static void test_two_changes_are_both_found(void **state)
{
	struct fixture *fixture = *state;
	world.steps[4] = 0.1;
	world.steps[12] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	struct store_hunt *hunts;
	size_t count;
	bool found[COMMITS] = {false};
	hunt_down(fixture, &hunt);
	if (!hunt.culprit[0])
		fail_msg("%s: %s, p %g, more %d", hunt.kind, hunt.reason, hunt.probability,
			 hunt.more_steps);
	assert_true(hunt.more_steps);
	assert_ok(store_list_hunts(fixture->context.store, night, false, &hunts, &count,
				   &fixture->err),
		  &fixture->err);
	assert_in_range(count, 2, 4);
	for (size_t i = 0; i < count; i++) {
		assert_true(hunts[i].finished);
		assert_int_equal(hunts[i].origin, hunts[i].id == hunt.id ? 0 : hunt.id);
		if (hunts[i].culprit[0])
			found[position(hunts[i].culprit)] = true;
	}
	assert_true(found[4]);
	assert_true(found[12]);
	/* The mail about the first tells of the other. */
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	assert_contains(body, "Other changes between the same ends:");
	assert_contains(body, "there is another one");
	store_hunts_free(hunts, count);
	store_hunt_free(&hunt);
}

static void test_a_hunt_that_is_out_of_time_tells_what_it_knows(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	fixture->context.policy.hunt.maximum_minutes = 1;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.kind, "cannot-tell");
	assert_contains(hunt.reason, "maximum-time");
	assert_in_range(world.boots, 6, 8);
	assert_int_equal(hunt.boots, world.boots);
	store_hunt_free(&hunt);
}

static void test_a_prior_only_shifts_the_search(void **state)
{
	struct fixture *fixture = *state;
	char prefix[] = "no/such/path";
	struct policy_weight weight = {prefix, 50};
	world.steps[9] = 0.1;
	fixture->context.policy.hunt.prior = &weight;
	fixture->context.policy.hunt.prior_count = 1;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	fixture->context.policy.hunt.prior = NULL;
	fixture->context.policy.hunt.prior_count = 0;
	store_hunt_free(&hunt);
}

/* Everything that the mail promises, and git itself ends at the culprit by its log. */
static void test_the_mail_says_how_sure_it_is_and_can_be_replayed(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	world.broken = 4;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	hunt.layout_share = 0.5;
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	auto_free char *boots = text_format("boots spent: %lld by the hunt", (long long)hunt.boots);
	const char *const promised[] = {
		"virtually certain",
		"95 % interval",
		boots,
		"12 by the retest",
		"the effect is comparable to layout noise",
		"50 % of it",
		"docs/ACCURACY.md",
		"times likelier with this answer",
		"(layout 1)",
	};
	for (size_t i = 0; i < array_length(promised); i++)
		assert_contains(body, promised[i]);
	const char *start = strstr(body, "  git bisect start\n");
	assert_non_null(start);
	auto_free char *log = text_format("%.*s", (int)(strstr(start, "\n\n") - start), start);
	auto_free char *path = text_format("%s/bisect.log", fixture->folder);
	auto_free char *replay = text_format("bisect replay %s", path);
	write_file(path, log);
	auto_free char *told = git(fixture, replay);
	auto_free char *first = text_format("%s is the first bad commit", fixture->ids[9]);
	assert_contains(told, first);
	store_hunt_free(&hunt);
}

/* What stage 2 said of SERIES and of OTHER_SERIES. */
static void put_verdicts(struct fixture *fixture, int64_t night, double other_change,
			 double other_deviation)
{
	struct store_verdict verdicts[] = {
		{.series = text_copy(SERIES), .verdict = {.change = 0.1, .deviation = 0.004}},
		{.series = text_copy(OTHER_SERIES),
		 .verdict = {.change = other_change, .deviation = other_deviation}},
	};
	for (size_t i = 0; i < array_length(verdicts); i++) {
		verdicts[i].stage = 2;
		verdicts[i].verdict.state = VERDICT_REGRESSION;
		verdicts[i].verdict.basis = VERDICT_BY_PAIRS;
		verdicts[i].verdict.degrees = 20;
		verdicts[i].verdict.boots = PAIRS;
		memcpy(verdicts[i].reference, fixture->ids[0], OBJECT_ID_SIZE);
	}
	assert_ok(store_put_verdicts(fixture->context.store, night, 2, verdicts,
				     array_length(verdicts), &fixture->err),
		  &fixture->err);
	for (size_t i = 0; i < array_length(verdicts); i++)
		free(verdicts[i].series);
}

static void report(struct fixture *fixture, int64_t id, bool hunt)
{
	struct store_night night;
	assert_ok(context_open_source(&fixture->context, &fixture->err), &fixture->err);
	assert_ok(store_get_night(fixture->context.store, id, &night, &fixture->err),
		  &fixture->err);
	if (hunt)
		assert_ok(night_step_hunt(&fixture->context, &night, &fixture->err), &fixture->err);
	assert_ok(conductor_report(&fixture->context, &night, &fixture->err), &fixture->err);
	store_night_free(&night);
}

static char *only_mail(struct fixture *fixture)
{
	struct store_mail *mails;
	size_t count;
	assert_ok(store_list_mails(fixture->context.store, 10, &mails, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	char *content = text_format("%.*s", (int)mails[0].content_length, mails[0].content);
	store_mails_free(mails, count);
	return content;
}

static void test_what_moved_with_the_culprit_is_not_hunted(void **state)
{
	struct fixture *fixture = *state;
	struct store_hunt *hunts;
	size_t count;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	/* More than twice what the culprit did, but too noisy a number to say that more remains. */
	put_verdicts(fixture, night, 0.25, 0.2);
	report(fixture, night, true);
	assert_ok(store_list_hunts(fixture->context.store, night, false, &hunts, &count,
				   &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	assert_string_equal(hunts[0].culprit, fixture->ids[5]);
	store_hunts_free(hunts, count);
	free(only_mail(fixture));
}

static void test_two_hunts_that_end_at_one_commit_are_one_mail(void **state)
{
	struct fixture *fixture = *state;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt first = add_hunt(fixture, night, 1);
	hunt_down(fixture, &first);
	struct store_hunt second = add_hunt_of(fixture, night, 1, OTHER_SERIES);
	hunt_down(fixture, &second);
	assert_string_equal(first.culprit, fixture->ids[5]);
	assert_string_equal(second.culprit, fixture->ids[5]);
	/* It began with what the first had measured of its series. */
	assert_true(first.search_boots > 0);
	assert_int_equal(second.search_boots, 0);
	report(fixture, night, false);
	auto_free char *mail = only_mail(fixture);
	assert_contains(mail, "Hunts for other series ended at the same commit:");
	assert_contains(mail, "- " OTHER_SERIES ": +");
	store_hunt_free(&first);
	store_hunt_free(&second);
}

static void test_a_second_change_that_does_not_show_is_not_claimed(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture->context.store;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	struct store_hunt part = {.night = night,
				  .origin = hunt.id,
				  .tree_name = hunt.tree_name,
				  .machine = hunt.machine,
				  .series = hunt.series,
				  .rule = hunt.rule};
	memcpy(part.good, fixture->ids[5], OBJECT_ID_SIZE);
	memcpy(part.bad, fixture->ids[COMMITS - 1], OBJECT_ID_SIZE);
	assert_ok(store_add_hunt(store, &part, &fixture->err), &fixture->err);
	part.kind = text_copy("not-reproducible");
	assert_ok(store_finish_hunt(store, &part, NULL, 0, &fixture->err), &fixture->err);
	hunt.more_steps = true;
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	assert_contains(body, "no other showed when looked");
	assert_null(strstr(body, "there is another one"));
	free(part.kind);
	store_hunt_free(&hunt);
}

int main(void)
{
#define hunt_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		hunt_test(test_a_hunt_by_hand_names_the_planted_commit),
		hunt_test(test_a_culprit_behind_a_broken_commit_is_a_set),
		hunt_test(test_layouts_that_a_hunt_asks_for_are_built_and_told),
		hunt_test(test_a_nights_retest_is_the_reproduction),
		hunt_test(test_a_retest_pair_with_an_invalid_boot_is_no_evidence),
		hunt_test(test_an_interruption_anywhere_changes_nothing),
		hunt_test(test_two_changes_are_both_found),
		hunt_test(test_a_hunt_that_is_out_of_time_tells_what_it_knows),
		hunt_test(test_a_prior_only_shifts_the_search),
		hunt_test(test_what_moved_with_the_culprit_is_not_hunted),
		hunt_test(test_two_hunts_that_end_at_one_commit_are_one_mail),
		hunt_test(test_a_second_change_that_does_not_show_is_not_claimed),
		hunt_test(test_the_mail_says_how_sure_it_is_and_can_be_replayed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
