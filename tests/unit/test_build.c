/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"
#include "tests/support/libgit2_leak.h"

#include <unistd.h>

#include "builder/build.h"
#include "builder/layout.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

/*
 * A tree that answers the kernel's make targets in a tenth of a second. Its "image" is a setup
 * header and kernel.c; MODE in mode.mk chooses how a build ends. Everything around it is real: git,
 * make, depmod and the store.
 */
static const char fake_makefile[] =
	"include mode.mk\n"
	"tinyconfig:\n"
	"\techo configured >> $(O)/../count\n"
	"\techo CONFIG_BASE=y > $(O)/.config\n"
	"olddefconfig:\n"
	"\tsed -i '/CONFIG_GHOST/d' $(O)/.config\n"
	"bzImage: $(MODE)\n"
	"\tmkdir -p $(O)/arch/x86/boot\n"
	"\t(head -c 514 /dev/zero; printf HdrS; head -c 8 /dev/zero; printf '\\020\\000'; \\\n"
	"\t printf '6.1.0-fake (a@b) #1 SMP\\0'; cat kernel.c) > $(O)/arch/x86/boot/bzImage\n"
	"\techo map > $(O)/System.map\n"
	"\techo kernel/lib/solid.ko > $(O)/modules.builtin\n"
	"good:\n"
	"broken:\n"
	"\t@echo \"$(CURDIR)/kernel.c:7:1: error: expected ';'\"; false\n"
	"full:\n"
	"\t@echo 'cc1: error: No space left on device'; false\n"
	"slow:\n"
	"\techo half > $(O)/half.o; sleep 30\n";

static const char fake_merge[] = "shift; base=$1; shift; cat \"$@\" >> $base\n";

struct fixture {
	char *scratch;
	char *origin;
	char *folder;
	char *count;
	char *fragment;
	struct policy_tree policy;
	struct source_tree *source;
	struct artifact_store *store;
};

static void git(const struct fixture *fixture, const char *const *argv)
{
	static const char *const environment[] = {
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada",
		"GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.org",
		NULL,
	};
	struct error err;
	struct process_command command = {.argv = argv,
					  .environment = environment,
					  .folder = fixture->origin,
					  .capture_limit_bytes = 10000};
	auto_process_result struct process_result result = {0};
	assert_ok(process_run(&command, &result, &err), &err);
	if (!process_succeeded(&result))
		fail_msg("git %s: %s", argv[1], result.stderr_bytes);
}

static void put(const struct fixture *fixture, const char *name, const char *content)
{
	struct error err;
	auto_free char *path = text_format("%s/%s", fixture->origin, name);
	auto_free char *parent = text_copy(path);
	*strrchr(parent, '/') = '\0';
	assert_ok(file_make_folders(parent, &err), &err);
	assert_ok(file_write_durable(path, content, strlen(content), &err), &err);
}

static void commit(const struct fixture *fixture)
{
	git(fixture, (const char *const[]){"git", "add", "-A", NULL});
	git(fixture, (const char *const[]){"git", "commit", "-q", "-m", "change", NULL});
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;
	fixture->scratch = make_scratch();
	fixture->origin = text_format("%s/origin", fixture->scratch);
	fixture->folder = text_format("%s/tree", fixture->scratch);
	fixture->count = text_format("%s/objects/count", fixture->folder);
	fixture->fragment = text_format("%s/my.config", fixture->scratch);
	auto_free char *artifacts = text_format("%s/artifacts", fixture->scratch);
	assert_ok(file_make_folders(fixture->origin, &err), &err);
	git(fixture, (const char *const[]){"git", "init", "-q", "-b", "main", ".", NULL});
	put(fixture, "Makefile", fake_makefile);
	put(fixture, "scripts/kconfig/merge_config.sh", fake_merge);
	put(fixture, "mode.mk", "MODE = good\n");
	put(fixture, "kernel.c", "one\n");
	commit(fixture);
	assert_ok(file_write_durable(fixture->fragment, "CONFIG_EXTRA=y\n", 15, &err), &err);
	fixture->policy = (struct policy_tree){.name = text_copy("fake"),
					       .url = text_copy(fixture->origin),
					       .branch = text_copy("main"),
					       .config = text_copy("tinyconfig"),
					       .build_timeout_seconds = 60,
					       .jobs = 1};
	string_list_add(&fixture->policy.fragments, fixture->fragment);
	assert_ok(source_tree_open(&fixture->policy, fixture->folder, &fixture->source, &err),
		  &err);
	assert_ok(artifact_store_open(artifacts, &fixture->store, &err), &err);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	source_tree_close(&fixture->source);
	artifact_store_close(&fixture->store);
	file_remove_tree(fixture->scratch, NULL);
	free(fixture->scratch);
	free(fixture->origin);
	free(fixture->folder);
	free(fixture->count);
	free(fixture->fragment);
	free(fixture->policy.name);
	free(fixture->policy.url);
	free(fixture->policy.branch);
	free(fixture->policy.config);
	string_list_free(&fixture->policy.fragments);
	string_list_free(&fixture->policy.modules);
	free(fixture);
	return 0;
}

