/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/trial.h"

#include <string.h>

#include "sentinel/base/cleanup.h"

static const struct {
	const char *name;
	bool final;
} states[] = {
	[TRIAL_QUEUED] = {"queued", false},
	[TRIAL_BUILT] = {"built", false},
	[TRIAL_ARMED] = {"armed", false},
	[TRIAL_STORED] = {"stored", true},
	[TRIAL_FAILED_BUILD] = {"failed-build", true},
	[TRIAL_FAILED_BOOT] = {"failed-boot", true},
	[TRIAL_FAILED_BENCH] = {"failed-bench", true},
	[TRIAL_FAILED_HOST] = {"failed-host", true},
};

#define BOOT TRIAL_FAILED_BOOT
#define BENCH TRIAL_FAILED_BENCH
#define HOST TRIAL_FAILED_HOST

/*
 * What a trial is once its attempts are spent. Only a seal that nothing speaks against is stored,
 * and that at once; a report that contradicts itself is never held against the kernel.
 */
static const enum trial_state ends[][8] = {
	/* clang-format off */
	/* none, panic, hang, came back, refused, wrong kernel, damaged seal, emulator died */
	[PHASE_TRUSTED_BOOT] = {HOST, HOST, HOST, HOST, HOST, HOST, HOST, HOST},
	[PHASE_JUMP] = {BOOT, BOOT, BOOT, BOOT, BOOT, HOST, HOST, HOST},
	[PHASE_SUSPECT_BOOT] = {BOOT, BOOT, BOOT, BOOT, BOOT, HOST, HOST, HOST},
	[PHASE_BENCHMARK] = {BENCH, BENCH, BENCH, BENCH, BENCH, HOST, HOST, HOST},
	[PHASE_SEALED] = {TRIAL_STORED, HOST, HOST, HOST, HOST, HOST, HOST, HOST},
	/* clang-format on */
};
_Static_assert(CAUSE_EMULATOR_DIED == 7, "the columns of ends[] are the causes in order");

bool trial_is_final(enum trial_state state)
{
	return states[state].final;
}

const char *trial_state_name(enum trial_state state)
{
	return states[state].name;
}

enum trial_state trial_after_outcome(enum trial_phase phase, enum trial_cause cause,
				     int64_t attempts, int64_t limit)
{
	enum trial_state end = ends[phase][cause];
	return end == TRIAL_STORED || attempts >= limit ? end : TRIAL_BUILT;
}
