/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_JUDGE_H
#define SENTINEL_JUDGE_H

/* From stored boots to verdicts: groups samples by series, refuses what is not alike. */

#include "policies/policy.h"
#include "sentinel/base/error.h"
#include "sentinel/store.h"

/* The boot values of one series, in order of sequence. */
struct series_boots {
	const char *series; /* of the first store_boot; not owned */
	const char *unit;
	bool higher_is_better;
	double *values; /* log scale, more is worse; owned */
	double *means;  /* the same boots as plain means in UNIT; owned */
	size_t count;
	double deviation_floor; /* of one boot value: from the printed resolution */
};

/* All series in BOOTS, in the order in which they first appear. Boots without a valid sample are
   left out. Free with series_free. */
void series_group(const struct store_boot *boots, size_t count, struct series_boots **ret_series,
		  size_t *ret_count);
void series_free(struct series_boots *series, size_t count);
const struct series_boots *series_find(const struct series_boots *series, size_t count,
				       const char *name);

/* ERROR_USAGE when two boots have another identity, or two of one series another command line or
   program: they must not be compared. */
int judge_check_alike(const struct store_boot *boots, size_t count, const char *what,
		      struct error *err);
/* The same over both sides of a comparison. */
int judge_check_sides(const struct store_boot *a, size_t a_count, const struct store_boot *b,
		      size_t b_count, const char *what, struct error *err);

/* Verdicts for every series of either side; one that a side lacks gets VERDICT_NO_DATA. */
int judge_stage1(const struct policy *policy, const struct store_boot *baseline,
		 size_t baseline_count, const struct store_boot *head, size_t head_count,
		 struct store_verdict **ret_verdicts, size_t *ret_count, struct error *err);
/* Verdicts for the flagged series of STAGE1, from the boots of the retest's two sides. */
int judge_stage2(const struct policy *policy, const struct store_verdict *stage1,
		 size_t stage1_count, const struct store_boot *baseline, size_t baseline_count,
		 const struct store_boot *head, size_t head_count,
		 struct store_verdict **ret_verdicts, size_t *ret_count, struct error *err);

/* The benchmark that SERIES belongs to, or NULL when the policy has it no longer. */
const struct policy_benchmark *judge_benchmark(const struct policy *policy, const char *series);
/* Its minimum effect. */
double judge_minimum_effect_percent(const struct policy *policy, const char *series);

#endif