/* Builds the head of the origin. */
static int build_layout(struct fixture *fixture, size_t layout, struct build_result *result,
			struct error *err)
{
	char id[OBJECT_ID_SIZE];
	auto_commit_info struct commit_info info = {0};
	assert_ok(source_tree_fetch(fixture->source, err), err);
	assert_ok(source_tree_resolve(fixture->source, "main", id, err), err);
	assert_ok(source_tree_commit_info(fixture->source, id, &info, err), err);
	return build_kernel(fixture->source, &fixture->policy, info.tree, layout, fixture->folder,
			    fixture->store, result, err);
}

static int build(struct fixture *fixture, struct build_result *result, struct error *err)
{
	return build_layout(fixture, 0, result, err);
}

static void test_a_tree_is_built_once_and_then_reused(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result first = {0};
	auto_build_result struct build_result second = {0};
	assert_ok(build(fixture, &first, &err), &err);
	assert_int_equal(first.state, BUILD_OK);
	assert_false(first.reused);
	assert_string_equal(first.artifact.release, "6.1.0-fake");
	assert_string_equal(first.artifact.version, "#1 SMP");
	assert_null(first.artifact.modules_cpio_path);
	assert_true(file_exists(first.artifact.image_path));
	assert_true(file_exists(first.log_path));
	assert_ok(build(fixture, &second, &err), &err);
	assert_true(second.reused);
	assert_string_equal(second.artifact.key, first.artifact.key);
}

static void test_commits_that_change_nothing_give_equal_images(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result first = {0};
	auto_build_result struct build_result second = {0};
	auto_build_result struct build_result third = {0};
	assert_ok(build(fixture, &first, &err), &err);
	put(fixture, "Documentation/guide.rst", "words\n");
	commit(fixture);
	assert_ok(build(fixture, &second, &err), &err);
	assert_false(second.reused);
	assert_string_not_equal(first.artifact.key, second.artifact.key);
	assert_string_equal(first.artifact.image_digest, second.artifact.image_digest);
	put(fixture, "kernel.c", "two\n");
	commit(fixture);
	assert_ok(build(fixture, &third, &err), &err);
	assert_string_not_equal(first.artifact.image_digest, third.artifact.image_digest);
}

static void assert_log_has(const struct build_result *result, const char *words)
{
	struct error err;
	auto_free char *log = NULL;
	assert_ok(file_read(result->log_path, 100000, &log, NULL, &err), &err);
	assert_contains(log, words);
}

