/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "bisect/culprit.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/report.h"
#include "sentinel/report_findings.h"

/* Above this the effect may be one of where functions happen to lie. */
#define LAYOUT_SHARE_LIMIT 0.2
#define SET_LIMIT 20

/* The words of the IPCC's guidance note on uncertainty (2010). */
static const struct {
	double least;
	const char *words;
} sureness_words[] = {
	{0.99, "virtually certain"},
	{0.95, "extremely likely"},
	{0.9, "very likely"},
	{0.66, "likely"},
	{0.33, "about as likely as not"},
	{0, "unlikely"},
};

const char *report_sureness(double probability, char buffer[static 16])
{
	if (probability > 0.999)
		return "more than 99.9 %";
	snprintf(buffer, 16, "%.1f %%", 100 * probability);
	return buffer;
}

const char *report_sureness_words(double probability)
{
	size_t i = 0;
	while (i + 1 < array_length(sureness_words) && !(probability >= sureness_words[i].least))
		i++;
	return sureness_words[i].words;
}

static int add_set(struct text *body, const struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	char buffer[16];
	if (!findings->set_count)
		return 0;
	if (hunt->culprit[0] && findings->set_count == 1) {
		text_append(body,
			    "- the smallest set that holds it with 95 % is this commit alone\n");
		return 0;
	}
	text_printf(body, "- with %s it is one of these%s:\n",
		    findings->is_set ? report_sureness(hunt->probability, buffer) : "95 %",
		    findings->is_set ? ", which nothing testable tells apart"
				     : ", the likeliest first");
	for (size_t i = 0; i < findings->set_count && i < SET_LIMIT; i++) {
		text_append(body, "    ");
		if (report_add_commit_line(body, findings, findings->set[i], err) < 0)
			return -1;
		text_append(body, "\n");
	}
	if (findings->set_count > SET_LIMIT)
		text_printf(body, "    and %zu others\n", findings->set_count - SET_LIMIT);
	return 0;
}

static size_t count_untestable(const struct findings *findings)
{
	size_t count = 0;
	for (size_t i = 0; i < findings->event_count; i++)
		count += findings->events[i].kind == HUNT_UNTESTABLE;
	return count;
}

static void add_spending(struct text *body, const struct findings *findings)
{
	const struct store_hunt *hunt = findings->hunt;
	int64_t minutes = (hunt->ended_seconds - hunt->started_seconds) / 60;
	text_printf(body,
		    "- boots spent: %lld by the hunt (%lld to reproduce, %lld to search, "
		    "%lld to confirm)",
		    (long long)hunt->boots, (long long)hunt->reproduce_boots,
		    (long long)hunt->search_boots, (long long)hunt->confirm_boots);
	if (hunt->retest_boots)
		text_printf(body, ", %lld by the retest", (long long)hunt->retest_boots);
	text_printf(body, "\n- %lld kernels beside the two ends were booted",
		    (long long)hunt->builds);
	if (hunt->ended_seconds)
		text_printf(body, "; the hunt took %lld h %02lld min", (long long)minutes / 60,
			    (long long)minutes % 60);
	text_append(body, "\n");
}

/* Did no part of the range differ when it was measured again? */
static bool are_refuted(const struct findings *findings)
{
	const char *refuted = hunt_answer_kind_name(HUNT_NOT_REPRODUCIBLE);
	for (size_t i = 0; i < findings->follow_up_count; i++) {
		const struct store_hunt *hunt = &findings->follow_ups[i];
		if (!hunt->finished || strcmp(hunt->kind, refuted) != 0)
			return false;
	}
	return findings->follow_up_count > 0;
}

int report_add_sureness(struct text *body, const struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	size_t untestable = count_untestable(findings);
	char buffer[16];
	text_append(body, "How sure:\n");
	if (hunt->culprit[0])
		text_printf(body, "- %s: %s\n", report_sureness(hunt->probability, buffer),
			    report_sureness_words(hunt->probability));
	if (add_set(body, findings, err) < 0)
		return -1;
	if (untestable)
		text_printf(body, "- %zu commit%s could not be tested, see below\n", untestable,
			    untestable == 1 ? "" : "s");
	if (hunt->layout_share > LAYOUT_SHARE_LIMIT)
		text_printf(body,
			    "- the effect is comparable to layout noise: builds of the same source "
			    "differ by\n  %.0f %% of it\n",
			    100 * hunt->layout_share);
	if (hunt->more_steps)
		text_append(body, are_refuted(findings)
					  ? "- one change does not explain what was measured, but "
					    "before and after\n  it no other showed when looked "
					    "for: builds differ by more than was known\n"
					  : "- one change does not explain what was measured: "
					    "there is another one\n");
	add_spending(body, findings);
	text_append(body, "- how often such claims are right: docs/ACCURACY.md of Sentinel\n\n");
	return 0;
}

void report_add_companions(struct text *body, const struct findings *findings)
{
	if (findings->companion_count)
		text_append(body, "Hunts for other series ended at the same commit:\n");
	for (size_t i = findings->companion_count; i-- > 0;) {
		const struct store_hunt *hunt = &findings->companions[i];
		char buffer[16];
		text_printf(body, "- %s: %+.1f%%, %s sure, %lld boots\n", hunt->series,
			    findings_percent_of(findings, hunt->series, hunt->step),
			    report_sureness(hunt->probability, buffer), (long long)hunt->boots);
	}
	if (findings->companion_count)
		text_append(body, "\n");
}

int report_add_follow_ups(struct text *body, const struct findings *findings, struct error *err)
{
	if (findings->follow_up_count)
		text_append(body, "Other changes between the same ends:\n");
	for (size_t i = findings->follow_up_count; i-- > 0;) {
		const struct store_hunt *hunt = &findings->follow_ups[i];
		char buffer[16];
		text_printf(body, "- %s..%s: ", short_id(hunt->good), short_id(hunt->bad));
		if (!hunt->culprit[0]) {
			text_printf(body, "%s%s%s\n", hunt->finished ? hunt->kind : "unfinished",
				    hunt->reason && hunt->reason[0] ? ": " : "",
				    hunt->reason ? hunt->reason : "");
			continue;
		}
		text_printf(body, "%+.1f%%, %s sure, ", findings_percent(findings, hunt->step),
			    report_sureness(hunt->probability, buffer));
		if (report_add_commit_line(body, findings, hunt->culprit, err) < 0)
			return -1;
		text_append(body, "\n");
	}
	if (findings->follow_up_count)
		text_append(body, "\n");
	return 0;
}
