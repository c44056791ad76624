/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/machine/machine.h"
#include "bench/sealed_file.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

/*
 * Real guests under QEMU. SENTINEL_TEST_TRUSTED_KERNEL: image of a Debian kernel package.
 * SENTINEL_TEST_SUSPECT_KERNEL: image built with policies/kernel/embedded.config. Its release is
 * read from the image's header (Documentation/arch/x86/boot.rst, kernel_version).
 */

struct fixture {
	char *folder;
	char *release;
	struct artifact artifact;
	struct policy_machine policy;
};

static struct fixture fixture;

#define TEXT(literal) ((char *)(uintptr_t)(literal))

static char *release_of_image(const char *path)
{
	auto_free char *bytes = NULL;
	size_t length = 0;
	struct error err;
	assert_ok(file_read(path, (size_t)64 << 20, &bytes, &length, &err), &err);
	if (length < 0x210 || memcmp(bytes + 0x202, "HdrS", 4) != 0)
		return text_copy("no kernel");
	size_t offset = (size_t)((unsigned char)bytes[0x20e] | (unsigned char)bytes[0x20f] << 8);
	assert_true(offset + 0x200 < length);
	char *version = bytes + 0x200 + offset;
	version[strcspn(version, " ")] = '\0';
	return text_copy(version);
}

static int setup(void **state)
{
	const char *trusted = getenv("SENTINEL_TEST_TRUSTED_KERNEL");
	const char *suspect = getenv("SENTINEL_TEST_SUSPECT_KERNEL");
	(void)state;
	if (!trusted || !suspect)
		return 0;
	fixture.folder = make_scratch();
	fixture.release = release_of_image(suspect);
	fixture.artifact =
		(struct artifact){.image_path = TEXT(suspect), .release = fixture.release};
	fixture.policy = (struct policy_machine){.name = TEXT("test"),
						 .driver = TEXT("qemu"),
						 .trusted_kernel = TEXT(trusted),
						 .acceleration = TEXT("tcg"),
						 .memory_mib = 512,
						 .boot_timeout_seconds = 120,
						 .icount_shift = 3,
						 .suspect_arguments = TEXT("norandmaps")};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (fixture.folder)
		file_remove_tree(fixture.folder, NULL);
	free(fixture.folder);
	free(fixture.release);
	return 0;
}

static void need_kernels(void)
{
	static const char *const names[] = {"SENTINEL_TEST_TRUSTED_KERNEL",
					    "SENTINEL_TEST_SUSPECT_KERNEL"};
	for (size_t i = 0; i < array_length(names); i++)
		if (!getenv(names[i]))
			print_message("NOT TESTED: set %s to a kernel image\n", names[i]);
	if (!fixture.folder)
		skip();
}

static struct machine *open_machine(void)
{
	/* cat and sleep stand in for a kernel that hangs and a benchmark that never ends. */
	static const struct policy_benchmark benchmarks[] = {
		{.name = TEXT("hackbench"),
		 .command = TEXT("hackbench -g {groups}"),
		 .package = TEXT("rt-tests")},
		{.name = TEXT("cat"), .command = TEXT("cat"), .package = TEXT("coreutils")},
		{.name = TEXT("sleep"), .command = TEXT("sleep"), .package = TEXT("coreutils")},
		{.name = TEXT("tail"), .command = TEXT("tail"), .package = TEXT("coreutils")},
	};
	const struct policy_benchmark *suite[array_length(benchmarks)];
	struct machine *machine = NULL;
	struct error err;
	for (size_t i = 0; i < array_length(benchmarks); i++)
		suite[i] = &benchmarks[i];
	assert_ok(machine_open(&fixture.policy, suite, array_length(suite), SENTINEL_AGENT,
			       fixture.folder, &machine, &err),
		  &err);
	return machine;
}

