/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_PLANNER_H
#define SENTINEL_PLANNER_H

/* What a night wants measured, and in which order. Pure. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/ticket.h"
#include "policies/policy.h"
#include "sentinel/base/error.h"
#include "sentinel/store.h"

/*
 * The plan with every case of BENCHMARKS; when SERIES is not NULL, only the cases that at least one
 * of the SERIES_COUNT names belongs to. ERROR_USAGE names a series that no benchmark has.
 */
int planner_plan(const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		 const char *const *series, size_t series_count, struct plan *ret_plan,
		 struct error *err);

/* "benchmark/case/metric"; the caller frees it. */
char *planner_series_name(const struct policy_benchmark *benchmark, const char *cell);

/* The names of all series that BENCHMARKS give, in order. The caller frees each and the array. */
int planner_series(const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		   char ***ret_names, size_t *ret_count, struct error *err);

/*
 * The retest: a round for every kernel that flagged series are compared with. Its boots are counted
 * from 0: reference, head, head, reference, … so that drift falls on both sides. Boots 2 i and
 * 2 i + 1 are a pair, of the same layout. With more layouts than one the plain build is not among
 * them: it is the one that looked slow, and its own layout may be why.
 */
bool planner_retest_is_head(int64_t boot);
size_t planner_retest_layout(int64_t boot, int64_t layouts);
/* The sequence number of its trial. */
int64_t planner_retest_sequence(int64_t round, int64_t boot);
/* Does it take part in the round of REFERENCE? */
bool planner_is_retested(const struct store_verdict *verdict, const char *reference);
/* The round of the flagged verdict at INDEX; the second gives -1 when it is not the first one. */
int64_t planner_retest_round_of(const struct store_verdict *verdicts, size_t index);
int64_t planner_retest_round(const struct store_verdict *verdicts, size_t index);

/* Outcomes that others look for; the last is how such an outcome begins. */
#define NIGHT_REGRESSION "regression"
#define NIGHT_KNOWN "known regression"
#define NIGHT_CREEP "creep"
#define NIGHT_NOT_JUDGED "not judged"

/* A regression that came in one step: a creep has no commit to be found. */
bool planner_is_hunted(const struct store_verdict *verdict);
/* What a night says in the end; Caller frees. */
char *planner_outcome(const struct store_verdict *verdicts, size_t count);

/* Where a night goes once the verdicts of its state are known. */
enum night_state planner_night_after(enum night_state state, const struct store_verdict *verdicts,
				     size_t count);

/*
 * The regression to hunt next among those with EXPLAINED[i] false: the one that stands out most
 * (change over its deviation), or the first, in the order of [night], of those that are clear
 * enough. False when none is left.
 */
bool planner_next_hunt(const struct store_verdict *verdicts, size_t count, const bool *explained,
		       size_t *ret_index);

#endif
