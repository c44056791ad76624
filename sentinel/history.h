/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_HISTORY_H
#define SENTINEL_HISTORY_H

/* What is stored of the nights before one night, and one series of it as values. */

#include "bench/stats/components.h"
#include "bench/verdict.h"
#include "policies/policy.h"
#include "sentinel/series.h"
#include "sentinel/store.h"
#include "sentinel/store_watch.h"
#include "sentinel/watch.h"

struct history_night {
	struct store_night night;
	struct store_boot *boots; /* of its head */
	size_t boot_count;
	struct store_verdict *verdicts; /* what it concluded, one a series */
	size_t verdict_count;
};

struct history {
	const struct policy *policy;  /* not owned */
	struct history_night *nights; /* finished ones, the oldest first */
	size_t night_count;
	struct store_baseline baseline;
	struct store_boot *baseline_boots;
	size_t baseline_boot_count;
	struct store_boot *tonight;
	size_t tonight_count;
	char *tonights_head; /* NULL: no night is being judged */
	struct store_acknowledgement *acknowledgements;
	size_t acknowledgement_count;
	struct store_characterisation characterisation;
	struct store_noise *noise; /* what "characterise" found */
	size_t noise_count;
};

/*
 * The nights before NIGHT and its own boots; or, with NIGHT NULL, all nights of the tree and
 * machine that [night] names. A judgement by hand knows no nights: it is compared with the
 * baseline. ERROR_USAGE when the baseline was measured under other conditions than the night.
 */
int history_load(struct store *store, const struct policy *policy, const struct store_night *night,
		 struct history *ret_history, struct error *err);
void history_free(struct history *history);
#define auto_history __attribute__((cleanup(history_free)))

/* What a night concluded of every series: stage 2 has the last word on what it measured. Free with
   store_verdicts_free. */
int history_conclusions(struct store *store, int64_t night, struct store_verdict **ret_verdicts,
			size_t *ret_count, struct error *err);

/* One series. All owned, but for texts. */
struct history_series {
	const char *name;
	const struct store_boot *newest; /* what others must be like; NULL: never measured */
	struct watch_night *nights;      /* as history->nights */
	bool *accepted;
	size_t night_count;
	struct watch watch;
	double *tonight; /* boot values */
	size_t tonight_count;
	double tonight_value; /* NAN: none */
	double *pinned;       /* the baseline's boots */
	size_t pinned_count;
	double *young; /* what a young rolling baseline is compared with: the pinned boots, unless a
			  step was accepted since, and those of the nights accepted since */
	size_t young_count;
	double within_deviation;
	double deviation_floor;
	struct verdict_noise noise; /* of boots and builds */
};
/* NAME need not be known. Free with history_series_free. */
void history_series_open(const struct history *history, const char *name,
			 struct history_series *ret_series);
void history_series_free(struct history_series *series);
#define auto_history_series __attribute__((cleanup(history_series_free)))

/* A step that the nights show, tonight included. */
struct history_point {
	size_t index; /* of the first night of the new level */
	double change;
	double p_value;
};
/* Looked for among all nights that are alike, whatever they concluded. The caller frees. */
void history_points(const struct history_series *series, double minimum_change,
		    struct history_point **ret_points, size_t *ret_count);

/* The last accepted kernel of a series: what a step is measured against. */
const char *history_accepted_head(const struct history *history,
				  const struct history_series *series);
/* Every series that a night has judged or tonight has measured, in order of appearance, the newest
   night's first. The caller frees the array; the names belong to the history. */
const char **history_names(const struct history *history, size_t *ret_count);

#endif
