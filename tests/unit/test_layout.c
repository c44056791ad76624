/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "builder/layout.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

static const char source[] =
	"int g(int);\n"
	"int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += g(i); return s; }\n"
	"int pick(int n) { if (n > 3) return g(n) + 1; while (g(n)) n += sum(n); return n; }\n"
	"int both(int n) { return n & 1 ? sum(n) : pick(n) + sum(n); }\n";

/* The machine code as text, compiled as the kernel is, then with the layout's options. */
static char *compile(const char *folder, const char *flags)
{
	struct error err;
	auto_free char *copy = text_copy(flags);
	const char *argv[20] = {"gcc", "-O2", "-falign-jumps=1", "-falign-loops=1", "-Werror"};
	size_t count = 5;
	char *rest;
	for (char *flag = strtok_r(copy, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest))
		argv[count++] = flag;
	argv[count++] = "-S";
	argv[count++] = "-o";
	argv[count++] = "-";
	argv[count++] = "x.c";
	struct process_command command = {
		.argv = argv, .folder = folder, .capture_limit_bytes = 100000};
	auto_process_result struct process_result result = {0};
	assert_ok(process_run(&command, &result, &err), &err);
	if (!process_succeeded(&result))
		fail_msg("gcc %s: %s", flags, result.stderr_bytes);
	return text_copy(result.stdout_bytes);
}

static void test_the_compiler_places_the_same_code_otherwise_in_every_layout(void **state)
{
	(void)state;
	struct error err;
	auto_free char *folder = make_scratch();
	auto_free char *path = text_format("%s/x.c", folder);
	char *code[LAYOUT_COUNT];
	assert_ok(file_write_durable(path, source, strlen(source), &err), &err);
	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		const char *flags;
		assert_ok(layout_flags(i, &flags, &err), &err);
		code[i] = compile(folder, flags);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(code[i], code[j]);
	}
	for (size_t i = 0; i < LAYOUT_COUNT; i++)
		free(code[i]);
	assert_int_equal(file_remove_tree(folder, &err), 0);
}

static void test_the_plain_layout_has_no_options_and_there_are_so_many_only(void **state)
{
	(void)state;
	struct error err;
	const char *flags;
	assert_ok(layout_flags(0, &flags, &err), &err);
	assert_string_equal(flags, "");
	assert_int_equal(layout_flags(LAYOUT_COUNT, &flags, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_compiler_places_the_same_code_otherwise_in_every_layout),
		cmocka_unit_test(test_the_plain_layout_has_no_options_and_there_are_so_many_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