/* One step of one program; boot arguments ARGUMENTS are added to the suspect's. */
struct attempt {
	const char *arguments;
	const char *const *argv;
	int64_t timeout_seconds;
	int64_t boot_timeout_seconds;
	struct ticket ticket;
	struct plan_step step;
	char *folder;
	char *console;
	struct machine_outcome outcome;
};

static void prepare(struct attempt *attempt)
{
	struct error err;
	static int number;
	/* The suite of open_machine() names each benchmark as its program. */
	const char *program = attempt->argv ? attempt->argv[0] : "none";
	attempt->step = (struct plan_step){.benchmark = TEXT(program),
					   .cell = TEXT("default"),
					   .argv = (char **)(uintptr_t)attempt->argv,
					   .iterations = 2,
					   .warmup = 1,
					   .timeout_seconds = attempt->timeout_seconds};
	attempt->ticket = (struct ticket){.release = fixture.release,
					  .plan = {&attempt->step, attempt->argv ? 1 : 0}};
	assert_ok(token_create(attempt->ticket.token, &err), &err);
	attempt->folder = text_format("%s/trial-%d", fixture.folder, number++);
	fixture.policy.suspect_arguments = TEXT(attempt->arguments);
	fixture.policy.boot_timeout_seconds =
		attempt->boot_timeout_seconds ? attempt->boot_timeout_seconds : 120;
}

static struct machine_trial trial_of(const struct attempt *attempt)
{
	return (struct machine_trial){&fixture.artifact, &attempt->ticket, attempt->folder};
}

static void run(struct attempt *attempt)
{
	struct error err;
	prepare(attempt);
	auto_machine struct machine *machine = open_machine();
	struct machine_trial trial = trial_of(attempt);
	assert_ok(machine_run_trial(machine, &trial, &attempt->outcome, &err), &err);
	assert_ok(file_read(attempt->outcome.console_path, (size_t)1 << 24, &attempt->console, NULL,
			    &err),
		  &err);
	auto_free char *parts = text_format("%s/parts", attempt->folder);
	assert_false(file_exists(parts));
}

static void finish(struct attempt *attempt)
{
	machine_outcome_free(&attempt->outcome);
	free(attempt->folder);
	free(attempt->console);
}

static size_t occurrences(const char *text, const char *word)
{
	size_t count = 0;
	while ((text = strstr(text, word))) {
		count++;
		text++;
	}
	return count;
}

static void assert_ended(const struct attempt *attempt, enum trial_phase phase,
			 enum trial_cause cause)
{
	const struct machine_outcome *outcome = &attempt->outcome;
	if (outcome->phase != phase || outcome->cause != cause)
		fail_msg("ended in %s by %s (%s)", trial_phase_name(outcome->phase),
			 trial_cause_name(outcome->cause),
			 outcome->reason ? outcome->reason : "no reason");
	/* Seen before the jump and again at home. */
	if (cause != CAUSE_REFUSED)
		assert_int_equal(occurrences(attempt->console, "sentinel-agent: trusted kernel "),
				 2);
}

static const char *const hackbench[] = {"hackbench", "-g",     "1",         "-l",
					"50",        "--pipe", "--process", NULL};

