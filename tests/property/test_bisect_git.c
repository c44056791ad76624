/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/hunt_world.h"

#include "sentinel/base/file.h"

enum { WORLDS = 30, OBJECT_ID_LENGTH = 40 };

/* The same history as a real repository. */
struct repository {
	char *path;
	char ids[DAG_COMMITS_LIMIT][OBJECT_ID_LENGTH + 1];
	size_t commits;
};

static void repository_free(struct repository *repository)
{
	file_remove_tree(repository->path, NULL);
	free(repository->path);
}

static void write_commit(FILE *stream, const struct world *world, size_t commit)
{
	fprintf(stream,
		"commit refs/heads/all\nmark :%zu\n"
		"committer A U Thor <author@example.org> %zu +0000\ndata 0\n",
		commit + 1, 1000000 + commit);
	for (size_t i = 0; i < commit_graph_parent_count(world->graph, commit); i++)
		fprintf(stream, "%s :%zu\n", i ? "merge" : "from",
			commit_graph_parent(world->graph, commit, i) + 1);
	fputc('\n', stream);
}

static FILE *run(const char *command, const char *mode)
{
	FILE *stream = popen(command, mode);
	assert_non_null(stream);
	return stream;
}

static void repository_create(const struct world *world, struct repository *repository)
{
	*repository = (struct repository){.path = make_scratch(), .commits = world->commits};
	auto_free char *marks = text_format("%s/marks", repository->path);
	auto_free char *import = text_format(
		"git init -q --bare %s && git -C %s fast-import --quiet --export-marks=%s",
		repository->path, repository->path, marks);
	FILE *stream = run(import, "w");
	for (size_t commit = 0; commit < world->commits; commit++)
		write_commit(stream, world, commit);
	assert_int_equal(pclose(stream), 0);
	FILE *file = fopen(marks, "r");
	size_t mark;
	char id[OBJECT_ID_LENGTH + 1];
	assert_non_null(file);
	while (fscanf(file, ":%zu %40s\n", &mark, id) == 2)
		memcpy(repository->ids[mark - 1], id, sizeof(id));
	fclose(file);
}

static size_t number_of(const struct repository *repository, const char *id)
{
	for (size_t commit = 0; commit < repository->commits; commit++)
		if (strcmp(repository->ids[commit], id) == 0)
			return commit;
	fail_msg("git named %s, which is not in the history", id);
	return 0;
}

/* What "git bisect" would test next; BAD when nothing is left to test. */
static size_t git_bisect(const struct repository *repository, size_t bad, const bool *good)
{
	auto_text struct text command = {0};
	char id[OBJECT_ID_LENGTH + 1];
	text_printf(&command, "git -C %s rev-list --bisect %s --not", repository->path,
		    repository->ids[bad]);
	for (size_t commit = 0; commit < repository->commits; commit++)
		if (good[commit])
			text_printf(&command, " %s", repository->ids[commit]);
	FILE *stream = run(command.data, "r");
	assert_int_equal(fscanf(stream, "%40s", id), 1);
	assert_int_equal(pclose(stream), 0);
	return number_of(repository, id);
}

/* The longest way through git's decisions, one test a step. */
static size_t git_worst_case(const struct repository *repository, size_t bad, const bool *good)
{
	size_t next = git_bisect(repository, bad, good);
	bool and_next[DAG_COMMITS_LIMIT];
	if (next == bad)
		return 0;
	memcpy(and_next, good, sizeof(and_next));
	and_next[next] = true;
	size_t if_bad = git_worst_case(repository, next, good);
	size_t if_good = git_worst_case(repository, bad, and_next);
	return 1 + (if_bad > if_good ? if_bad : if_good);
}

static size_t our_worst_case(uint64_t seed)
{
	size_t worst = 0;
	for (size_t culprit = 1;; culprit++) {
		auto_world struct world *world = branched_world(seed);
		if (culprit >= world->commits)
			return worst;
		world->culprit = culprit;
		world->deviation = EXACT;
		hunt_down(world);
		assert_true(names_the_culprit(world));
		size_t tests = commits_searched(world);
		worst = tests > worst ? tests : worst;
	}
}

static void test_without_noise_the_worst_case_is_no_worse_than_that_of_git(void **state)
{
	(void)state;
	size_t git_tests = 0;
	size_t our_tests = 0;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		auto_world struct world *world = branched_world(seed);
		auto_cleanup(repository_free) struct repository repository = {0};
		const bool good[DAG_COMMITS_LIMIT] = {true};
		repository_create(world, &repository);
		size_t git_worst = git_worst_case(&repository, world->commits - 1, good);
		size_t our_worst = our_worst_case(seed);
		git_tests += git_worst;
		our_tests += our_worst;
		assert_true(our_worst <= git_worst);
	}
	print_message("worst cases of %d histories: %zu tests, git rev-list --bisect %zu\n", WORLDS,
		      our_tests, git_tests);
	assert_true(git_tests > 4 * WORLDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_noise_the_worst_case_is_no_worse_than_that_of_git),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
