/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "policies/policy.h"
#include "policies/policy_file.h"
#include "policies/policy_keys.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

static const char complete[] = "[tree \"linux\"]\n"
			       "\turl = /srv/linux\n"
			       "\tbranch = master\n"
			       "[machine \"guest\"]\n"
			       "\tdriver = qemu\n"
			       "\ttrusted-kernel = trusted/vmlinuz\n"
			       "[night]\n"
			       "\ttree = linux\n"
			       "\tmachine = guest\n"
			       "\tbenchmarks = hackbench-pipe-process\n";

static const char own_benchmark[] = "[benchmark \"own\"]\n"
				    "\tcommand = own -n {n} -m {m}\n"
				    "\tpackage = own\n"
				    "\tmetric = time\n"
				    "\tpattern = ^([0-9.]+)$\n"
				    "\tunit = s\n"
				    "\tbetter = lower\n";

struct fixture {
	char *folder;
	char *path;
	struct policy policy;
	struct error err;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));
	fixture->folder = make_scratch();
	fixture->path = text_format("%s/sentinel.conf", fixture->folder);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	policy_free(&fixture->policy);
	file_remove_tree(fixture->folder, NULL);
	free(fixture->folder);
	free(fixture->path);
	test_free(fixture);
	return 0;
}

static void write_bytes(const char *path, const char *bytes, size_t length)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

/* COMPLETE, with MORE behind it. */
static void write_policy(struct fixture *fixture, const char *more)
{
	auto_free char *text = text_format("%s%s", complete, more);
	write_text(fixture->path, text);
}

static void load(struct fixture *fixture)
{
	policy_free(&fixture->policy);
	assert_ok(policy_load(fixture->path, SHIPPED_POLICIES, &fixture->policy, &fixture->err),
		  &fixture->err);
}

/* The text is refused as the operator's fault, and the message names the file and these words. */
static void assert_text_refused(struct fixture *fixture, const char *text, const char *const *words)
{
	write_text(fixture->path, text);
	fixture->err = (struct error){0};
	if (policy_load(fixture->path, SHIPPED_POLICIES, &fixture->policy, &fixture->err) == 0)
		fail_msg("accepted: %s", text);
	assert_int_equal(fixture->err.kind, ERROR_USAGE);
	assert_contains(fixture->err.message, fixture->path);
	for (; *words; words++)
		assert_contains(fixture->err.message, *words);
}

#define assert_refused(fixture, more, ...)                                                         \
	do {                                                                                       \
		auto_free char *refused_text = text_format("%s%s", complete, more);                \
		const char *const refused_words[] = {__VA_ARGS__, NULL};                           \
		assert_text_refused(fixture, refused_text, refused_words);                         \
	} while (0)

static void test_a_minimal_policy_loads_with_all_defaults(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture, "");
	load(fixture);
	const struct policy *policy = &fixture->policy;
	assert_string_equal(policy->path, fixture->path);
	assert_string_equal(policy->trees[0].url, "/srv/linux");
	assert_string_equal(policy->trees[0].config, "tinyconfig");
	assert_int_equal(policy->trees[0].build_timeout_seconds, 3600);
	assert_int_equal(policy->trees[0].jobs, 0);
	assert_string_equal(policy->trees[0].irrelevant.items[0], "Documentation/");
	assert_string_equal(policy->machines[0].driver, "qemu");
	assert_string_equal(policy->machines[0].acceleration, "auto");
	assert_int_equal(policy->machines[0].memory_mib, 512);
	assert_int_equal(policy->machines[0].boot_timeout_seconds, 120);
	assert_int_equal(policy->machines[0].icount_shift, 3);
	assert_string_equal(policy->machines[0].suspect_arguments, "");
	assert_int_equal(policy->night.boots, 2);
	assert_int_equal(policy->night.baseline_boots, 3);
	assert_int_equal(policy->night.window, 20);
	assert_int_equal(policy->night.pinned_boots, 10);
	assert_int_equal(policy->night.retest_pairs, 6);
	assert_int_equal(policy->night.layout_builds, 2);
	assert_close(policy->night.needless_retests_percent, 1, 0);
	assert_close(policy->night.false_alarms_per_month, 0.05, 0);
	assert_int_equal(policy->night.attempts, 3);
	assert_close(policy->hunt.stop_probability, 0.90, 0);
	assert_close(policy->hunt.report_probability, 0.99, 0);
	assert_int_equal(policy->hunt.maximum_boots, 200);
	assert_int_equal(policy->hunt.maximum_minutes, 600);
	assert_int_equal(policy->hunt.prior_count, 0);
	assert_null(policy->mail.server);
	assert_string_equal(policy->mail.from, "Sentinel <sentinel@localhost>");
	assert_string_equal(policy->mail.security, "none");
	assert_int_equal(policy->mail.timeout_seconds, 30);
}

