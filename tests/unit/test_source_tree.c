/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"
#include "tests/support/libgit2_leak.h"

#include <sys/stat.h>
#include <unistd.h>

#include "builder/source_tree.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

/*
 * A real repository, made by the git program: main is A - B(Documentation only) - M - E, where M
 * merges the side branch C - D that starts at A. "other" has a history of its own.
 */
struct fixture {
	char *scratch;
	char *origin;
	char *state;
	struct policy_tree policy;
	struct source_tree *tree;
	char ids[16][OBJECT_ID_SIZE];
};

static void git(const struct fixture *fixture, const char *line)
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
	const char *words[24] = {"git"};
	auto_free char *copy = text_copy(line);
	size_t count = 1;
	for (char *word = strtok(copy, " "); word && count < 23; word = strtok(NULL, " "))
		words[count++] = word;
	struct process_command command = {.argv = words,
					  .environment = environment,
					  .folder = fixture->origin,
					  .capture_limit_bytes = 10000};
	auto_process_result struct process_result result = {0};
	struct error err;
	assert_ok(process_run(&command, &result, &err), &err);
	if (!process_succeeded(&result))
		fail_msg("git %s: %s", line, result.stderr_bytes);
}

static void put(const struct fixture *fixture, const char *name, const char *content)
{
	auto_free char *path = text_format("%s/%s", fixture->origin, name);
	auto_free char *folder = text_copy(path);
	struct error err;
	*strrchr(folder, '/') = '\0';
	assert_ok(file_make_folders(folder, &err), &err);
	assert_ok(file_write_durable(path, content, strlen(content), &err), &err);
}

static void commit(const struct fixture *fixture, const char *subject)
{
	auto_free char *line = text_format("commit -q --allow-empty -m %s", subject);
	git(fixture, "add -A");
	git(fixture, line);
}

static void make_history(const struct fixture *fixture)
{
	git(fixture, "init -q -b main .");
	put(fixture, "Makefile", "all:\n");
	put(fixture, "kernel/fork.c", "one\n");
	put(fixture, "arch/arm/head.c", "one\n");
	put(fixture, "shape", "a file\n");
	commit(fixture, "A");
	git(fixture, "tag A");
	put(fixture, "Documentation/guide.rst", "words\n");
	commit(fixture, "B");
	git(fixture, "tag B");
	git(fixture, "checkout -q -b side A");
	put(fixture, "kernel/fork.c", "two\n");
	commit(fixture, "C");
	git(fixture, "tag C");
	put(fixture, "arch/arm/head.c", "two\n");
	commit(fixture, "D");
	git(fixture, "tag D");
	git(fixture, "checkout -q main");
	git(fixture, "merge -q --no-ff -m M side");
	git(fixture, "tag M");
	git(fixture, "rm -q shape");
	put(fixture, "shape/inner", "now a folder\n");
	commit(fixture, "E");
	git(fixture, "tag E");
	git(fixture, "checkout -q --orphan other");
	commit(fixture, "alien");
	git(fixture, "checkout -q main");
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;
	fixture->scratch = make_scratch();
	fixture->origin = text_format("%s/origin", fixture->scratch);
	fixture->state = text_format("%s/state", fixture->scratch);
	assert_ok(file_make_folders(fixture->origin, &err), &err);
	make_history(fixture);
	fixture->policy.name = text_copy("demo");
	fixture->policy.url = text_copy(fixture->origin);
	fixture->policy.branch = text_copy("main");
	string_list_add(&fixture->policy.irrelevant, "Documentation/");
	string_list_add(&fixture->policy.irrelevant, "arch/arm/");
	assert_ok(source_tree_open(&fixture->policy, fixture->state, &fixture->tree, &err), &err);
	assert_ok(source_tree_fetch(fixture->tree, &err), &err);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	source_tree_close(&fixture->tree);
	file_remove_tree(fixture->scratch, NULL);
	free(fixture->policy.name);
	free(fixture->policy.url);
	free(fixture->policy.branch);
	string_list_free(&fixture->policy.irrelevant);
	free(fixture->scratch);
	free(fixture->origin);
	free(fixture->state);
	free(fixture);
	return 0;
}

