/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/hunts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sentinel/base/interrupt.h"
#include "sentinel/base/random.h"
#include "sentinel/simulate/fano.h"

enum { BOOTS_LIMIT = 1000 };

int hunts_method_parse(const char *name, struct hunts_method *ret_method, struct error *err)
{
	*ret_method = (struct hunts_method){.naive = true, .rule = {.judge = NAIVE_MEAN}};
	if (strcmp(name, "sentinel") == 0) {
		ret_method->naive = false;
		return 0;
	}
	if (strcmp(name, "a") == 0) {
		ret_method->rule.boots = 1;
		return 0;
	}
	if (strcmp(name, "c") == 0) {
		ret_method->rule.judge = NAIVE_SPRT;
		return 0;
	}
	char *end;
	errno = 0;
	unsigned long boots = name[0] == 'b' ? strtoul(name + 1, &end, 10) : 0;
	if (boots < 1 || boots > BOOTS_LIMIT || *end || errno || name[1] < '0' || name[1] > '9')
		return error_set(err, ERROR_USAGE,
				 "no method '%.40s': there are sentinel, a, b1 to b%d, and c", name,
				 BOOTS_LIMIT);
	ret_method->rule.boots = boots;
	return 0;
}

/* Sums over the trials. */
struct tally {
	struct hunts_result sum;
	double named;  /* answers with a culprit or a set */
	double single; /* with a culprit */
	double single_right;
};

static bool holds_step(const struct world *world, const struct hunt_answer *answer)
{
	if (answer->kind == HUNT_CULPRIT)
		return world_is_culprit(world, answer->culprit);
	for (size_t i = 0; i < answer->set_count; i++)
		if (world_is_culprit(world, answer->set[i]))
			return true;
	return false;
}

static void count_named(struct tally *tally, const struct world *world,
			const struct hunt_answer *answer)
{
	bool right = holds_step(world, answer);
	bool single = answer->kind == HUNT_CULPRIT;
	tally->named++;
	tally->sum.correct += right;
	tally->sum.wrong += !right;
	tally->sum.sets += !single;
	tally->sum.set_size += single ? 1 : (double)answer->set_count;
	if (!single)
		return;
	tally->single++;
	tally->single_right += right;
	tally->sum.claimed += answer->probability;
	tally->sum.more_steps += answer->more_steps;
}

static void count_answer(struct tally *tally, const struct world *world,
			 const struct hunt_answer *answer)
{
	if (answer->kind == HUNT_CULPRIT || answer->kind == HUNT_SET)
		count_named(tally, world, answer);
	tally->sum.not_reproducible += answer->kind == HUNT_NOT_REPRODUCIBLE;
	tally->sum.inconclusive += answer->kind == HUNT_CANNOT_TELL;
	tally->sum.boots_reproduce += (double)answer->reproduce_boots;
	tally->sum.boots_search += (double)answer->search_boots;
	tally->sum.boots_confirm += (double)answer->confirm_boots;
	tally->sum.builds += (double)answer->builds;
	tally->sum.witnessed += answer->series > 0;
}

static int follow(struct tally *tally, struct world *world, const struct detective_case *first,
		  const struct detective_limits *limits, struct error *err)
{
	size_t culprit = first->answer.culprit;
	const size_t ends[2][2] = {{0, commit_graph_parent(world->graph, culprit, 0)},
				   {culprit, commit_graph_count(world->graph) - 1}};
	bool right = false;
	bool wrong = false;
	for (size_t side = 0; side < 2; side++) {
		struct hunt_answer answer;
		if (detective_follow(world, first, ends[side][0], ends[side][1], limits, &answer,
				     err) < 0)
			return -1;
		bool named = answer.kind == HUNT_CULPRIT || answer.kind == HUNT_SET;
		bool held = named && holds_step(world, &answer);
		right |= held;
		wrong |= named && !held;
		hunt_answer_free(&answer);
	}
	tally->sum.others_correct += right;
	tally->sum.others_wrong += wrong;
	return 0;
}

