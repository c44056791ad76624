/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_VERDICT_H
#define SENTINEL_BENCH_VERDICT_H

/*
 * Has a series moved? Values are boot values on the log scale, where more is worse: the boot, not
 * the iteration, is the statistical unit. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "sentinel/base/error.h"

enum verdict_state {
	VERDICT_UNCHANGED,
	VERDICT_FLAGGED,     /* stage 1 only: measure again before it counts */
	VERDICT_REGRESSION,  /* repeated in fresh interleaved boots */
	VERDICT_IMPROVEMENT, /* likewise */
	VERDICT_NOT_REPEATED,
	VERDICT_NO_DATA, /* too few boots on a side to say anything */
};

struct verdict_rule {
	double alpha;                  /* one-sided */
	double minimum_effect_percent; /* below it nothing counts, however sure */
	double deviation_floor;        /* of one boot value, log scale: resolution of the metric */
};

struct verdict {
	enum verdict_state state;
	double change;         /* tonight - baseline, log scale; > 0 is worse */
	double change_percent; /* 100 (e^change - 1) */
	double deviation;      /* of one boot value, pooled */
	double degrees;        /* of freedom behind it */
	double threshold;      /* on the log scale: what change had to exceed */
	double p_value;        /* one-sided, towards the side that stage 1 saw; 1 without data */
	size_t baseline_boots;
	size_t boots;
};

/*
 * One boot value: Huber location of its iterations on the log scale, with the iterations' own
 * median deviation as scale. COUNT >= 1.
 */
double verdict_boot_value(const double *badness, size_t count);

/*
 * Stage 1: tonight's boots against the baseline's (two-sample t, pooled deviation, Huber
 * locations). Flags a step either way. Both sides need a boot and one of them two, or there is no
 * degree of freedom: VERDICT_NO_DATA. Few degrees make the threshold wide: with alpha 0.01 it
 * is 31.8 standard errors at 1 degree, 4.5 at 3 and 2.9 at 8.
 */
void verdict_stage1(const double *baseline, size_t baseline_count, const double *boots,
		    size_t boot_count, const struct verdict_rule *rule,
		    struct verdict *ret_verdict);
/*
 * Stage 2: COUNT fresh interleaved pairs; confirms only the direction of FLAGGED, whose deviation
 * is pooled with that of the fresh boots. Half the minimum effect suffices here, since stage 1 has
 * asked for the whole. No pair: VERDICT_NO_DATA.
 */
void verdict_stage2(const double *baseline, const double *boots, size_t count,
		    const struct verdict *flagged, const struct verdict_rule *rule,
		    struct verdict *ret_verdict);
const char *verdict_state_name(enum verdict_state state);

#endif