static void test_units_are_converted_and_a_missing_one_is_refused(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture, "[machine \"guest\"]\n\tmemory = 2 GiB\n\tboot-timeout = 1.5min\n"
			      "[hunt]\n\tmaximum-time = 2 h\n"
			      "[benchmark \"hackbench-pipe-process\"]\n\tminimum-effect = 0.5%\n");
	load(fixture);
	assert_int_equal(fixture->policy.machines[0].memory_mib, 2048);
	assert_int_equal(fixture->policy.machines[0].boot_timeout_seconds, 90);
	assert_int_equal(fixture->policy.hunt.maximum_minutes, 120);
	const struct policy_benchmark *benchmark;
	assert_ok(policy_find_benchmark(&fixture->policy, "hackbench-pipe-process", &benchmark,
					&fixture->err),
		  &fixture->err);
	assert_close(benchmark->minimum_effect_percent, 0.5, 0);

	assert_refused(fixture, "[machine \"guest\"]\n\tmemory = 512\n", "[machine \"guest\"]",
		       "memory = \"512\"", "lacks its unit", "512 MiB");
	assert_refused(fixture, "[machine \"guest\"]\n\tmemory = 512 parsec\n", "unknown unit");
	assert_refused(fixture, "[night]\n\tboots = 2 s\n", "plain number");
}

static void test_unknown_names_are_refused_with_the_nearest_known_one(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, "[machin \"guest\"]\n\tmemory = 1 GiB\n", "[machin \"guest\"]",
		       "unknown section", "\"machine\"");
	assert_refused(fixture, "[tree \"linux\"]\n\tbrunch = x\n", "[tree \"linux\"]",
		       "brunch = \"x\"", "unknown key", "\"branch\"");
	assert_refused(fixture, "[hunt]\n\tquantum = x\n", "known: stop-probability");
	assert_refused(fixture, "[tree]\n\tbranch = x\n", "needs a name", "[tree \"");
	assert_refused(fixture, "[night \"one\"]\n\tboots = 2\n", "takes no name");
	assert_refused(fixture, "[tree \"../evil\"]\n\turl = x\n", "../evil", "1 to 64 letters");
}

static void test_values_out_of_range_are_refused(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, "[night]\n\tboots = 0\n", "[night]", "boots = \"0\"",
		       "from 1 to 100");
	assert_refused(fixture, "[night]\n\tboots = -1\n", "decimal number");
	assert_refused(fixture, "[night]\n\tboots = 2.5\n", "whole number");
	assert_refused(fixture, "[night]\n\tfalse-alarms-per-month = nan\n", "decimal number");
	assert_refused(fixture, "[night]\n\tfalse-alarms-per-month = 0.9.9\n", "decimal number");
	assert_refused(fixture, "[night]\n\tneedless-retests = 1\n", "lacks its unit", "1 %");
	assert_refused(fixture, "[night]\n\tstage2-alpha = 0.001\n", "stage2-alpha",
		       "false-alarms-per-month");
	assert_refused(fixture, "[night]\n\tstage1-alpha = 0.01\n", "needless-retests");
	assert_refused(fixture, "[hunt]\n\treport-probability = 1\n", "0.999999");
	assert_refused(fixture, "[hunt]\n\tmaximum-boots = 99999999999999999999\n", "10000");
	assert_refused(fixture, "[machine \"guest\"]\n\tacceleration = fast\n", "auto kvm tcg");
	assert_refused(fixture, "[tree \"linux\"]\n\tconfig = \"a\\nb\"\n", "control characters");
	assert_refused(fixture, "[night]\n\tboots\n", "boots", "has no");
}

