/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/report_findings.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "bisect/culprit.h"
#include "sentinel/hunt_evidence.h"
#include "sentinel/judge.h"
#include "sentinel/report.h"

static bool is_higher_better(const struct findings *findings, const char *series)
{
	const struct policy_benchmark *benchmark =
		judge_benchmark(&findings->context->policy, series);
	return benchmark && benchmark->better == POLICY_HIGHER;
}

double findings_percent_of(const struct findings *findings, const char *series, double step)
{
	return stats_percent(is_higher_better(findings, series) ? -step : step);
}

double findings_percent(const struct findings *findings, double step)
{
	return findings_percent_of(findings, findings->hunt->series, step);
}

bool report_is_companion(const struct store_hunt *first, const struct store_hunt *second)
{
	return first->id < second->id && first->night && first->night == second->night &&
	       !first->origin && !second->origin && first->culprit[0] &&
	       strcmp(first->culprit, second->culprit) == 0;
}

void findings_free(struct findings *findings)
{
	commit_info_free(&findings->culprit);
	series_free(findings->good, findings->good_count);
	series_free(findings->bad, findings->bad_count);
	store_boots_free(findings->good_boots, findings->good_boot_count);
	store_boots_free(findings->bad_boots, findings->bad_boot_count);
	store_hunt_events_free(findings->events, findings->event_count);
	store_hunts_free(findings->follow_ups, findings->follow_up_count);
	store_hunts_free(findings->companions, findings->companion_count);
	free(findings->set);
}

static int load_boots(struct store *store, enum trial_purpose purpose, int64_t owner,
		      struct findings *findings, struct error *err)
{
	store_boots_free(findings->good_boots, findings->good_boot_count);
	store_boots_free(findings->bad_boots, findings->bad_boot_count);
	findings->good_boots = findings->bad_boots = NULL;
	findings->good_boot_count = findings->bad_boot_count = 0;
	return store_boots(store, purpose, owner, findings->parent, NULL, &findings->good_boots,
			   &findings->good_boot_count, err) < 0 ||
			       store_boots(store, purpose, owner, findings->suspect, NULL,
					   &findings->bad_boots, &findings->bad_boot_count, err) < 0
		       ? -1
		       : 0;
}

static void move_hunt(struct store_hunt *from, struct store_hunt *list, size_t *count)
{
	list[(*count)++] = *from;
	*from = (struct store_hunt){0};
}

static int load_relatives(struct findings *findings, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	const struct store_hunt *own = findings->hunt;
	if (store_list_hunts(findings->context->store, own->night, false, &hunts, &count, err) < 0)
		return -1;
	findings->follow_ups = memory_array(count, sizeof(*hunts));
	findings->companions = memory_array(count, sizeof(*hunts));
	for (size_t i = 0; i < count; i++) {
		if (hunts[i].origin == own->id)
			move_hunt(&hunts[i], findings->follow_ups, &findings->follow_up_count);
		else if (report_is_companion(own, &hunts[i]))
			move_hunt(&hunts[i], findings->companions, &findings->companion_count);
	}
	store_hunts_free(hunts, count);
	return 0;
}

static int load_records(struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	struct store *store = findings->context->store;
	findings->is_set = hunt->kind && strcmp(hunt->kind, hunt_answer_kind_name(HUNT_SET)) == 0;
	if (hunt_confirmed_pair(store, hunt, findings->parent, findings->suspect, err) < 0 ||
	    source_tree_commit_info(findings->context->source, findings->suspect,
				    &findings->culprit, err) < 0 ||
	    load_boots(store, PURPOSE_HUNT, hunt->id, findings, err) < 0)
		return -1;
	/* A hunt whose ends had been measured by the night's retest may have booted neither. */
	if (hunt->night && !hunt->confirm_pairs &&
	    (!findings->good_boot_count || !findings->bad_boot_count) &&
	    load_boots(store, PURPOSE_RETEST, hunt->night, findings, err) < 0)
		return -1;
	if (store_get_hunt_events(store, hunt->id, &findings->events, &findings->event_count, err) <
		    0 ||
	    store_get_hunt_set(store, hunt->id, &findings->set, &findings->set_count, err) < 0)
		return -1;
	return load_relatives(findings, err);
}

int findings_load(struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	if (context_open_source(findings->context, err) < 0 || load_records(findings, err) < 0)
		return -1;
	series_group(findings->good_boots, findings->good_boot_count, &findings->good,
		     &findings->good_count);
	series_group(findings->bad_boots, findings->bad_boot_count, &findings->bad,
		     &findings->bad_count);
	findings->higher_is_better = is_higher_better(findings, hunt->series);
	/* A hunt that never measured both ends knows only what the night had seen. */
	findings->step = hunt->reproduce_pairs > 1 || hunt->confirm_pairs ? hunt->step
									  : hunt->rule.flagged_step;
	return 0;
}