static int run_detective(struct tally *tally, struct world *world,
			 const struct detective_limits *limits, struct error *err)
{
	auto_detective_case struct detective_case hunted;
	clock_t started = clock();
	int result = detective_hunt(world, limits, &hunted, err);
	tally->sum.cpu_seconds += (double)(clock() - started) / CLOCKS_PER_SEC;
	if (result < 0)
		return -1;
	count_answer(tally, world, &hunted.answer);
	if (hunted.answer.kind != HUNT_CULPRIT || !hunted.answer.more_steps)
		return 0;
	return follow(tally, world, &hunted, limits, err);
}

static void run_naive(struct tally *tally, struct world *world, const struct naive_rule *rule)
{
	struct hunt_answer answer;
	clock_t started = clock();
	naive_bisect(world, rule, &answer);
	tally->sum.cpu_seconds += (double)(clock() - started) / CLOCKS_PER_SEC;
	count_answer(tally, world, &answer);
	hunt_answer_free(&answer);
}

/* All methods get the same worlds, and a trial the same world whichever others are run. */
static uint64_t seed_of(const struct hunts_plan *plan, size_t trial)
{
	uint64_t seed = plan->seed;
	uint64_t step;
	memcpy(&step, &plan->world->step, sizeof(step));
	for (const char *letter = plan->world->scenario->name; *letter; letter++)
		seed = random_mix(seed, (unsigned char)*letter);
	seed = random_mix(random_mix(seed, step), plan->commits);
	return random_mix(random_mix(seed, plan->shape), trial);
}

static int run_trial(const struct hunts_plan *plan, size_t trial, struct tally *tally,
		     struct error *err)
{
	auto_world struct world *world = NULL;
	if (world_create(plan->world, plan->shape, plan->commits, seed_of(plan, trial), &world,
			 err) < 0)
		return -1;
	if (!plan->method.naive)
		return run_detective(tally, world, &plan->limits, err);
	struct naive_rule rule = plan->method.rule;
	if (rule.judge == NAIVE_SPRT)
		rule.boots = plan->limits.boots;
	run_naive(tally, world, &rule);
	return 0;
}

static double share(double sum, double count)
{
	return count > 0 ? sum / count : 0;
}

static struct hunts_result result_of(const struct hunts_plan *plan, const struct tally *tally)
{
	double trials = (double)plan->trials;
	const struct hunts_result *sum = &tally->sum;
	return (struct hunts_result){
		.correct = share(sum->correct, trials),
		.wrong = share(sum->wrong, trials),
		.not_reproducible = share(sum->not_reproducible, trials),
		.inconclusive = share(sum->inconclusive, trials),
		.sets = share(sum->sets, trials),
		.set_size = share(sum->set_size, tally->named),
		.boots_reproduce = share(sum->boots_reproduce, trials),
		.boots_search = share(sum->boots_search, trials),
		.boots_confirm = share(sum->boots_confirm, trials),
		.builds = share(sum->builds, trials),
		.claimed = share(sum->claimed, tally->single),
		.observed = share(tally->single_right, tally->single),
		.more_steps = share(sum->more_steps, trials),
		.witnessed = share(sum->witnessed, trials),
		.others_correct = share(sum->others_correct, trials),
		.others_wrong = share(sum->others_wrong, trials),
		.cpu_seconds = share(sum->cpu_seconds, trials),
		.bound_boots = fano_boots(plan->commits, plan->world->distance),
	};
}

int hunts_run(const struct hunts_plan *plan, hunts_progress *progress, void *data,
	      struct hunts_result *ret_result, struct error *err)
{
	struct tally tally = {0};
	for (size_t i = 0; i < plan->trials; i++) {
		size_t trial = plan->first_trial + i;
		progress(i, plan->trials, data);
		if (interrupt_check(err) < 0)
			return -1;
		if (run_trial(plan, trial, &tally, err) < 0)
			return error_prefix(err, "trial %zu", trial);
	}
	*ret_result = result_of(plan, &tally);
	return 0;
}
