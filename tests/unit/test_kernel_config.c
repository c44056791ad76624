/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "builder/kernel_config.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

static void parse(const char *text, struct config_symbols *symbols)
{
	struct error err;
	assert_ok(config_symbols_parse(text, "test.config", symbols, &err), &err);
}

static void test_symbols_that_survived_are_no_error(void **state)
{
	(void)state;
	struct error err;
	auto_config_symbols struct config_symbols wanted = {0};
	auto_config_symbols struct config_symbols final = {0};
	parse("# a comment\n\nCONFIG_SMP=y\nCONFIG_NR_CPUS=8\n# CONFIG_VT is not "
	      "set\nCONFIG_BPF=n\n"
	      "CONFIG_CMDLINE=\"a b=c\"",
	      &wanted);
	parse("# Linux/x86 6.1.0 Kernel Configuration\nCONFIG_SMP=y\nCONFIG_NR_CPUS=8\n"
	      "# CONFIG_BPF is not set\nCONFIG_CMDLINE=\"a b=c\"\n",
	      &final);
	assert_int_equal(wanted.count, 5);
	assert_ok(config_symbols_check(&wanted, &final, &err), &err);
}

static void test_every_lost_symbol_is_named_with_both_values(void **state)
{
	(void)state;
	struct error err;
	auto_config_symbols struct config_symbols wanted = {0};
	auto_config_symbols struct config_symbols final = {0};
	parse("CONFIG_SMP=y\nCONFIG_GHOST=y\n# CONFIG_VT is not set\nCONFIG_CRC32=m\n", &wanted);
	parse("CONFIG_SMP=y\nCONFIG_VT=y\nCONFIG_CRC32=y\n", &final);
	assert_int_equal(config_symbols_check(&wanted, &final, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "3 configuration symbol(s)");
	assert_contains(err.message, "CONFIG_GHOST: asked y (test.config), got n (not there)");
	assert_contains(err.message, "CONFIG_VT: asked n (test.config), got y");
	assert_contains(err.message, "CONFIG_CRC32: asked m (test.config), got y");
	assert_null(strstr(err.message, "CONFIG_SMP"));
}

static void test_a_long_list_of_lost_symbols_says_how_many_more(void **state)
{
	(void)state;
	struct error err;
	auto_config_symbols struct config_symbols wanted = {0};
	auto_config_symbols struct config_symbols final = {0};
	auto_text struct text text = {0};
	for (int i = 0; i < 500; i++)
		text_printf(&text, "CONFIG_SYMBOL_%d=y\n", i);
	parse(text.data, &wanted);
	assert_int_equal(config_symbols_check(&wanted, &final, &err), -1);
	assert_contains(err.message, "500 configuration symbol(s)");
	assert_contains(err.message, " more");
}

static void test_a_later_fragment_overrides_an_earlier_one(void **state)
{
	(void)state;
	struct error err;
	auto_config_symbols struct config_symbols wanted = {0};
	auto_config_symbols struct config_symbols final = {0};
	parse("CONFIG_VT=y\n", &wanted);
	parse("# CONFIG_VT is not set\n", &wanted);
	assert_ok(config_symbols_check(&wanted, &final, &err), &err);
}

static void test_a_line_that_is_no_setting_is_refused(void **state)
{
	(void)state;
	static const char *const refused[] = {"CONFIG_SMP", "SMP=y", "CONFIG_A-B=y", "select X"};
	for (size_t i = 0; i < array_length(refused); i++) {
		struct error err;
		auto_config_symbols struct config_symbols symbols = {0};
		auto_free char *text = text_format("CONFIG_OK=y\n%s\n", refused[i]);
		assert_int_equal(config_symbols_parse(text, "my.config", &symbols, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_contains(err.message, "my.config, line 2");
		assert_contains(err.message, refused[i]);
	}
}

static void test_the_digest_sees_values_and_not_comments(void **state)
{
	(void)state;
	struct digest digests[3];
	static const char *const texts[] = {
		"# Linux/x86 6.1.0 Kernel Configuration\nCONFIG_A=y\nCONFIG_B=m\n",
		"# Linux/x86 6.1.1 Kernel Configuration\nCONFIG_B=m\n\nCONFIG_A=y\n",
		"CONFIG_A=y\nCONFIG_B=y\n",
	};
	for (size_t i = 0; i < array_length(texts); i++) {
		auto_config_symbols struct config_symbols symbols = {0};
		parse(texts[i], &symbols);
		config_symbols_digest(&symbols, &digests[i]);
	}
	assert_string_equal(digests[0].hex, digests[1].hex);
	assert_string_not_equal(digests[0].hex, digests[2].hex);
}

static void inputs_of(const char *base, const char *fragment, const char *module,
		      struct digest *ret_digest)
{
	struct error err;
	struct policy_tree policy = {.config = text_copy(base)};
	string_list_add(&policy.fragments, fragment);
	string_list_add(&policy.modules, module);
	assert_ok(kernel_config_inputs(&policy, ret_digest, &err), &err);
	free(policy.config);
	string_list_free(&policy.fragments);
	string_list_free(&policy.modules);
}

static void test_the_inputs_are_contents_and_not_names(void **state)
{
	(void)state;
	struct error err;
	struct digest first;
	struct digest other;
	char *scratch = make_scratch();
	auto_free char *one = text_format("%s/one.config", scratch);
	auto_free char *two = text_format("%s/two.config", scratch);
	assert_ok(file_write_durable(one, "CONFIG_A=y\n", 11, &err), &err);
	assert_ok(file_write_durable(two, "CONFIG_A=y\n", 11, &err), &err);
	inputs_of("tinyconfig", one, "crc32", &first);
	inputs_of("tinyconfig", two, "crc32", &other);
	assert_string_equal(first.hex, other.hex);
	inputs_of("tinyconfig", one, "crc16", &other);
	assert_string_not_equal(first.hex, other.hex);
	inputs_of("defconfig", one, "crc32", &other);
	assert_string_not_equal(first.hex, other.hex);
	assert_ok(file_write_durable(two, "CONFIG_A=m\n", 11, &err), &err);
	inputs_of("tinyconfig", two, "crc32", &other);
	assert_string_not_equal(first.hex, other.hex);
	file_remove_tree(scratch, NULL);
	free(scratch);
}

static void test_inputs_that_are_missing_or_no_name_are_refused(void **state)
{
	(void)state;
	static const char *const refused[] = {"", "-fconfig", "tiny config",
					      "/nonexistent/x.config"};
	for (size_t i = 0; i < array_length(refused); i++) {
		struct error err;
		struct digest digest;
		struct policy_tree policy = {.config = text_copy(refused[i])};
		assert_int_equal(kernel_config_inputs(&policy, &digest, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		free(policy.config);
	}
}

static void test_files_that_kconfig_reads_are_known(void **state)
{
	(void)state;
	static const char *const read[] = {"Kconfig",
					   "lib/Kconfig.debug",
					   "arch/x86/Makefile",
					   "scripts/gcc-version.sh",
					   "arch/x86/configs/tiny.config",
					   "arch/x86/configs/x86_64_defconfig"};
	static const char *const not_read[] = {"kernel/fork.c", "Documentation/kbuild/kconfig.rst",
					       "include/linux/kconfig.h"};
	for (size_t i = 0; i < array_length(read); i++)
		assert_true(kernel_config_reads(read[i]));
	for (size_t i = 0; i < array_length(not_read); i++)
		assert_false(kernel_config_reads(not_read[i]));
}

static void assert_reason(const char *log, const char *expected, bool expected_host_fault)
{
	bool host_fault = !expected_host_fault;
	auto_free char *reason = kbuild_reason(log, "/state/source", &host_fault);
	assert_string_equal(reason, expected);
	assert_int_equal(host_fault, expected_host_fault);
}

static void test_the_first_telling_line_of_a_log_is_the_reason(void **state)
{
	(void)state;
	assert_reason("  CC  a.o\nmake[2]: *** [a.o] Error 1\n"
		      "/state/source/ipc/msg.c:2:1: error: 'x' undeclared\n    2 | x;\n"
		      "make: *** [sub-make] Error 2\n",
		      "ipc/msg.c:2:1: error: 'x' undeclared", false);
	assert_reason("../source/a.c:1:1: error: bad\n", "a.c:1:1: error: bad", false);
	assert_reason("ld: a.o: in function `f':\na.c:(.text+0x1): undefined reference to `g'\n",
		      "a.c:(.text+0x1): undefined reference to `g'", false);
	assert_reason("make[1]: *** No rule to make target 'x'.  Stop.\n",
		      "make[1]: *** No rule to make target 'x'.  Stop.", false);
	assert_reason("a.c:1: error: \x1b[31mred\xff\n", "a.c:1: error:  [31mred\xef\xbf\xbd",
		      false);
	assert_reason("", "make failed and gave no reason", false);
}

static void test_a_log_that_blames_the_host_does_not_blame_the_kernel(void **state)
{
	(void)state;
	assert_reason("a.c:1: error: x\n/tmp/cc.s: fatal error: error writing to /tmp/cc.s: "
		      "No space left on device\n",
		      "/tmp/cc.s: fatal error: error writing to /tmp/cc.s: No space left on device",
		      true);
	assert_reason("gcc: fatal error: Killed signal terminated program cc1\n",
		      "gcc: fatal error: Killed signal terminated program cc1", true);
	assert_reason("make[2]: *** [scripts/Makefile.build:250: a.o] Killed\n",
		      "make[2]: *** [scripts/Makefile.build:250: a.o] Killed", true);
	/* Source text that gcc quotes is the commit's, and a commit may write what it likes. */
	assert_reason(
		"a.c:5:2: error: expected ';'\n    5 |  pr_err(\"No space left on device\")\n",
		"a.c:5:2: error: expected ';'", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_that_survived_are_no_error),
		cmocka_unit_test(test_every_lost_symbol_is_named_with_both_values),
		cmocka_unit_test(test_a_long_list_of_lost_symbols_says_how_many_more),
		cmocka_unit_test(test_a_later_fragment_overrides_an_earlier_one),
		cmocka_unit_test(test_a_line_that_is_no_setting_is_refused),
		cmocka_unit_test(test_the_digest_sees_values_and_not_comments),
		cmocka_unit_test(test_the_inputs_are_contents_and_not_names),
		cmocka_unit_test(test_inputs_that_are_missing_or_no_name_are_refused),
		cmocka_unit_test(test_files_that_kconfig_reads_are_known),
		cmocka_unit_test(test_the_first_telling_line_of_a_log_is_the_reason),
		cmocka_unit_test(test_a_log_that_blames_the_host_does_not_blame_the_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
