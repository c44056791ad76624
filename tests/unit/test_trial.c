/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/trial.h"

#define LIMIT 4
#define STATES (TRIAL_FAILED_HOST + 1)
#define PHASES (PHASE_SEALED + 1)
#define CAUSES (CAUSE_EMULATOR_DIED + 1)

/* Nodes are (state, attempts). */
struct exploration {
	bool seen[STATES][LIMIT + 2];
	size_t queue[STATES * (LIMIT + 2)];
	size_t head, tail;
	size_t count;
	size_t transitions;
	int64_t limit;
};

static void reach(struct exploration *exploration, enum trial_state state, int64_t attempts)
{
	exploration->transitions++;
	if (exploration->seen[state][attempts])
		return;
	exploration->seen[state][attempts] = true;
	exploration->queue[exploration->tail++] = (size_t)state * (LIMIT + 2) + (size_t)attempts;
	exploration->count++;
}

static void leave_armed(struct exploration *exploration, int64_t attempts)
{
	for (int phase = 0; phase < PHASES; phase++) {
		for (int cause = 0; cause < CAUSES; cause++) {
			enum trial_state next = trial_after_outcome((enum trial_phase)phase,
								    (enum trial_cause)cause,
								    attempts, exploration->limit);
			bool sealed = phase == PHASE_SEALED && cause == CAUSE_NONE;
			assert_int_equal(next == TRIAL_STORED, sealed);
			/* The only way back is to a new jump, and only while attempts are left. */
			assert_true(trial_is_final(next) || next == TRIAL_BUILT);
			assert_true(trial_is_final(next) ==
				    (sealed || attempts >= exploration->limit));
			assert_int_not_equal(next, TRIAL_FAILED_BUILD);
			reach(exploration, next, attempts);
		}
	}
}

static void explore(struct exploration *exploration, int64_t limit)
{
	*exploration = (struct exploration){.limit = limit};
	reach(exploration, TRIAL_QUEUED, 0);
	while (exploration->head < exploration->tail) {
		size_t place = exploration->queue[exploration->head++];
		enum trial_state state = (enum trial_state)(place / (LIMIT + 2));
		int64_t attempts = (int64_t)(place % (LIMIT + 2));
		if (state == TRIAL_QUEUED) {
			reach(exploration, TRIAL_BUILT, attempts);
			reach(exploration, TRIAL_FAILED_BUILD, attempts);
			reach(exploration, TRIAL_FAILED_HOST, attempts);
		} else if (state == TRIAL_BUILT) {
			/* No cycle: a jump is counted before it is tried, and never beyond the
			 * limit. */
			assert_true(attempts < limit);
			reach(exploration, TRIAL_ARMED, attempts + 1);
		} else if (state == TRIAL_ARMED) {
			leave_armed(exploration, attempts);
		} else {
			assert_true(trial_is_final(state));
		}
	}
}

static void test_the_whole_table_has_no_dead_end_no_cycle_and_reaches_every_end(void **unused)
{
	(void)unused;
	static struct exploration exploration;
	for (int64_t limit = 1; limit <= LIMIT; limit++) {
		explore(&exploration, limit);
		print_message("limit %d: %zu states, %zu transitions explored\n", (int)limit,
			      exploration.count, exploration.transitions);
		for (int state = 0; state < STATES; state++) {
			bool reached = false;
			for (int attempts = 0; attempts <= limit; attempts++)
				reached |= exploration.seen[state][attempts];
			if (!reached)
				fail_msg("%s is never reached",
					 trial_state_name((enum trial_state)state));
		}
	}
}

static void test_spent_attempts_blame_whom_the_evidence_names(void **unused)
{
	(void)unused;
	static const struct {
		enum trial_phase phase;
		enum trial_cause cause;
		enum trial_state end;
	} cases[] = {
		{PHASE_TRUSTED_BOOT, CAUSE_HANG, TRIAL_FAILED_HOST},
		{PHASE_TRUSTED_BOOT, CAUSE_PANIC, TRIAL_FAILED_HOST},
		{PHASE_JUMP, CAUSE_REFUSED, TRIAL_FAILED_BOOT},
		{PHASE_SUSPECT_BOOT, CAUSE_PANIC, TRIAL_FAILED_BOOT},
		{PHASE_SUSPECT_BOOT, CAUSE_HANG, TRIAL_FAILED_BOOT},
		{PHASE_SUSPECT_BOOT, CAUSE_CAME_BACK, TRIAL_FAILED_BOOT},
		{PHASE_SUSPECT_BOOT, CAUSE_WRONG_KERNEL, TRIAL_FAILED_HOST},
		{PHASE_SUSPECT_BOOT, CAUSE_EMULATOR_DIED, TRIAL_FAILED_HOST},
		{PHASE_BENCHMARK, CAUSE_PANIC, TRIAL_FAILED_BENCH},
		{PHASE_BENCHMARK, CAUSE_HANG, TRIAL_FAILED_BENCH},
		{PHASE_BENCHMARK, CAUSE_DAMAGED_SEAL, TRIAL_FAILED_HOST},
		{PHASE_BENCHMARK, CAUSE_EMULATOR_DIED, TRIAL_FAILED_HOST},
		{PHASE_SEALED, CAUSE_DAMAGED_SEAL, TRIAL_FAILED_HOST},
		{PHASE_SEALED, CAUSE_WRONG_KERNEL, TRIAL_FAILED_HOST},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(trial_after_outcome(cases[i].phase, cases[i].cause, 2, 3),
				 TRIAL_BUILT);
		assert_int_equal(trial_after_outcome(cases[i].phase, cases[i].cause, 3, 3),
				 cases[i].end);
	}
	/* A seal counts at once, however many attempts it took. */
	assert_int_equal(trial_after_outcome(PHASE_SEALED, CAUSE_NONE, 1, 3), TRIAL_STORED);
	assert_int_equal(trial_after_outcome(PHASE_SEALED, CAUSE_NONE, 9, 3), TRIAL_STORED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_the_whole_table_has_no_dead_end_no_cycle_and_reaches_every_end),
		cmocka_unit_test(test_spent_attempts_blame_whom_the_evidence_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