static void test_a_prior_weighs_path_prefixes(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture, "[hunt]\n\tprior = kernel/sched 4\n\tprior = drivers/gpu 0.1\n");
	load(fixture);
	assert_int_equal(fixture->policy.hunt.prior_count, 2);
	assert_string_equal(fixture->policy.hunt.prior[0].prefix, "kernel/sched");
	assert_close(fixture->policy.hunt.prior[0].weight, 4, 0);
	assert_string_equal(fixture->policy.hunt.prior[1].prefix, "drivers/gpu");
	assert_close(fixture->policy.hunt.prior[1].weight, 0.1, 0);
	assert_refused(fixture, "[hunt]\n\tprior = kernel/sched\n", "PATH-PREFIX WEIGHT");
	assert_refused(fixture, "[hunt]\n\tprior = kernel/sched many\n", "weight of kernel/sched");
	assert_refused(fixture, "[hunt]\n\tprior = kernel/sched 0\n", "from 0.01 to 100");
	assert_refused(fixture, "[hunt]\n\tprior = /kernel/sched 2\n", "as git shows it");
	assert_refused(fixture, "[hunt]\n\tprior = mm 2\n\tprior = mm 3\n", "given before");
}

static void test_missing_required_keys_are_named(void **state)
{
	struct fixture *fixture = *state;
	static const char *const lines[] = {
		"\turl = /srv/linux\n",
		"\tbranch = master\n",
		"\ttrusted-kernel = trusted/vmlinuz\n",
		"\ttree = linux\n",
		"\tmachine = guest\n",
		"\tbenchmarks = hackbench-pipe-process\n",
	};
	for (size_t i = 0; i < array_length(lines); i++) {
		const char *start = strstr(complete, lines[i]);
		auto_free char *text = text_format("%.*s%s", (int)(start - complete), complete,
						   start + strlen(lines[i]));
		auto_free char *key = text_format("%.*s is missing",
						  (int)strcspn(lines[i] + 1, " "), lines[i] + 1);
		const char *const words[] = {key, NULL};
		assert_text_refused(fixture, text, words);
	}
	assert_refused(fixture, "[tree \"next\"]\n\turl = x\n",
		       "[tree \"next\"] branch is missing");
	assert_refused(fixture, "[benchmark \"own\"]\n\tcommand = own\n", "[benchmark \"own\"]",
		       "package is missing");
	assert_refused(fixture, "[tree \"next\"]\n\turl =\n", "must not be empty");
}

static void test_a_key_of_one_value_cannot_be_set_twice_in_one_file(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, "[tree \"linux\"]\n\tbranch = other\n", "[tree \"linux\"]",
		       "branch = \"other\"", "set before");
	assert_refused(fixture,
		       "[tree \"linux\"]\n\tjobs = 1\n[tree \"next\"]\n\tjobs = 1\n"
		       "[tree \"linux\"]\n\tjobs = 1\n",
		       "[tree \"linux\"]", "set before");
}

