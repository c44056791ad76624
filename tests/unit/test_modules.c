/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <archive.h>
#include <archive_entry.h>

#include "builder/modules.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define RELEASE "6.1.0-test"

/*
 * Modules as the compiler makes them: "upper" calls "helper", which "lower" exports, and asks for
 * "extra" softly; "solid" is built in.
 */
struct fixture {
	char *scratch;
	char *cpio;
	char *depmod;
};

static void run(const char *const *argv)
{
	struct error err;
	struct process_command command = {.argv = argv, .capture_limit_bytes = 10000};
	auto_process_result struct process_result result = {0};
	assert_ok(process_run(&command, &result, &err), &err);
	if (!process_succeeded(&result))
		fail_msg("%s: %s", argv[0], result.stderr_bytes);
}

static void make_module(const struct fixture *fixture, const char *name, const char *information,
			const char *code)
{
	struct error err;
	auto_free char *folder = text_format("%s/lib/modules/%s/kernel", fixture->scratch, RELEASE);
	auto_free char *source = text_format("%s/%s.c", fixture->scratch, name);
	auto_free char *object = text_format("%s/%s.ko", folder, name);
	auto_free char *text = text_format(
		"__attribute__((section(\".modinfo\"), used)) static const char information[] =\n"
		"\"name=%s\\0license=GPL\\0%s\";\n%s\n",
		name, information, code);
	assert_ok(file_make_folders(folder, &err), &err);
	assert_ok(file_write_durable(source, text, strlen(text), &err), &err);
	run((const char *const[]){"gcc", "-c", "-o", object, source, NULL});
}

static void put_list(const struct fixture *fixture, const char *name, const char *content)
{
	struct error err;
	auto_free char *path = text_format("%s/lib/modules/%s/%s", fixture->scratch, RELEASE, name);
	assert_ok(file_write_durable(path, content, strlen(content), &err), &err);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;
	fixture->scratch = make_scratch();
	fixture->cpio = text_format("%s/modules.cpio", fixture->scratch);
	assert_ok(process_find_program("depmod", "kmod", &fixture->depmod, &err), &err);
	make_module(fixture, "lower", "depends=\\0vermagic=" RELEASE " SMP ",
		    "int helper(void) { return 1; }\n"
		    "__attribute__((section(\"__ksymtab_strings\"), used))\n"
		    "static const char exported[] = \"helper\";");
	make_module(fixture, "upper",
		    "depends=lower\\0softdep=pre: extra\\0vermagic=" RELEASE " SMP ",
		    "int helper(void);\nint use(void) { return helper(); }");
	make_module(fixture, "extra", "depends=\\0vermagic=" RELEASE " SMP ", "");
	make_module(fixture, "stranger", "depends=\\0vermagic=" RELEASE "-other SMP ", "");
	put_list(fixture, "modules.builtin", "kernel/lib/solid.ko\n");
	put_list(fixture, "modules.builtin.modinfo", "");
	put_list(fixture, "modules.order", "kernel/lower.ko\nkernel/upper.ko\nkernel/extra.ko\n");
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	file_remove_tree(fixture->scratch, NULL);
	free(fixture->scratch);
	free(fixture->cpio);
	free(fixture->depmod);
	free(fixture);
	return 0;
}

static int pack(const struct fixture *fixture, const char *const *names, bool *ret_written,
		struct error *err)
{
	struct string_list wanted = {0};
	for (size_t i = 0; names[i]; i++)
		string_list_add(&wanted, names[i]);
	int status = modules_pack(fixture->scratch, RELEASE, &wanted, fixture->depmod,
				  fixture->cpio, ret_written, err);
	string_list_free(&wanted);
	return status;
}

/* The names of all entries, one a line, and the content of the load list. */
static void read_part(const char *path, struct text *names, char list[4096])
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	archive_read_support_format_cpio(archive);
	assert_int_equal(archive_read_open_filename(archive, path, 10240), ARCHIVE_OK);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		text_printf(names, "%s\n", archive_entry_pathname(entry));
		if (!strcmp(archive_entry_pathname(entry), MODULES_LOAD_LIST)) {
			la_ssize_t got = archive_read_data(archive, list, 4095);
			assert_true(got > 0);
			list[got] = '\0';
		}
	}
	archive_read_free(archive);
}

static void test_dependencies_come_first_and_built_in_ones_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	bool written = false;
	char list[4096] = "";
	auto_text struct text names = {0};
	const char *const wanted[] = {"solid", "upper", "lower", NULL};
	assert_ok(pack(fixture, wanted, &written, &err), &err);
	assert_true(written);
	read_part(fixture->cpio, &names, list);
	assert_string_equal(list, "/lib/modules/" RELEASE "/kernel/lower.ko\n"
				  "/lib/modules/" RELEASE "/kernel/extra.ko\n"
				  "/lib/modules/" RELEASE "/kernel/upper.ko\n");
	assert_contains(names.data, "lib/modules/" RELEASE "/kernel/upper.ko\n");
	assert_null(strstr(names.data, "stranger"));
}

static void test_nothing_to_load_makes_no_part(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	bool written = true;
	const char *const built_in[] = {"solid", NULL};
	const char *const none[] = {NULL};
	assert_ok(pack(fixture, built_in, &written, &err), &err);
	assert_false(written);
	written = true;
	assert_ok(pack(fixture, none, &written, &err), &err);
	assert_false(written);
	assert_false(file_exists(fixture->cpio));
}

static void test_a_module_that_does_not_exist_is_named(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	bool written;
	const char *const wanted[] = {"upper", "ghost", NULL};
	assert_int_equal(pack(fixture, wanted, &written, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "ghost");
	assert_contains(err.message, RELEASE);
	assert_false(file_exists(fixture->cpio));
}

static void test_a_module_of_another_kernel_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	bool written;
	const char *const wanted[] = {"stranger", NULL};
	assert_int_equal(pack(fixture, wanted, &written, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_contains(err.message, "stranger.ko");
}

static void test_a_dependency_that_is_missing_is_named(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	bool written;
	const char *const wanted[] = {"lonely", NULL};
	make_module(fixture, "lonely", "depends=absent\\0vermagic=" RELEASE " SMP ", "");
	assert_int_equal(pack(fixture, wanted, &written, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_contains(err.message, "lonely needs absent");
}

int main(void)
{
#define modules_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		modules_test(test_dependencies_come_first_and_built_in_ones_are_left_out),
		modules_test(test_nothing_to_load_makes_no_part),
		modules_test(test_a_module_that_does_not_exist_is_named),
		modules_test(test_a_module_of_another_kernel_is_refused),
		modules_test(test_a_dependency_that_is_missing_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
