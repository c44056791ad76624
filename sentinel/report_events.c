/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/conductor.h"
#include "sentinel/report_findings.h"

int report_add_commit_line(struct text *body, const struct findings *findings, const char *commit,
			   struct error *err)
{
	auto_commit_info struct commit_info info = {0};
	if (source_tree_commit_info(findings->context->source, commit, &info, err) < 0)
		return -1;
	auto_free char *subject = text_one_line(info.subject, 100);
	text_printf(body, "%s %s", short_id(commit), subject);
	return 0;
}

static void add_event(struct text *body, const struct store_hunt_event *event, double first)
{
	if (event->kind == HUNT_MEASURED) {
		text_printf(body, "%+7.2f%% ", stats_percent(event->value - first));
		if (event->layout)
			text_printf(body, "(layout %zu) ", event->layout);
	} else if (event->kind == HUNT_SAME_IMAGE) {
		text_printf(body, "same image as %s ", short_id(event->other));
	} else {
		auto_free char *reason = text_one_line(event->reason, 160);
		text_printf(body, "skipped: %s ", reason);
	}
}

int report_add_events(struct text *body, const struct findings *findings, struct error *err)
{
	double first = 0;
	bool have_first = false;
	text_append(body, "What was measured (change against the first boot, plus is worse):\n");
	for (size_t i = 0; i < findings->event_count; i++) {
		const struct store_hunt_event *event = &findings->events[i];
		auto_commit_info struct commit_info info = {0};
		if (source_tree_commit_info(findings->context->source, event->commit, &info, err) <
		    0)
			return -1;
		auto_free char *subject = text_one_line(info.subject, 60);
		if (event->kind == HUNT_MEASURED && !have_first) {
			first = event->value;
			have_first = true;
		}
		text_printf(body, "  %-9s %s ", hunt_stage_name(event->stage),
			    short_id(event->commit));
		add_event(body, event, first);
		text_printf(body, "\"%s\"\n", subject);
	}
	text_append(body, "\n");
	return 0;
}

/* One line of the log: what the hunt believes of this commit in the end. */
static int add_replay_line(struct text *body, const struct findings *findings, const char *commit,
			   bool skipped, struct error *err)
{
	bool bad;
	if (source_tree_is_ancestor(findings->context->source, findings->hunt->culprit, commit,
				    &bad, err) < 0)
		return -1;
	text_printf(body, "  git bisect %s %s\n", skipped ? "skip" : bad ? "bad" : "good", commit);
	return 0;
}

static bool was_told(const struct findings *findings, size_t index)
{
	const char *commit = findings->events[index].commit;
	if (strcmp(commit, findings->hunt->good) == 0 || strcmp(commit, findings->hunt->bad) == 0)
		return true;
	for (size_t i = 0; i < index; i++)
		if (strcmp(findings->events[i].commit, commit) == 0)
			return true;
	return false;
}

int report_add_replay(struct text *body, const struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	if (!hunt->culprit[0])
		return 0;
	text_printf(body,
		    "The same for \"git bisect replay\":\n"
		    "  git bisect start\n  git bisect bad %s\n  git bisect good %s\n",
		    hunt->bad, hunt->good);
	for (size_t i = 0; i < findings->event_count; i++) {
		const struct store_hunt_event *event = &findings->events[i];
		if (!was_told(findings, i) &&
		    add_replay_line(body, findings, event->commit, event->kind == HUNT_UNTESTABLE,
				    err) < 0)
			return -1;
	}
	text_append(body, "\n");
	return 0;
}