static void test_keys_of_many_values_accumulate_and_are_split_at_blanks(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture, "\tbenchmarks = hackbench-pipe-thread  hackbench-socket-thread\n"
			      "[tree \"linux\"]\n\tmodules = a b\n\tmodules = c\n"
			      "[mail]\n\tserver = smtp://localhost:25\n"
			      "\tto = One <one@example.org>\n\tto = two@example.org\n");
	load(fixture);
	const struct policy *policy = &fixture->policy;
	assert_int_equal(policy->night.benchmarks.count, 3);
	assert_string_equal(policy->night.benchmarks.items[2], "hackbench-socket-thread");
	assert_int_equal(policy->trees[0].modules.count, 3);
	assert_string_equal(policy->trees[0].modules.items[2], "c");
	assert_int_equal(policy->mail.to.count, 2);
	assert_string_equal(policy->mail.to.items[0], "One <one@example.org>");
}

static void test_relative_names_start_at_the_files_folder(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture,
		     "[tree \"next\"]\n\turl = ../next\n\tbranch = x\n\tconfig = my.config\n"
		     "\tfragments = a.config shipped:kernel/embedded.config /b.config\n"
		     "[tree \"far\"]\n\turl = git@example.org:linux.git\n\tbranch = x\n"
		     "\tconfig = x86_64_defconfig\n");
	load(fixture);
	auto_free char *folder = realpath(fixture->folder, NULL);
	auto_free char *url = text_format("%s/../next", folder);
	auto_free char *config = text_format("%s/my.config", folder);
	auto_free char *fragment = text_format("%s/a.config", folder);
	auto_free char *trusted = text_format("%s/trusted/vmlinuz", folder);
	const struct policy_tree *next = &fixture->policy.trees[1];
	assert_string_equal(next->url, url);
	assert_string_equal(next->config, config);
	assert_string_equal(next->fragments.items[0], fragment);
	assert_true(file_exists(next->fragments.items[1]));
	assert_string_equal(next->fragments.items[2], "/b.config");
	assert_string_equal(fixture->policy.machines[0].trusted_kernel, trusted);
	assert_string_equal(fixture->policy.trees[2].url, "git@example.org:linux.git");
	assert_string_equal(fixture->policy.trees[2].config, "x86_64_defconfig");
}

static void test_a_missing_file_points_to_init(void **state)
{
	struct fixture *fixture = *state;
	struct error *err = &fixture->err;
	assert_int_equal(
		policy_load("/nonexistent/sentinel.conf", SHIPPED_POLICIES, &fixture->policy, err),
		-1);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_contains(err->message, "/nonexistent/sentinel.conf");
	assert_contains(err->message, "sentinel init");
}

static void test_a_half_written_file_is_refused(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, "[tree \"nex\n", ":11"); /* the line, from libgit2 */
	assert_refused(fixture, "[hunt\n", "git-config");
	assert_refused(fixture, "[hunt]\n\tmaximum-boots = \"20\n", ":12: a quote is not closed");
	assert_refused(fixture, "[hunt]\n\tmaximum-boots = 20", "half-written");
}

static void test_what_is_no_small_text_file_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct error *err = &fixture->err;
	auto_free char *large = memory_array((1 << 20) + 1, 1);
	memset(large, '\n', (1 << 20) + 1);
	write_bytes(fixture->path, large, (1 << 20) + 1);
	assert_int_equal(policy_load(fixture->path, SHIPPED_POLICIES, &fixture->policy, err), -1);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_contains(err->message, "larger than 1 MiB");

	write_bytes(fixture->path, "[hunt]\n\0\n", 9);
	assert_int_equal(policy_load(fixture->path, SHIPPED_POLICIES, &fixture->policy, err), -1);
	assert_contains(err->message, "NUL");
	assert_int_equal(policy_load(fixture->folder, SHIPPED_POLICIES, &fixture->policy, err), -1);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_contains(err->message, "regular file");
}