static const char *id_of(struct fixture *fixture, const char *revision)
{
	static char ids[8][OBJECT_ID_SIZE];
	static unsigned int next;
	struct error err;
	char *id = ids[next++ % 8];
	assert_ok(source_tree_resolve(fixture->tree, revision, id, &err), &err);
	return id;
}

static const char *tree_of(struct fixture *fixture, const char *revision)
{
	static char ids[8][OBJECT_ID_SIZE];
	static unsigned int next;
	struct error err;
	auto_commit_info struct commit_info info = {0};
	assert_ok(source_tree_commit_info(fixture->tree, id_of(fixture, revision), &info, &err),
		  &err);
	return memcpy(ids[next++ % 8], info.tree, OBJECT_ID_SIZE);
}

static const char *check_out(struct fixture *fixture, const char *revision)
{
	struct error err;
	const char *path = NULL;
	assert_ok(source_tree_checkout(fixture->tree, tree_of(fixture, revision), &path, &err),
		  &err);
	return path;
}

static void assert_content(const char *folder, const char *name, const char *expected)
{
	auto_free char *path = text_format("%s/%s", folder, name);
	auto_free char *content = NULL;
	struct error err;
	if (!expected) {
		assert_false(file_exists(path));
		return;
	}
	assert_ok(file_read(path, 1000, &content, NULL, &err), &err);
	assert_string_equal(content, expected);
}

