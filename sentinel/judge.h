/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_JUDGE_H
#define SENTINEL_JUDGE_H

/* From what is stored to verdicts (STATISTICS 4): one series at a time. Pure. */

#include "policies/policy.h"
#include "sentinel/base/error.h"
#include "sentinel/history.h"
#include "sentinel/series.h"
#include "sentinel/store.h"

/*
 * What stage 1 says of one series tonight: against the accepted nights, or against the baseline's
 * boots while there are too few of those; then, if nothing moved, whether it has crept away from
 * the pinned kernel. The reference is set when it must be measured again. The caller frees the
 * series' name.
 */
void judge_stage1(const struct history *history, const char *name,
		  struct store_verdict *ret_verdict);

/*
 * What stage 2 says of a FLAGGED series from the retest's BOOTS of this series and its reference,
 * in order of sequence. SERIES_COUNT series share the wrong alarms of a month. ERROR_USAGE when the
 * boots are not alike.
 */
int judge_stage2(const struct history *history, const struct store_verdict *flagged,
		 size_t series_count, const struct store_boot *boots, size_t count,
		 struct store_verdict *ret_verdict, struct error *err);

/*
 * Does a culprit account for what the night's REGRESSION says of one series? CULPRIT and RIVAL are
 * the series' boots beside each other when it was confirmed; NULL or empty: not measured, and not
 * accounted for. It does when they differ by half the night's step or more, for a hunt of this
 * series would end there as well; and when what they leave of that step is no step by itself: less
 * than half of MINIMUM_STEP (log scale) or, at 5 % one-sided, than chance. What the night saw of a
 * noisy series is what got it noticed, so that it is rather too large. LAYOUTS of the retest.
 */
bool judge_is_explained(const struct store_verdict *regression, size_t layouts, double minimum_step,
			const struct series_boots *culprit, const struct series_boots *rival);

/* The benchmark that SERIES belongs to, or NULL when the policy has it no longer. */
const struct policy_benchmark *judge_benchmark(const struct policy *policy, const char *series);
/* Its minimum effect. */
double judge_minimum_effect_percent(const struct policy *policy, const char *series);
double judge_minimum_step(const struct policy *policy, const char *series); /* log scale */

#endif
