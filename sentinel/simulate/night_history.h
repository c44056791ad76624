/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SIMULATE_NIGHT_HISTORY_H
#define SENTINEL_SIMULATE_NIGHT_HISTORY_H

/* One series through the nights, judged by bench/verdict as the product judges it. */

#include "bench/stats/components.h"
#include "bench/verdict.h"
#include "sentinel/simulate/night_world.h"

struct night_plan {
	size_t boots;        /* a night */
	size_t iterations;   /* a boot */
	size_t window;       /* nights of the rolling baseline, at least VERDICT_NIGHTS_LEAST */
	size_t noise_nights; /* what the noise is learned from, at least the window */
	size_t pairs;        /* of the retest */
	/*
	 * Builds of each kernel in the retest, all with layouts of their own; 1: the night's own
	 * build, whose layout may be what was flagged.
	 */
	size_t layouts;
	double stage1_alpha;
	double stage2_alpha;
	double minimum_effect_percent;
};

/* 6 pairs of 2 layouts, 20 nights, noise of 60 nights, 1 % needless retests, 1 % minimum effect;
   0.05 wrong alarms a month over so many series, which decides stage2_alpha. */
void night_plan_default(enum night_world world, size_t series, struct night_plan *ret_plan);

struct night_history {
	struct night_plan plan;
	struct night_series series;
	/* The last nights in turn, and behind them tonight; owned. */
	double *badness; /* (noise_nights + 1) x boots x iterations */
	double *values;  /* window + 1: of the nights */
	size_t nights;   /* accepted so far */
	struct components noise;
	double layout;      /* of tonight's build */
	double last_layout; /* of the last accepted one */
};

void night_history_init(const struct night_plan *plan, const struct night_series *series,
			struct night_history *ret_history);
void night_history_free(struct night_history *history);
/* Passes as many nights as the noise is learned from. */
void night_history_begin(struct night_history *history);

/* Measures a night of a kernel that is STEP worse than the world's. */
void night_history_measure(struct night_history *history, double step);
/* Tonight's against the window, and back to the window's kernel in fresh boots of this night. */
void night_history_stage1(const struct night_history *history, struct verdict *ret_verdict);
void night_history_stage2(struct night_history *history, double step, double flagged_change,
			  struct verdict *ret_verdict);
/* Tonight takes the place of the oldest night. */
void night_history_accept(struct night_history *history);
/* Estimates the noise anew, once as many nights have passed as it is learned from. */
void night_history_learn(struct night_history *history);

/* The iterations of tonight and of the night before; boots x iterations each. */
const double *night_history_tonight(const struct night_history *history);
const double *night_history_last(const struct night_history *history);

#endif