static void test_a_layout_is_another_artifact_made_with_other_options(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	char key[DIGEST_SIZE];
	auto_build_result struct build_result plain = {0};
	auto_build_result struct build_result other = {0};
	auto_build_result struct build_result again = {0};
	auto_free char *objects = text_format("%s/objects-layout-1", fixture->folder);
	assert_ok(build(fixture, &plain, &err), &err);
	assert_false(file_exists(objects));
	assert_log_has(&plain, " KCFLAGS= ");
	assert_ok(build_layout(fixture, 1, &other, &err), &err);
	assert_true(file_exists(objects));
	assert_false(other.reused);
	assert_string_not_equal(plain.artifact.key, other.artifact.key);
	assert_log_has(&other, " KCFLAGS=-falign-functions=32 ");
	assert_ok(build(fixture, &again, &err), &err);
	assert_true(again.reused);
	assert_string_equal(again.artifact.key, plain.artifact.key);
	assert_int_equal(build_key(&fixture->policy, "x", LAYOUT_COUNT, key, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
}

static void test_the_plain_key_is_found_without_building(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	struct digest recipe;
	char key[DIGEST_SIZE];
	char plain[DIGEST_SIZE];
	char perturbed[LAYOUT_COUNT][DIGEST_SIZE];
	assert_ok(build_recipe(&fixture->policy, &recipe, &err), &err);
	build_plain_key(&recipe, "some tree", plain);
	assert_ok(build_key(&fixture->policy, "some tree", 0, key, &err), &err);
	assert_string_equal(key, plain);
	assert_false(artifact_store_has(fixture->store, key));
	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		assert_ok(build_key(&fixture->policy, "some tree", i, perturbed[i], &err), &err);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(perturbed[i], perturbed[j]);
	}
	auto_build_result struct build_result result = {0};
	assert_ok(build(fixture, &result, &err), &err);
	assert_true(artifact_store_has(fixture->store, result.artifact.key));
}

static size_t configurations(const struct fixture *fixture)
{
	struct error err;
	auto_free char *text = NULL;
	size_t count = 0;
	assert_ok(file_read(fixture->count, 1000, &text, NULL, &err), &err);
	for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n'))
		count++;
	return count;
}

static void test_the_configuration_is_made_again_only_when_it_could_change(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	struct build_result results[4] = {{0}};
	assert_ok(build(fixture, &results[0], &err), &err);
	put(fixture, "kernel.c", "two\n");
	commit(fixture);
	assert_ok(build(fixture, &results[1], &err), &err);
	assert_int_equal(configurations(fixture), 1);
	put(fixture, "lib/Kconfig.debug", "config NEW\n");
	commit(fixture);
	assert_ok(build(fixture, &results[2], &err), &err);
	assert_int_equal(configurations(fixture), 2);
	assert_ok(file_write_durable(fixture->fragment, "CONFIG_EXTRA=m\n", 15, &err), &err);
	assert_ok(build(fixture, &results[3], &err), &err);
	assert_false(results[3].reused);
	assert_int_equal(configurations(fixture), 3);
	assert_string_not_equal(results[2].artifact.config_digest,
				results[3].artifact.config_digest);
	for (size_t i = 0; i < array_length(results); i++)
		build_result_free(&results[i]);
}

static void test_a_kernel_that_does_not_compile_is_a_result(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result result = {0};
	put(fixture, "mode.mk", "MODE = broken\n");
	commit(fixture);
	assert_ok(build(fixture, &result, &err), &err);
	assert_int_equal(result.state, BUILD_FAILED);
	assert_string_equal(result.reason, "kernel.c:7:1: error: expected ';'");
	assert_true(file_exists(result.log_path));
}

static void test_a_full_disk_is_not_the_kernels_fault(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result result = {0};
	put(fixture, "mode.mk", "MODE = full\n");
	commit(fixture);
	assert_int_equal(build(fixture, &result, &err), -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
	assert_contains(err.message, "No space left on device");
}

static void test_a_build_without_end_fails_and_leaves_no_half_object(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result slow = {0};
	auto_build_result struct build_result good = {0};
	auto_free char *half = text_format("%s/objects/half.o", fixture->folder);
	put(fixture, "mode.mk", "MODE = slow\n");
	commit(fixture);
	fixture->policy.build_timeout_seconds = 1;
	assert_ok(build(fixture, &slow, &err), &err);
	assert_int_equal(slow.state, BUILD_FAILED);
	assert_contains(slow.reason, "no end within 1 s");
	assert_true(file_exists(half));
	put(fixture, "mode.mk", "MODE = good\n");
	commit(fixture);
	fixture->policy.build_timeout_seconds = 60;
	assert_ok(build(fixture, &good, &err), &err);
	assert_int_equal(good.state, BUILD_OK);
	assert_false(file_exists(half));
}

static void test_a_symbol_that_did_not_survive_stops_the_build(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result result = {0};
	assert_ok(file_write_durable(fixture->fragment, "CONFIG_GHOST=y\n", 15, &err), &err);
	assert_int_equal(build(fixture, &result, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "CONFIG_GHOST: asked y (my.config)");
}

static void test_a_configuration_that_no_tree_knows_is_the_operators_mistake(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result result = {0};
	free(fixture->policy.config);
	fixture->policy.config = text_copy("tinnyconfig");
	assert_int_equal(build(fixture, &result, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "tinnyconfig");
}

static void test_a_wanted_module_may_be_built_in_but_must_exist(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result solid = {0};
	auto_build_result struct build_result ghost = {0};
	string_list_add(&fixture->policy.modules, "solid");
	assert_ok(build(fixture, &solid, &err), &err);
	assert_int_equal(solid.state, BUILD_OK);
	string_list_add(&fixture->policy.modules, "ghost");
	assert_int_equal(build(fixture, &ghost, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "ghost");
}

static void test_a_missing_compiler_names_its_package(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result result = {0};
	auto_free char *path = text_copy(getenv("PATH"));
	setenv("PATH", fixture->scratch, 1);
	int status = build_kernel(fixture->source, &fixture->policy, "", 0, fixture->folder,
				  fixture->store, &result, &err);
	setenv("PATH", path, 1);
	assert_int_equal(status, -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
	assert_contains(err.message, "apt-get install gcc");
}

static void test_a_folder_that_kbuild_cannot_use_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_build_result struct build_result result = {0};
	auto_free char *folder = text_format("%s/with space", fixture->scratch);
	assert_int_equal(build_kernel(fixture->source, &fixture->policy, "", 0, folder,
				      fixture->store, &result, &err),
			 -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "with space");
}

int main(void)
{
#define build_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		build_test(test_a_tree_is_built_once_and_then_reused),
		build_test(test_commits_that_change_nothing_give_equal_images),
		build_test(test_a_layout_is_another_artifact_made_with_other_options),
		build_test(test_the_plain_key_is_found_without_building),
		build_test(test_the_configuration_is_made_again_only_when_it_could_change),
		build_test(test_a_kernel_that_does_not_compile_is_a_result),
		build_test(test_a_full_disk_is_not_the_kernels_fault),
		build_test(test_a_build_without_end_fails_and_leaves_no_half_object),
		build_test(test_a_symbol_that_did_not_survive_stops_the_build),
		build_test(test_a_configuration_that_no_tree_knows_is_the_operators_mistake),
		build_test(test_a_wanted_module_may_be_built_in_but_must_exist),
		build_test(test_a_missing_compiler_names_its_package),
		build_test(test_a_folder_that_kbuild_cannot_use_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