static void test_an_included_file_is_a_base_to_override(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *base = text_format("%s/base.conf", fixture->folder);
	write_text(base, "[hunt]\n\tmaximum-boots = 50\n\tmaximum-time = 5 min\n");
	write_policy(fixture, "[include]\n\tpath = base.conf\n[hunt]\n\tmaximum-boots = 60\n");
	load(fixture);
	assert_int_equal(fixture->policy.hunt.maximum_boots, 60);
	assert_int_equal(fixture->policy.hunt.maximum_minutes, 5);

	write_text(base, "[hunt]\n\tmaximum-boats = 50\n");
	assert_refused(fixture, "[include]\n\tpath = base.conf\n", "file it includes",
		       "maximum-boats", "\"maximum-boots\"");
	assert_refused(fixture, "[include]\n\tpath = lost.conf\n", "lost.conf", "No such file");
}

static void test_the_git_settings_of_the_user_stay_out(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *settings = text_format("%s/.gitconfig", fixture->folder);
	auto_free char *home = text_copy(getenv("HOME") ? getenv("HOME") : "/");
	write_text(settings, "[hunt]\n\tmaximum-boots = 77\n[nonsense]\n\tx = y\n");
	setenv("HOME", fixture->folder, 1);
	write_policy(fixture, "");
	load(fixture);
	setenv("HOME", home, 1);
	assert_int_equal(fixture->policy.hunt.maximum_boots, 200);
}

static void test_night_refers_only_to_what_exists(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, "\tbenchmarks = hackbench-pipe-proces\n", "[night] benchmarks",
		       "did you mean \"hackbench-pipe-process\"",
		       "[benchmark \"hackbench-pipe-proces\"]");
	assert_refused(fixture, "\tbenchmarks = hackbench-pipe-process\n", "twice");
	static const char other[] = "[tree \"linux\"]\n\turl = x\n\tbranch = x\n"
				    "[machine \"guest\"]\n\ttrusted-kernel = x\n"
				    "[night]\n\ttree = lunix\n\tmachine = guest\n"
				    "\tbenchmarks = hackbench-pipe-process\n";
	const char *const words[] = {"[night] tree", "\"lunix\"", "did you mean \"linux\"", NULL};
	assert_text_refused(fixture, other, words);
}

static void test_mail_in_clear_stays_on_this_host(void **state)
{
	struct fixture *fixture = *state;
	static const char *const local[] = {"localhost", "127.0.0.1", "127.9.9.9"};
	for (size_t i = 0; i < array_length(local); i++) {
		auto_free char *text = text_format(
			"[mail]\n\tserver = smtp://%s:2525\n\tto = a@example.org\n", local[i]);
		write_policy(fixture, text);
		load(fixture);
	}
	write_policy(fixture, "[mail]\n\tserver = smtp://mail.example.org:25\n"
			      "\tto = a@example.org\n\tsecurity = starttls\n");
	load(fixture);
	assert_refused(fixture,
		       "[mail]\n\tserver = smtp://mail.example.org:25\n\tto = a@example.org\n",
		       "[mail] security", "mail.example.org", "starttls");
	assert_refused(fixture, "[mail]\n\tserver = smtp://127.0.0.1.evil.org:25\n\tto = a@b\n",
		       "security");
	assert_refused(fixture, "[mail]\n\tserver = smtp://localhost:25\n", "[mail] to is missing");
	assert_refused(fixture, "[mail]\n\tto = a@example.org\n", "[mail] server is missing");
	assert_refused(fixture, "[mail]\n\tserver = localhost\n\tto = a@b\n", "smtp://HOST:PORT");
	assert_refused(fixture, "[mail]\n\tserver = smtp://localhost:99999\n\tto = a@b\n", "65535");
	assert_refused(fixture, "[mail]\n\tserver = smtp://[::1]:25\n\tto = a@b\n",
		       "smtp://HOST:PORT");
}

