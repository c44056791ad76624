/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/report.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/digest.h"
#include "sentinel/report_findings.h"

/* "fs/pipe" of "fs/pipe: simplify …": what the subject's author named, made safe. */
static char *subsystem_of(const char *subject)
{
	size_t length = strcspn(subject, ":");
	if (subject[length] != ':' || length > 40 || memchr(subject, ' ', length))
		return text_copy("");
	auto_free char *prefix = text_format("%.*s", (int)length, subject);
	auto_free char *safe = text_one_line(prefix, 40);
	return text_format("[%s] ", safe);
}

static char *make_subject(const struct findings *findings)
{
	const struct store_hunt *hunt = findings->hunt;
	double percent = findings_percent(findings, findings->step);
	auto_free char *tree = text_format("[%s:%s]", findings->context->tree->name,
					   findings->context->tree->branch);
	if (findings->is_set)
		return text_format("%s %s..%s: %s %+.1f%% regression, one of %zu commits", tree,
				   short_id(hunt->good), short_id(hunt->bad), hunt->series, percent,
				   findings->set_count);
	if (!hunt->culprit[0])
		return text_format("%s %s..%s: %s %+.1f%% regression, culprit not pinned down",
				   tree, short_id(hunt->good), short_id(hunt->bad), hunt->series,
				   percent);
	auto_free char *subsystem = subsystem_of(findings->culprit.subject);
	return text_format("%s %s%s: %s %+.1f%% regression", tree, subsystem,
			   short_id(hunt->culprit), hunt->series, percent);
}

static void add_opening(struct text *body, const struct findings *findings)
{
	char buffer[16];
	const struct store_hunt *hunt = findings->hunt;
	double percent = findings_percent(findings, findings->step);
	if (hunt->culprit[0])
		text_printf(body,
			    "Hello,\n\nSentinel noticed a %+.1f%% change of %s (%s is better) and\n"
			    "is %s sure, from %lld boots, that it came with this commit:\n\n",
			    percent, hunt->series, findings->higher_is_better ? "higher" : "lower",
			    report_sureness(hunt->probability, buffer),
			    (long long)(hunt->boots + hunt->retest_boots));
	else if (findings->is_set)
		text_printf(body,
			    "Hello,\n\nSentinel noticed a %+.1f%% change of %s (%s is better) and\n"
			    "is %s sure, from %lld boots, that it came with one of %zu commits\n"
			    "that nothing testable tells apart.\n\n",
			    percent, hunt->series, findings->higher_is_better ? "higher" : "lower",
			    report_sureness(hunt->probability, buffer),
			    (long long)(hunt->boots + hunt->retest_boots), findings->set_count);
	else
		text_printf(body,
			    "Hello,\n\nSentinel saw a %+.1f%% change of %s (%s is better),\n"
			    "but %lld boots did not pin it on one commit: %s (%s).\n\n",
			    percent, hunt->series, findings->higher_is_better ? "higher" : "lower",
			    (long long)(hunt->boots + hunt->retest_boots), hunt->kind,
			    hunt->reason);
}

/* The kernel compared with is a parent, or the nearest that builds, boots and differs. */
static const char *rival_label(const struct findings *findings)
{
	char parents[8][OBJECT_ID_SIZE];
	size_t count = 0;
	if (source_tree_parents(findings->context->source, findings->hunt->culprit, parents,
				array_length(parents), &count, NULL) < 0)
		return "against:";
	for (size_t i = 0; i < count; i++)
		if (strcmp(parents[i], findings->parent) == 0)
			return "parent:";
	return "against:";
}

static void add_commit(struct text *body, const struct findings *findings)
{
	const struct store_hunt *hunt = findings->hunt;
	const struct policy_tree *tree = findings->context->tree;
	char date[21];
	if (hunt->culprit[0]) {
		auto_free char *subject = text_one_line(findings->culprit.subject, 200);
		auto_free char *author = text_one_line(findings->culprit.author_name, 100);
		clock_utc_text(findings->culprit.author_seconds, date);
		text_printf(body, "commit: %s (\"%s\")\nauthor: %s, %s\n%-8s%s\n", hunt->culprit,
			    subject, author, date, rival_label(findings), findings->parent);
	}
	auto_free char *url = source_tree_show_url(tree->url);
	text_printf(body, "tree:   %s %s\ngood:   %s\nbad:    %s\n\n", url, tree->branch,
		    hunt->good, hunt->bad);
}

static void add_machine(struct text *body, const struct findings *findings)
{
	const struct machine_facts *facts =
		findings->context->machine ? machine_facts(findings->context->machine) : NULL;
	text_printf(body, "test machine: %s", findings->hunt->machine);
	if (facts)
		text_printf(body, ", %s", facts->description);
	text_append(body, "\n");
	if (findings->bad_boot_count)
		text_printf(body,
			    "clock:        %s\nidentity:     %.16s (results are compared only "
			    "within one identity)\n",
			    findings->bad_boots[0].clock, findings->bad_boots[0].identity);
	for (size_t i = 0; i < findings->bad_boot_count; i++) {
		if (strcmp(findings->bad_boots[i].series, findings->hunt->series) != 0)
			continue;
		text_printf(body, "command:      %s\n", findings->bad_boots[i].command);
		break;
	}
	text_append(body, "\n");
}

static void add_closing(struct text *body, const struct findings *findings)
{
	const struct store_hunt *hunt = findings->hunt;
	const char *suspect = findings->suspect;
	auto_free char *name = text_one_line(findings->context->policy.mail.from, 200);
	text_printf(body,
		    "To reproduce, with this configuration:\n"
		    "  sentinel measure %s\n  sentinel measure %s\n  sentinel compare %s %s\n\n",
		    findings->parent, suspect, short_id(findings->parent), short_id(suspect));
	text_printf(
		body,
		"If you fix this in a separate patch, you may add\n"
		"  Reported-by: %s\n\n"
		"Who must act: the commit's author or the maintainer of the code it touches. To\n"
		"accept the step instead, the operator runs\n  sentinel accept %s\n\n"
		"-- \nSentinel %s, a robot that measures kernels every night\n",
		name, hunt->series, SENTINEL_VERSION);
}

int report_hunt(struct context *context, const struct store_hunt *hunt, char **ret_subject,
		char **ret_body, struct error *err)
{
	auto_cleanup(findings_free) struct findings findings = {.context = context, .hunt = hunt};
	auto_text struct text body = {0};
	if (findings_load(&findings, err) < 0)
		return -1;
	add_opening(&body, &findings);
	add_commit(&body, &findings);
	if (report_add_sureness(&body, &findings, err) < 0)
		return -1;
	report_add_companions(&body, &findings);
	if (report_add_follow_ups(&body, &findings, err) < 0)
		return -1;
	add_machine(&body, &findings);
	if (report_add_proof(&body, &findings, err) < 0)
		return -1;
	report_add_table(&body, &findings);
	if (report_add_events(&body, &findings, err) < 0 ||
	    report_add_replay(&body, &findings, err) < 0)
		return -1;
	add_closing(&body, &findings);
	*ret_subject = make_subject(&findings);
	*ret_body = text_take(&body);
	return 0;
}

char *report_message_id(const struct context *context, const struct store_hunt *hunt)
{
	auto_free char *all = text_format(
		"%s\n%s\n%s\n%s\n%s\n", hunt->tree_name, hunt->machine, hunt->series,
		hunt->culprit[0] ? hunt->culprit : hunt->good, hunt->culprit[0] ? "" : hunt->bad);
	struct digest digest;
	digest_text(all, &digest);
	return text_format("sentinel-%.24s@%s", digest.hex, context->tree->name);
}