static void test_a_good_kernel_runs_the_plan_and_the_console_proves_it(void **state)
{
	(void)state;
	need_kernels();
	struct error err;
	struct attempt attempt = {
		.arguments = "norandmaps", .argv = hackbench, .timeout_seconds = 60};
	run(&attempt);
	assert_ended(&attempt, PHASE_SEALED, CAUSE_NONE);
	assert_null(attempt.outcome.reason);
	assert_string_not_equal(attempt.outcome.trusted_boot_id, attempt.outcome.suspect_boot_id);

	auto_free char *bytes = NULL;
	size_t length = 0;
	auto_sealed_file struct sealed_file sealed = {0};
	assert_ok(file_read(attempt.outcome.sealed_path, SEALED_FILE_LIMIT_BYTES, &bytes, &length,
			    &err),
		  &err);
	assert_ok(sealed_file_from_text(bytes, length, &sealed, &err), &err);
	assert_null(sealed.fault);
	assert_int_equal(sealed.run_count, 3);
	assert_int_equal(sealed.runs[0].iteration, -1);
	assert_int_equal(sealed.runs[2].iteration, 1);
	for (size_t i = 0; i < sealed.run_count; i++) {
		assert_int_equal(sealed.runs[i].exit_code, 0);
		assert_contains(sealed.runs[i].stdout_text, "Time: ");
	}
	assert_true(json_is_string(json_object_get(sealed.environment, "cpu_model")));

	auto_free char *jumped =
		text_format("sentinel-agent: jumping with token %s", attempt.ticket.token);
	auto_free char *arrived =
		text_format("sentinel-agent: suspect kernel %s token %s boot %s", fixture.release,
			    attempt.ticket.token, attempt.outcome.suspect_boot_id);
	assert_contains(attempt.console, jumped);
	assert_contains(strstr(attempt.console, jumped), arrived);
	finish(&attempt);
}

static void test_a_kernel_that_panics_at_boot_is_told_from_one_that_hangs(void **state)
{
	(void)state;
	need_kernels();
	struct attempt panics = {.arguments = "rdinit=/nonexistent init=/nonexistent"};
	run(&panics);
	assert_ended(&panics, PHASE_SUSPECT_BOOT, CAUSE_PANIC);
	assert_contains(panics.outcome.reason, "Kernel panic - not syncing");
	finish(&panics);

	static const char *const cat[] = {"cat", NULL};
	struct attempt hangs = {
		.arguments = "rdinit=/usr/bin/cat", .argv = cat, .boot_timeout_seconds = 30};
	run(&hangs);
	assert_ended(&hangs, PHASE_SUSPECT_BOOT, CAUSE_HANG);
	finish(&hangs);
}

static void test_a_panic_under_load_is_a_benchmark_that_did_not_finish(void **state)
{
	(void)state;
	need_kernels();
	static const char *const eater[] = {"tail", "/dev/zero", NULL};
	struct attempt attempt = {.arguments = "sysctl.vm.panic_on_oom=1 mem=128M",
				  .argv = eater,
				  .timeout_seconds = 600};
	run(&attempt);
	assert_ended(&attempt, PHASE_BENCHMARK, CAUSE_PANIC);
	assert_contains(attempt.outcome.reason, "Out of memory");
	assert_non_null(attempt.outcome.suspect_boot_id);
	finish(&attempt);
}

static void test_a_benchmark_without_an_end_is_ended_and_sealed(void **state)
{
	(void)state;
	need_kernels();
	struct error err;
	static const char *const sleeper[] = {"sleep", "100000", NULL};
	struct attempt attempt = {.arguments = "", .argv = sleeper, .timeout_seconds = 2};
	run(&attempt);
	assert_ended(&attempt, PHASE_SEALED, CAUSE_NONE);
	auto_free char *bytes = NULL;
	size_t length = 0;
	auto_sealed_file struct sealed_file sealed = {0};
	assert_ok(file_read(attempt.outcome.sealed_path, SEALED_FILE_LIMIT_BYTES, &bytes, &length,
			    &err),
		  &err);
	assert_ok(sealed_file_from_text(bytes, length, &sealed, &err), &err);
	assert_int_equal(sealed.run_count, 3);
	assert_true(sealed.runs[1].timed_out);
	assert_int_equal(sealed.runs[1].signal_number, SIGKILL);
	finish(&attempt);
}

static void test_an_image_that_is_none_is_refused_by_kexec(void **state)
{
	(void)state;
	need_kernels();
	struct error err;
	auto_free char *garbage = text_format("%s/garbage", fixture.folder);
	assert_ok(file_write_durable(garbage, "no kernel at all", 16, &err), &err);
	char *image = fixture.artifact.image_path;
	fixture.artifact.image_path = garbage;
	struct attempt attempt = {.arguments = ""};
	run(&attempt);
	fixture.artifact.image_path = image;
	assert_ended(&attempt, PHASE_JUMP, CAUSE_REFUSED);
	finish(&attempt);
}