static void test_a_shipped_benchmark_is_overridden_key_by_key(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture, "[benchmark \"hackbench-pipe-process\"]\n\titerations = 7\n"
			      "\tparam = groups 8\n\tparam = loops 10\n");
	load(fixture);
	const struct policy_benchmark *benchmark;
	assert_ok(policy_find_benchmark(&fixture->policy, "hackbench-pipe-process", &benchmark,
					&fixture->err),
		  &fixture->err);
	assert_int_equal(benchmark->iterations, 7);
	assert_int_equal(benchmark->warmup, 1);
	assert_string_equal(benchmark->package, "rt-tests");
	assert_int_equal(benchmark->parameter_count, 2);
	assert_int_equal(benchmark->parameters[0].values.count, 1);
	assert_string_equal(benchmark->parameters[0].values.items[0], "8");
	assert_true(benchmark->reject.count >= 4);
}

static void test_the_shipped_catalogue_loads_in_sorted_order_and_is_whole(void **state)
{
	struct fixture *fixture = *state;
	write_policy(fixture, "");
	load(fixture);
	const struct policy *policy = &fixture->policy;
	assert_true(policy->benchmark_count >= 5);
	for (size_t i = 0; i < policy->benchmark_count; i++) {
		const struct policy_benchmark *benchmark = &policy->benchmarks[i];
		struct policy_case *cases;
		size_t count;
		assert_ok(policy_benchmark_cases(benchmark, &cases, &count, &fixture->err),
			  &fixture->err);
		assert_true(count > 0 && benchmark->require.count > 0);
		policy_cases_free(cases, count);
		if (i > 0)
			assert_true(strcmp(policy->benchmarks[i - 1].name, benchmark->name) < 0);
	}
}

static void test_a_shipped_file_holds_only_its_own_benchmark(void **state)
{
	struct fixture *fixture = *state;
	struct error *err = &fixture->err;
	auto_free char *folder = text_format("%s/shipped/benchmarks", fixture->folder);
	auto_free char *shipped = text_format("%s/shipped", fixture->folder);
	auto_free char *file = text_format("%s/other.conf", folder);
	assert_ok(file_make_folders(folder, err), err);
	write_policy(fixture, "");
	write_text(file, own_benchmark);
	assert_int_equal(policy_load(fixture->path, shipped, &fixture->policy, err), -1);
	assert_contains(err->message, "other.conf");
	assert_contains(err->message, "only the section [benchmark \"other\"]");
	write_bytes(file, "", 0);
	assert_int_equal(policy_load(fixture->path, shipped, &fixture->policy, err), -1);
	assert_contains(err->message, "has no section [benchmark \"other\"]");
}

static void load_own(struct fixture *fixture, const char *parameters,
		     const struct policy_benchmark **ret_benchmark)
{
	auto_free char *text = text_format("%s%s", own_benchmark, parameters);
	write_policy(fixture, text);
	load(fixture);
	assert_ok(policy_find_benchmark(&fixture->policy, "own", ret_benchmark, &fixture->err),
		  &fixture->err);
}

static void test_cases_are_the_product_with_the_last_parameter_fastest(void **state)
{
	struct fixture *fixture = *state;
	const struct policy_benchmark *benchmark;
	struct policy_case *cases;
	size_t count;
	load_own(fixture, "\tparam = n 1 2\n\tparam = m x y z\n", &benchmark);
	assert_ok(policy_benchmark_cases(benchmark, &cases, &count, &fixture->err), &fixture->err);
	static const char *const names[] = {"n-1/m-x", "n-1/m-y", "n-1/m-z",
					    "n-2/m-x", "n-2/m-y", "n-2/m-z"};
	assert_int_equal(count, array_length(names));
	for (size_t i = 0; i < count; i++)
		assert_string_equal(cases[i].name, names[i]);
	assert_string_equal(cases[5].key, "n=2 m=z");
	assert_int_equal(cases[5].argv.count, 5);
	assert_string_equal(cases[5].argv.items[2], "2");
	assert_string_equal(cases[5].argv.items[4], "z");
	policy_cases_free(cases, count);
}

