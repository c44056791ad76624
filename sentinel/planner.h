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

/* Interleaved pairs: baseline, head, head, baseline, … so that drift falls on both sides. */
bool planner_retest_is_head(int64_t sequence);

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
