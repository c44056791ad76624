/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_REPORT_FINDINGS_H
#define SENTINEL_REPORT_FINDINGS_H

/* What the mail about one hunt is made from, and its parts. Private to report*.c. */

#include "sentinel/base/text.h"
#include "sentinel/context.h"
#include "sentinel/series.h"
#include "sentinel/store.h"

struct findings {
	struct context *context;
	const struct store_hunt *hunt;
	struct commit_info culprit;   /* of the bad end when there is no culprit */
	char parent[OBJECT_ID_SIZE];  /* or what was booted in its stead; the good end */
	char suspect[OBJECT_ID_SIZE]; /* compared with it: culprit, one of the set, or the bad end
				       */
	bool is_set;                  /* the answer is a set */
	struct store_boot *good_boots;
	size_t good_boot_count;
	struct store_boot *bad_boots;
	size_t bad_boot_count;
	struct series_boots *good;
	size_t good_count;
	struct series_boots *bad;
	size_t bad_count;
	struct store_hunt_event *events;
	size_t event_count;
	char (*set)[OBJECT_ID_SIZE];
	size_t set_count;
	struct store_hunt *follow_ups; /* hunts with this one as origin, the newest first */
	size_t follow_up_count;
	struct store_hunt *companions; /* of other series, ended at the same culprit; likewise */
	size_t companion_count;
	bool higher_is_better;
	double step; /* log scale */
};

int findings_load(struct findings *findings, struct error *err);
void findings_free(struct findings *findings);
/* A change of the metric in its own direction: +12.5 for a time that grew, -11.1 for a rate that
   fell by the same step. */
double findings_percent(const struct findings *findings, double step);
/* The same of another series. */
double findings_percent_of(const struct findings *findings, const char *series, double step);

/* Each appends its paragraph. */
int report_add_sureness(struct text *body, const struct findings *findings, struct error *err);
void report_add_companions(struct text *body, const struct findings *findings);
int report_add_follow_ups(struct text *body, const struct findings *findings, struct error *err);
int report_add_proof(struct text *body, const struct findings *findings, struct error *err);
void report_add_table(struct text *body, const struct findings *findings);
int report_add_events(struct text *body, const struct findings *findings, struct error *err);
/* For "git bisect replay"; nothing without a culprit. */
int report_add_replay(struct text *body, const struct findings *findings, struct error *err);
/* "0123456789 subject" of a commit, one safe line. */
int report_add_commit_line(struct text *body, const struct findings *findings, const char *commit,
			   struct error *err);

#endif