static void test_another_release_than_expected_proves_the_wrong_kernel(void **state)
{
	(void)state;
	need_kernels();
	char *release = fixture.release;
	fixture.release = TEXT("0.01");
	struct attempt attempt = {.arguments = ""};
	run(&attempt);
	fixture.release = release;
	assert_ended(&attempt, PHASE_SUSPECT_BOOT, CAUSE_WRONG_KERNEL);
	finish(&attempt);
}

/* The emulators that run in FOLDER, which only this test knows. */
static int count_emulators(const char *folder)
{
	auto_free char *command = text_format("ps -eo stat=,args= | grep '^[^Z].*%s/parts' | "
					      "grep -vc grep",
					      folder);
	FILE *pipe = popen(command, "r");
	int count = -1;
	assert_non_null(pipe);
	if (fscanf(pipe, "%d", &count) != 1)
		count = -1;
	pclose(pipe);
	return count;
}

static void test_killing_us_kills_the_emulator_and_the_trial_can_be_recovered(void **state)
{
	(void)state;
	need_kernels();
	struct error err;
	struct attempt attempt = {
		.arguments = "norandmaps", .argv = hackbench, .timeout_seconds = 60};
	prepare(&attempt);
	struct machine_trial trial = trial_of(&attempt);
	pid_t child = fork();
	if (child == 0) {
		struct machine *machine = open_machine();
		machine_run_trial(machine, &trial, &attempt.outcome, NULL);
		_exit(0);
	}
	double deadline = clock_monotonic_seconds() + 60;
	while (count_emulators(attempt.folder) < 1 && clock_monotonic_seconds() < deadline)
		usleep(100000);
	assert_int_equal(count_emulators(attempt.folder), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	deadline = clock_monotonic_seconds() + 10;
	while (count_emulators(attempt.folder) > 0 && clock_monotonic_seconds() < deadline)
		usleep(100000);
	assert_int_equal(count_emulators(attempt.folder), 0);

	assert_ok(machine_recover_trial(NULL, &trial, &attempt.outcome, &err), &err);
	assert_int_equal(attempt.outcome.phase, PHASE_TRUSTED_BOOT);
	assert_string_equal(attempt.outcome.reason, "interrupted");
	finish(&attempt);
}

static void test_the_identity_names_what_makes_results_comparable(void **state)
{
	(void)state;
	need_kernels();
	auto_machine struct machine *first = open_machine();
	auto_machine struct machine *again = open_machine();
	fixture.policy.icount_shift = 4;
	auto_machine struct machine *slower = open_machine();
	fixture.policy.icount_shift = 3;
	const struct machine_facts *facts = machine_facts(first);
	assert_true(facts->virtual_time);
	assert_string_equal(facts->clock, "virtual time (TCG, icount shift 3)");
	assert_string_equal(facts->identity, machine_facts(again)->identity);
	assert_string_not_equal(facts->identity, machine_facts(slower)->identity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_kernel_runs_the_plan_and_the_console_proves_it),
		cmocka_unit_test(test_a_kernel_that_panics_at_boot_is_told_from_one_that_hangs),
		cmocka_unit_test(test_a_panic_under_load_is_a_benchmark_that_did_not_finish),
		cmocka_unit_test(test_a_benchmark_without_an_end_is_ended_and_sealed),
		cmocka_unit_test(test_an_image_that_is_none_is_refused_by_kexec),
		cmocka_unit_test(test_another_release_than_expected_proves_the_wrong_kernel),
		cmocka_unit_test(test_killing_us_kills_the_emulator_and_the_trial_can_be_recovered),
		cmocka_unit_test(test_the_identity_names_what_makes_results_comparable),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