static void test_a_parameter_with_one_value_stays_out_of_the_name(void **state)
{
	struct fixture *fixture = *state;
	const struct policy_benchmark *benchmark;
	struct policy_case *cases;
	size_t count;
	load_own(fixture, "\tparam = n 1\n\tparam = m x y\n", &benchmark);
	assert_ok(policy_benchmark_cases(benchmark, &cases, &count, &fixture->err), &fixture->err);
	assert_int_equal(count, 2);
	assert_string_equal(cases[1].name, "m-y");
	assert_string_equal(cases[1].key, "n=1 m=y");
	policy_cases_free(cases, count);

	load_own(fixture, "\tparam = n 1\n\tparam = m x\n", &benchmark);
	assert_ok(policy_benchmark_cases(benchmark, &cases, &count, &fixture->err), &fixture->err);
	assert_int_equal(count, 1);
	assert_string_equal(cases[0].name, "default");
	assert_string_equal(cases[0].key, "n=1 m=x");
	policy_cases_free(cases, count);
}

static void test_patterns_keep_their_own_braces_when_filled(void **state)
{
	(void)state;
	char name[] = "default";
	char key[] = "n=12 nn=3";
	const struct policy_case cell = {.name = name, .key = key};
	struct error err = {0};
	auto_free char *text = NULL;
	assert_ok(
		policy_fill("^{n} {nn}:\\s+[0-9]{1,3}\\p{L}\\x{41} a{2} { {}$", &cell, &text, &err),
		&err);
	assert_string_equal(text, "^12 3:\\s+[0-9]{1,3}\\p{L}\\x{41} a{2} { {}$");
}

static void test_bad_parameters_are_refused(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		const char *lines;
		const char *word;
	} bad[] = {
		{"\tparam = n 1\n", "{m}"},
		{"\tparam = n 1\n\tparam = m 1\n[benchmark \"own-two\"]\n\tcommand = x\n\tpackage "
		 "= x\n"
		 "\tmetric = a/b\n\tpattern = x\n\tunit = s\n\tbetter = lower\n",
		 "metric"},
		{"\tparam = n 1\n\tparam = m 1\n\tparam = k 1\n", "{k}"},
		{"\tparam = n 1\n\tparam = m 1\n\trequire = {q} tasks\n", "{q}"},
		{"\tparam = n 1\n\tparam = n 2\n", "given before"},
		{"\tparam = n 1 1\n", "twice"},
		{"\tparam = n\n", "no value"},
		{"\tparam = n a/b\n", "letters, digits"},
		{"\tparam = n ;\n", "no value"},
		{"\tparam = {n} 1\n", "NAME VALUE"},
	};
	for (size_t i = 0; i < array_length(bad); i++) {
		auto_free char *text = text_format("%s%s", own_benchmark, bad[i].lines);
		assert_refused(fixture, text, "own", bad[i].word);
	}
}

static void test_a_matrix_of_too_many_cases_is_refused(void **state)
{
	struct fixture *fixture = *state;
	auto_text struct text text = {0};
	text_append(&text, own_benchmark);
	for (const char *name = "nm"; *name; name++) {
		text_printf(&text, "\tparam = %c", *name);
		for (int i = 0; i < 40; i++)
			text_printf(&text, " %d", i);
		text_append(&text, "\n");
	}
	assert_refused(fixture, text.data, "own", "more than 1000 cases");
}

static void test_the_example_loads_and_shows_every_key(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *example = policy_example();
	auto_free char *list = policy_key_list();
	write_text(fixture->path, example);
	load(fixture);
	for (size_t i = 0; i < policy_section_count; i++)
		for (size_t j = 0; j < policy_sections[i].key_count; j++) {
			const struct policy_key *key = &policy_sections[i].keys[j];
			auto_free char *in_example = text_format("%s = ", key->name);
			auto_free char *in_list =
				text_format("%s.%s ", policy_sections[i].name, key->name);
			assert_contains(example, in_example);
			assert_contains(list, in_list);
		}
}