static struct timespec mtime_of(const char *folder, const char *name)
{
	auto_free char *path = text_format("%s/%s", folder, name);
	struct stat status;
	assert_int_equal(lstat(path, &status), 0);
	return status.st_mtim;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* As if the process had died: the handle goes, the files stay. */
static void reopen(struct fixture *fixture)
{
	struct error err;
	source_tree_close(&fixture->tree);
	assert_ok(source_tree_open(&fixture->policy, fixture->state, &fixture->tree, &err), &err);
}

static void test_revisions_are_resolved_as_git_writes_them(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	char id[OBJECT_ID_SIZE];
	assert_string_equal(id_of(fixture, "main"), id_of(fixture, "E"));
	assert_string_equal(id_of(fixture, "HEAD~1"), id_of(fixture, "M"));
	assert_string_equal(id_of(fixture, "M^2"), id_of(fixture, "D"));
	auto_free char *abbreviated = text_format("%.10s", id_of(fixture, "D"));
	assert_string_equal(id_of(fixture, abbreviated), id_of(fixture, "D"));

	assert_int_equal(source_tree_resolve(fixture->tree, "maim~3", id, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "maim~3");
	assert_contains(err.message, "\"main\"");
	static const char *const refused[] = {"", "--all", ":/A", "HEAD^{/A}", "main:Makefile"};
	for (size_t i = 0; i < array_length(refused); i++) {
		assert_int_equal(source_tree_resolve(fixture->tree, refused[i], id, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
	}
}

static void test_a_fetch_follows_new_commits_and_removed_branches(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	char id[OBJECT_ID_SIZE];
	put(fixture, "kernel/fork.c", "three\n");
	commit(fixture, "F");
	git(fixture, "branch -q -D side");
	git(fixture, "branch -q side/deeper");
	assert_ok(source_tree_fetch(fixture->tree, &err), &err);
	auto_commit_info struct commit_info info = {0};
	assert_ok(source_tree_commit_info(fixture->tree, id_of(fixture, "main"), &info, &err),
		  &err);
	assert_string_equal(info.subject, "F");
	assert_string_equal(info.author_email, "ada@example.org");
	assert_int_equal(info.author_seconds, 1700000000);
	assert_int_equal(source_tree_resolve(fixture->tree, "side", id, &err), -1);
	assert_string_equal(id_of(fixture, "side/deeper"), id_of(fixture, "main"));
}

static void test_a_range_keeps_the_shape_of_the_history(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_commit_range struct commit_range range = {0};
	assert_ok(source_tree_range(fixture->tree, id_of(fixture, "A"), id_of(fixture, "E"), &range,
				    &err),
		  &err);
	assert_int_equal(range.count, 6);
	assert_string_equal(range.ids[0], id_of(fixture, "A"));
	assert_string_equal(range.ids[5], id_of(fixture, "E"));
	assert_string_equal(range.ids[4], id_of(fixture, "M"));
	assert_int_equal(range.parent_counts[0], 0);
	assert_int_equal(range.parent_counts[4], 2);
	for (size_t i = 1; i < range.count; i++)
		for (size_t j = 0; j < range.parent_counts[i]; j++)
			assert_true(range.parents[i][j] < i);
	assert_string_equal(range.trees[5], tree_of(fixture, "E"));
}

static void test_commits_that_touch_only_irrelevant_paths_are_told_apart(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	/* M differs from D only by B's Documentation, so it cannot matter more than its parents. */
	static const struct {
		const char *name;
		bool relevant;
	} expected[] = {{"B", false}, {"C", true}, {"D", false}, {"M", false}, {"E", true}};
	auto_commit_range struct commit_range range = {0};
	assert_ok(source_tree_range(fixture->tree, id_of(fixture, "A"), id_of(fixture, "E"), &range,
				    &err),
		  &err);
	size_t seen = 0;
	for (size_t i = 0; i < range.count; i++)
		for (size_t j = 0; j < array_length(expected); j++)
			if (!strcmp(range.ids[i], id_of(fixture, expected[j].name))) {
				assert_int_equal(range.relevant[i], expected[j].relevant);
				seen++;
			}
	assert_int_equal(seen, array_length(expected));
}

static void test_a_commit_weighs_what_its_heaviest_path_weighs(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	char kernel[] = "kernel/";
	char fork[] = "kernel/fork.c";
	char shape[] = "sha";
	/* The longest prefix speaks for a path; E removes "shape" and adds "shape/inner". */
	const struct policy_weight weights[] = {{kernel, 4}, {fork, 0.5}, {shape, 3}};
	static const struct {
		const char *name;
		double weight;
	} expected[] = {{"A", 1}, {"B", 1}, {"C", 0.5}, {"D", 1}, {"M", 0.5}, {"E", 3}};
	auto_commit_range struct commit_range range = {0};
	assert_ok(source_tree_range(fixture->tree, id_of(fixture, "A"), id_of(fixture, "E"), &range,
				    &err),
		  &err);
	assert_int_equal(range.count, array_length(expected));
	double found[array_length(expected)];
	assert_ok(source_tree_weigh(fixture->tree, &range, weights, array_length(weights), found,
				    &err),
		  &err);
	for (size_t i = 0; i < range.count; i++)
		for (size_t j = 0; j < array_length(expected); j++)
			if (!strcmp(range.ids[i], id_of(fixture, expected[j].name)))
				assert_close(found[i], expected[j].weight, 0);
	assert_ok(source_tree_weigh(fixture->tree, &range, NULL, 0, found, &err), &err);
	assert_close(found[range.count - 1], 1, 0);
}

static void test_parents_outside_the_range_count_as_good(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_commit_range struct commit_range range = {0};
	assert_ok(source_tree_range(fixture->tree, id_of(fixture, "B"), id_of(fixture, "M"), &range,
				    &err),
		  &err);
	assert_int_equal(range.count, 4); /* B, C, D, M: C's parent A is an ancestor of B */
	assert_int_equal(range.parent_counts[1], 1);
	assert_int_equal(range.parents[1][0], 0);
}

static void test_an_ancestor_is_the_commit_itself_or_before_it(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	static const struct {
		const char *ancestor;
		const char *commit;
		bool is;
	} cases[] = {{"A", "A", true}, {"C", "M", true}, {"M", "C", false}, {"B", "D", false}};
	for (size_t i = 0; i < array_length(cases); i++) {
		bool is;
		assert_ok(source_tree_is_ancestor(fixture->tree, id_of(fixture, cases[i].ancestor),
						  id_of(fixture, cases[i].commit), &is, &err),
			  &err);
		assert_int_equal(is, cases[i].is);
	}
}

static void test_ends_that_make_no_range_are_explained(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	struct commit_range range;
	const struct {
		const char *good;
		const char *bad;
		const char *message;
	} cases[] = {
		{"B", "D", id_of(fixture, "A")},
		{"E", "A", "exchanged"},
		{"other", "E", "no common history"},
		{"E", "E", "same commit"},
	};
	for (size_t i = 0; i < array_length(cases); i++) {
		auto_free char *message = text_format("%.12s", cases[i].message);
		assert_int_equal(source_tree_range(fixture->tree, id_of(fixture, cases[i].good),
						   id_of(fixture, cases[i].bad), &range, &err),
				 -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_contains(err.message, message);
	}
}

static void test_a_checkout_writes_only_what_differs(void **state)
{
	struct fixture *fixture = *state;
	const char *work = check_out(fixture, "B");
	struct timespec makefile = mtime_of(work, "Makefile");
	auto_free char *untracked = text_format("%s/mine.o", work);
	struct error err;
	assert_ok(file_write_durable(untracked, "x", 1, &err), &err);
	check_out(fixture, "M");
	assert_content(work, "kernel/fork.c", "two\n");
	assert_true(same_time(makefile, mtime_of(work, "Makefile")));
	assert_content(work, "mine.o", "x");
	check_out(fixture, "C");
	assert_content(work, "Documentation/guide.rst", NULL);
	assert_content(work, "arch/arm/head.c", "one\n");
}

static void test_files_that_become_folders_or_links_follow(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	const char *work = check_out(fixture, "M");
	assert_content(work, "shape", "a file\n");
	check_out(fixture, "E");
	assert_content(work, "shape/inner", "now a folder\n");
	check_out(fixture, "M");
	assert_content(work, "shape", "a file\n");

	/* A link that leads outside, and then a folder of the same name with a file in it. */
	auto_free char *outside = text_format("%s/outside", fixture->scratch);
	auto_free char *link = text_format("%s/kernel/link", fixture->origin);
	assert_ok(file_make_folders(outside, &err), &err);
	assert_int_equal(symlink(outside, link), 0);
	commit(fixture, "link");
	git(fixture, "tag linked");
	git(fixture, "rm -q kernel/link");
	put(fixture, "kernel/link/file", "inside\n");
	commit(fixture, "folder");
	assert_ok(source_tree_fetch(fixture->tree, &err), &err);
	check_out(fixture, "linked");
	auto_free char *checked_out = text_format("%s/kernel/link", work);
	char target[4096] = "";
	assert_true(readlink(checked_out, target, sizeof(target) - 1) > 0);
	assert_string_equal(target, outside);
	check_out(fixture, "main");
	assert_content(work, "kernel/link/file", "inside\n");
	assert_content(outside, "file", NULL);
}

static void test_line_ends_and_attributes_of_the_tree_change_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	put(fixture, "mixed", "one\r\ntwo\n");
	commit(fixture, "mixed");
	put(fixture, ".gitattributes", "* text eol=crlf filter=evil\n");
	git(fixture, "-c core.safecrlf=false add .gitattributes");
	git(fixture, "commit -q -m attributes");
	assert_ok(source_tree_fetch(fixture->tree, &err), &err);
	const char *work = check_out(fixture, "main");
	assert_content(work, "kernel/fork.c", "two\n");
	assert_content(work, "mixed", "one\r\ntwo\n");
}

static void test_an_interrupted_checkout_is_repaired(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *work = text_copy(check_out(fixture, "A"));
	/* On the way from A to E it died: one file written, one half, the lock left, no index. */
	auto_free char *mark = text_format("%s/work.state", fixture->state);
	auto_free char *line =
		text_format("writing %s %s\n", tree_of(fixture, "A"), tree_of(fixture, "E"));
	auto_free char *guide = text_format("%s/Documentation", work);
	auto_free char *guide_file = text_format("%s/guide.rst", guide);
	auto_free char *fork_file = text_format("%s/kernel/fork.c", work);
	auto_free char *index_lock = text_format("%s/mirror.git/index.lock", fixture->state);
	assert_ok(file_write_durable(mark, line, strlen(line), &err), &err);
	assert_ok(file_make_folders(guide, &err), &err);
	assert_ok(file_write_durable(guide_file, "words\n", 6, &err), &err);
	assert_ok(file_write_durable(fork_file, "tw", 2, &err), &err);
	assert_ok(file_write_durable(index_lock, "", 0, &err), &err);
	reopen(fixture);
	/* Back to C, which has neither the guide nor the folder: nothing of E may stay behind. */
	check_out(fixture, "C");
	assert_content(work, "kernel/fork.c", "two\n");
	assert_content(work, "Documentation/guide.rst", NULL);
	assert_content(work, "shape", "a file\n");
}

static void test_a_removed_work_tree_is_made_again(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *work = text_copy(check_out(fixture, "A"));
	assert_ok(file_remove_tree(work, &err), &err);
	reopen(fixture);
	check_out(fixture, "A");
	assert_content(work, "kernel/fork.c", "one\n");
}

static void test_two_processes_cannot_share_a_work_tree(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	const char *path;
	auto_source_tree struct source_tree *second = NULL;
	check_out(fixture, "A");
	assert_ok(source_tree_open(&fixture->policy, fixture->state, &second, &err), &err);
	assert_int_equal(source_tree_checkout(second, tree_of(fixture, "B"), &path, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_contains(err.message, "in use");
}

static const char *checkout_commit(struct fixture *fixture, const char *id)
{
	struct error err;
	const char *path;
	auto_commit_info struct commit_info info = {0};
	assert_ok(source_tree_commit_info(fixture->tree, id, &info, &err), &err);
	assert_ok(source_tree_checkout(fixture->tree, info.tree, &path, &err), &err);
	return path;
}

static void test_a_commit_is_undone_on_top_of_the_head(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	bool applied;
	char revert[OBJECT_ID_SIZE];
	char again[OBJECT_ID_SIZE];
	assert_ok(source_tree_revert(fixture->tree, id_of(fixture, "C"), id_of(fixture, "E"),
				     &applied, revert, &err),
		  &err);
	assert_true(applied);
	assert_ok(source_tree_revert(fixture->tree, id_of(fixture, "C"), id_of(fixture, "E"),
				     &applied, again, &err),
		  &err);
	assert_string_equal(again, revert);
	const char *path = checkout_commit(fixture, revert);
	assert_content(path, "kernel/fork.c", "one\n");
	assert_content(path, "shape/inner", "now a folder\n");

	put(fixture, "kernel/fork.c", "rewritten\n");
	commit(fixture, "F");
	assert_ok(source_tree_fetch(fixture->tree, &err), &err);
	assert_ok(source_tree_revert(fixture->tree, id_of(fixture, "C"), id_of(fixture, "main"),
				     &applied, revert, &err),
		  &err);
	assert_false(applied);
	/* A merge is undone against its first parent: what the side branch brought goes. */
	assert_ok(source_tree_revert(fixture->tree, id_of(fixture, "M"), id_of(fixture, "E"),
				     &applied, revert, &err),
		  &err);
	assert_true(applied);
	path = checkout_commit(fixture, revert);
	assert_content(path, "arch/arm/head.c", "one\n");
}

static void assert_refused(struct fixture *fixture, const char *url, const char *message)
{
	struct error err;
	struct source_tree *tree;
	auto_free char *state = text_format("%s/refused", fixture->scratch);
	struct policy_tree policy = fixture->policy;
	policy.url = text_copy(url);
	assert_int_equal(source_tree_open(&policy, state, &tree, &err), -1);
	free(policy.url);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, message);
}

static void test_urls_that_are_no_repository_are_refused(void **state)
{
	struct fixture *fixture = *state;
	assert_refused(fixture, "--upload-pack=touch x", "starts with");
	assert_refused(fixture, "ext::sh -c x", "not supported");
	assert_refused(fixture, "http://user:secret@example.org/x", "not supported");
	assert_refused(fixture, "/nonexistent/repository", "/nonexistent/repository");
	assert_refused(fixture, fixture->scratch, "is not a git repository");
	assert_refused(fixture, "https://a\nb/", "control character");
}

static void test_a_secret_in_the_url_is_not_shown(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	struct source_tree *tree;
	auto_free char *folder = text_format("%s/refused", fixture->scratch);
	struct policy_tree policy = fixture->policy;
	policy.url = text_copy("gopher://user:an@secret@example.org/x");
	assert_int_equal(source_tree_open(&policy, folder, &tree, &err), -1);
	free(policy.url);
	assert_null(strstr(err.message, "secret"));
	assert_contains(err.message, "example.org");
}

static void test_somebody_elses_repository_says_what_to_do(void **state)
{
	struct fixture *fixture = *state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(fixture->origin, 4242, 4242), 0);
	assert_refused(fixture, fixture->origin, "safe.directory");
}

static void test_a_shallow_clone_says_what_to_do(void **state)
{
	struct fixture *fixture = *state;
	auto_free char *line = text_format("clone -q --depth 1 file://%s %s/shallow",
					   fixture->origin, fixture->scratch);
	auto_free char *clone = text_format("%s/shallow", fixture->scratch);
	git(fixture, line);
	assert_refused(fixture, clone, "--unshallow");
}

static void test_a_branch_that_is_not_there_is_named(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	free(fixture->policy.branch);
	fixture->policy.branch = text_copy("mainn");
	reopen(fixture);
	assert_int_equal(source_tree_fetch(fixture->tree, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "mainn");
	assert_contains(err.message, "\"main\"");
}

int main(void)
{
#define repository_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		repository_test(test_revisions_are_resolved_as_git_writes_them),
		repository_test(test_a_fetch_follows_new_commits_and_removed_branches),
		repository_test(test_a_range_keeps_the_shape_of_the_history),
		repository_test(test_commits_that_touch_only_irrelevant_paths_are_told_apart),
		repository_test(test_a_commit_weighs_what_its_heaviest_path_weighs),
		repository_test(test_parents_outside_the_range_count_as_good),
		repository_test(test_an_ancestor_is_the_commit_itself_or_before_it),
		repository_test(test_ends_that_make_no_range_are_explained),
		repository_test(test_a_checkout_writes_only_what_differs),
		repository_test(test_files_that_become_folders_or_links_follow),
		repository_test(test_line_ends_and_attributes_of_the_tree_change_nothing),
		repository_test(test_an_interrupted_checkout_is_repaired),
		repository_test(test_a_removed_work_tree_is_made_again),
		repository_test(test_two_processes_cannot_share_a_work_tree),
		repository_test(test_a_commit_is_undone_on_top_of_the_head),
		repository_test(test_urls_that_are_no_repository_are_refused),
		repository_test(test_a_secret_in_the_url_is_not_shown),
		repository_test(test_somebody_elses_repository_says_what_to_do),
		repository_test(test_a_shallow_clone_says_what_to_do),
		repository_test(test_a_branch_that_is_not_there_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
