/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_VERDICT_H
#define SENTINEL_BENCH_VERDICT_H

/*
 * Has a series moved? Values are boot values on the log scale, where more is worse: the boot, not
 * the iteration, is the statistical unit (STATISTICS 3.1 and 4). Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VERDICT_NIGHTS_LEAST = 8, /* with fewer the rolling baseline is too young */
	VERDICT_LAYOUTS_LIMIT = 8,
};

enum verdict_state {
	VERDICT_UNCHANGED,
	VERDICT_FLAGGED,     /* stage 1 only: measure again before it counts */
	VERDICT_REGRESSION,  /* repeated in fresh interleaved boots */
	VERDICT_IMPROVEMENT, /* likewise */
	VERDICT_NOT_REPEATED,
	VERDICT_NO_DATA, /* too few boots on a side to say anything */
	VERDICT_KNOWN,   /* a regression that is open already and did not grow */
};

/* What the series was compared with. */
enum verdict_basis {
	VERDICT_BY_BOOTS,  /* the boots of a baseline that is too young for nights */
	VERDICT_BY_NIGHTS, /* the values of the last accepted nights */
	VERDICT_BY_PAIRS,  /* fresh interleaved boots */
};

struct verdict_rule {
	double alpha;                  /* one-sided */
	double minimum_effect_percent; /* below it nothing counts, however sure */
	double deviation_floor;        /* of one boot value, log scale: resolution of the metric */
};

struct verdict {
	enum verdict_state state;
	enum verdict_basis basis;
	double change;         /* tonight - baseline, log scale; > 0 is worse */
	double change_percent; /* 100 (e^change - 1) */
	double deviation;      /* of one boot value; VERDICT_BY_NIGHTS: of one night value */
	double degrees;        /* of freedom behind it */
	double threshold;      /* on the log scale: what change had to exceed */
	double p_value;        /* one-sided, towards the side that stage 1 saw; 1 without data */
	size_t baseline_boots; /* VERDICT_BY_NIGHTS: nights */
	size_t boots;
};

/*
 * One boot value: Huber location of its iterations on the log scale. WITHIN_DEVIATION is the known
 * deviation of an iteration; 0: unknown, then the iterations' own median deviation. COUNT >= 1.
 */
double verdict_boot_value(const double *badness, size_t count, double within_deviation);

/* What a night says: Huber location of its boots. DEVIATION of one boot value; COUNT >= 1. */
double verdict_night_value(const double *boots, size_t count, double deviation);

/* Where the accepted nights lie and how they scatter. */
struct verdict_window {
	double location;  /* Huber mean of the night values */
	double deviation; /* of one night value: winsorised at 2.5 median deviations, x 1.06 */
	size_t nights;
};
/* FLOOR: the least deviation of a night value, > 0. COUNT >= 1. */
void verdict_window(const double *nights, size_t count, double floor,
		    struct verdict_window *ret_window);

/*
 * Stage 1 against the rolling baseline (STATISTICS 4.2, 4.3): t = (tonight - location) / (deviation
 * sqrt(1 + 1/W)) with W - 1 degrees. Flags a step either way. Fewer than VERDICT_NIGHTS_LEAST
 * nights: VERDICT_NO_DATA. The rule's deviation floor is that of a boot, BOOTS those behind
 * TONIGHT.
 */
void verdict_stage1_nights(const double *nights, size_t night_count, double tonight, size_t boots,
			   const struct verdict_rule *rule, struct verdict *ret_verdict);

/*
 * Stage 1 while the rolling baseline is too young: tonight's boots against the baseline's
 * (two-sample t, pooled deviation, Huber locations). Both sides need a boot and one of them two, or
 * there is no degree of freedom: VERDICT_NO_DATA. It costs certainty both ways: what moves between
 * nights but not between the boots of one night looks like a step and is sorted out by stage 2
 * alone, and few degrees make the threshold wide: with alpha 0.01 it is 31.8 standard errors at 1
 * degree, 4.5 at 3 and 2.9 at 8.
 */
void verdict_stage1(const double *baseline, size_t baseline_count, const double *boots,
		    size_t boot_count, const struct verdict_rule *rule,
		    struct verdict *ret_verdict);

/* Two boots next to each other, of two builds made with the same layout. */
struct verdict_pair {
	double baseline;
	double head;
	size_t layout; /* < VERDICT_LAYOUTS_LIMIT */
};

/* What history says of the noise. */
struct verdict_noise {
	double deviation;        /* of one boot value */
	double degrees;          /* behind it; counts as 40 at most, 0: nothing known */
	double layout_deviation; /* between builds of the same source */
	double layout_degrees;   /* behind it; 0: nothing known */
};

/* Between builds: what history knows or, while it knows nothing, half of MINIMUM_STEP (log scale):
   a step that is small enough to be a layout's is not believed. */
double verdict_layout_deviation(const struct verdict_noise *noise, double minimum_step);

/*
 * Stage 2 (STATISTICS 4.4): D = Huber mean of the differences, t = D / sqrt(2 (s^2/n + su^2/L))
 * with L layouts among the pairs. s is pooled from history and the differences within each layout;
 * su is that of history; half the minimum effect while nothing is known; and what the layouts' own
 * means scatter by where they contradict that. Confirms only the direction of
 * FLAGGED_CHANGE. Half the minimum effect suffices here, since stage 1 has asked for the whole. No
 * pair, or no degree of freedom: VERDICT_NO_DATA.
 */
void verdict_stage2(const struct verdict_pair *pairs, size_t count, double flagged_change,
		    const struct verdict_noise *noise, const struct verdict_rule *rule,
		    struct verdict *ret_verdict);

/*
 * The alpha of stage 2 that keeps wrong alarms at so many a month of 30 nights, over all series:
 * rate / (30 series stage1_alpha), since both stages rest on different boots. Between 1e-6 and
 * 0.01.
 */
double verdict_stage2_alpha(double false_alarms_per_month, size_t series, double stage1_alpha);

/* Benjamini and Hochberg's q of each p-value (1995): for the order of a report, never a gate. */
void verdict_q_values(const double *p_values, size_t count, double *ret_q_values);

const char *verdict_state_name(enum verdict_state state);
const char *verdict_basis_name(enum verdict_basis basis);

#endif