/* With every comment sign taken away the optional parts must be right, too. */
static void test_the_example_loads_when_every_key_is_made_active(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *example = policy_example();
	auto_text struct text active = {0};
	char *rest;
	for (char *line = strtok_r(example, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *hash = line + strspn(line, "\t");
		bool is_section = text_starts_with(hash, "# [");
		size_t word = strspn(hash, "# abcdefghijklmnopqrstuvwxyz0123456789-");
		bool is_key = text_starts_with(hash, "# ") && line != hash &&
			      text_starts_with(hash + word, "= ") &&
			      strcspn(hash + 2, " ") == word - 3;
		if (is_section || is_key)
			hash[0] = ' ';
		text_printf(&active, "%s\n", line);
	}
	write_text(fixture->path, active.data);
	load(fixture);
	assert_string_equal(fixture->policy.mail.to.items[0],
			    "Performance watch <perf-watch@example.org>");
	const struct policy_benchmark *benchmark;
	assert_ok(
		policy_find_benchmark(&fixture->policy, "my-hackbench", &benchmark, &fixture->err),
		&fixture->err);
}

static void test_no_prefix_of_the_example_crashes_or_is_misreported(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *example = policy_example();
	size_t length = strlen(example);
	size_t loaded = 0;
	policy_file_begin();
	for (size_t i = 0; i <= length; i++) {
		struct policy policy = {0};
		fixture->err = (struct error){0};
		write_bytes(fixture->path, example, i);
		if (policy_load(fixture->path, SHIPPED_POLICIES, &policy, &fixture->err) == 0)
			loaded++;
		else if (fixture->err.kind != ERROR_USAGE)
			fail_msg("%zu bytes: %s", i, fixture->err.message);
		policy_free(&policy);
	}
	policy_file_end();
	assert_true(loaded > 0 && loaded < length);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_minimal_policy_loads_with_all_defaults),
		TEST(test_units_are_converted_and_a_missing_one_is_refused),
		TEST(test_unknown_names_are_refused_with_the_nearest_known_one),
		TEST(test_values_out_of_range_are_refused),
		TEST(test_a_prior_weighs_path_prefixes),
		TEST(test_missing_required_keys_are_named),
		TEST(test_a_key_of_one_value_cannot_be_set_twice_in_one_file),
		TEST(test_keys_of_many_values_accumulate_and_are_split_at_blanks),
		TEST(test_relative_names_start_at_the_files_folder),
		TEST(test_a_missing_file_points_to_init),
		TEST(test_a_half_written_file_is_refused),
		TEST(test_what_is_no_small_text_file_is_refused),
		TEST(test_an_included_file_is_a_base_to_override),
		TEST(test_the_git_settings_of_the_user_stay_out),
		TEST(test_night_refers_only_to_what_exists),
		TEST(test_mail_in_clear_stays_on_this_host),
		TEST(test_a_shipped_benchmark_is_overridden_key_by_key),
		TEST(test_the_shipped_catalogue_loads_in_sorted_order_and_is_whole),
		TEST(test_a_shipped_file_holds_only_its_own_benchmark),
		TEST(test_cases_are_the_product_with_the_last_parameter_fastest),
		TEST(test_a_parameter_with_one_value_stays_out_of_the_name),
		TEST(test_patterns_keep_their_own_braces_when_filled),
		TEST(test_bad_parameters_are_refused),
		TEST(test_a_matrix_of_too_many_cases_is_refused),
		TEST(test_the_example_loads_and_shows_every_key),
		TEST(test_the_example_loads_when_every_key_is_made_active),
		TEST(test_no_prefix_of_the_example_crashes_or_is_misreported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
