/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/robust.h"
#include "sentinel/conductor.h"

/* The change of a metric in its own direction: +12.5 for a time that grew, -11.1 for a rate that
   fell by the same step. */
static double metric_percent(double step, bool higher_is_better)
{
	return stats_percent(higher_is_better ? -step : step);
}

/* Everything that one mail is made from. */
struct findings {
	struct context *context;
	const struct store_hunt *hunt;
	struct commit_info culprit;  /* of the bad end when there is no culprit */
	char parent[OBJECT_ID_SIZE]; /* or what was booted in its stead; the good end */
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
	bool higher_is_better;
	double step; /* log scale */
};

static void findings_free(struct findings *findings)
{
	commit_info_free(&findings->culprit);
	series_free(findings->good, findings->good_count);
	series_free(findings->bad, findings->bad_count);
	store_boots_free(findings->good_boots, findings->good_boot_count);
	store_boots_free(findings->bad_boots, findings->bad_boot_count);
	store_hunt_events_free(findings->events, findings->event_count);
}

static int findings_load(struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	struct store *store = findings->context->store;
	const char *suspect = hunt->culprit[0] ? hunt->culprit : hunt->bad;
	if (context_open_source(findings->context, err) < 0 ||
	    source_tree_commit_info(findings->context->source, suspect, &findings->culprit, err) <
		    0 ||
	    conductor_rival(findings->context, hunt, findings->parent, err) < 0 ||
	    store_boots(store, PURPOSE_HUNT, hunt->id, findings->parent, NULL,
			&findings->good_boots, &findings->good_boot_count, err) < 0 ||
	    store_boots(store, PURPOSE_HUNT, hunt->id, suspect, NULL, &findings->bad_boots,
			&findings->bad_boot_count, err) < 0 ||
	    store_get_hunt_events(store, hunt->id, &findings->events, &findings->event_count, err) <
		    0)
		return -1;
	series_group(findings->good_boots, findings->good_boot_count, &findings->good,
		     &findings->good_count);
	series_group(findings->bad_boots, findings->bad_boot_count, &findings->bad,
		     &findings->bad_count);
	const struct policy_benchmark *benchmark =
		judge_benchmark(&findings->context->policy, hunt->series);
	findings->higher_is_better = benchmark && benchmark->better == POLICY_HIGHER;
	/* A hunt that never measured both ends knows only what the night had seen. */
	findings->step = hunt->reproduce_pairs > 1 || hunt->culprit[0] ? hunt->step
								       : hunt->rule.flagged_step;
	return 0;
}

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
	double percent = metric_percent(findings->step, findings->higher_is_better);
	auto_free char *tree = text_format("[%s:%s]", findings->context->tree->name,
					   findings->context->tree->branch);
	if (!hunt->culprit[0])
		return text_format("%s %s..%s: %s %+.1f%% regression, culprit not pinned down",
				   tree, short_id(hunt->good), short_id(hunt->bad), hunt->series,
				   percent);
	auto_free char *subsystem = subsystem_of(findings->culprit.subject);
	return text_format("%s %s%s: %s %+.1f%% regression", tree, subsystem,
			   short_id(hunt->culprit), hunt->series, percent);
}

const char *report_sureness(double probability, char buffer[static 16])
{
	if (probability > 0.999)
		return "more than 99.9 %";
	snprintf(buffer, 16, "%.1f %%", 100 * probability);
	return buffer;
}

static void add_opening(struct text *body, const struct findings *findings)
{
	char buffer[16];
	const struct store_hunt *hunt = findings->hunt;
	double percent = metric_percent(findings->step, findings->higher_is_better);
	if (hunt->culprit[0])
		text_printf(body,
			    "Hello,\n\nSentinel noticed a %+.1f%% change of %s (%s is better) and\n"
			    "is %s sure, from %lld boots, that it came with this commit:\n\n",
			    percent, hunt->series, findings->higher_is_better ? "higher" : "lower",
			    report_sureness(hunt->probability, buffer), (long long)hunt->boots);
	else
		text_printf(body,
			    "Hello,\n\nSentinel saw a %+.1f%% change of %s (%s is better),\n"
			    "but %lld boots did not pin it on one commit: %s (%s).\n\n",
			    percent, hunt->series, findings->higher_is_better ? "higher" : "lower",
			    (long long)hunt->boots, hunt->kind, hunt->reason);
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

static int add_set(struct text *body, const struct findings *findings, struct error *err)
{
	if (findings->hunt->culprit[0])
		return 0;
	char(*set)[OBJECT_ID_SIZE];
	size_t count;
	if (store_get_hunt_set(findings->context->store, findings->hunt->id, &set, &count, err) < 0)
		return -1;
	if (count)
		text_printf(body, "It is one of these (%.1f %%):\n",
			    100 * findings->hunt->probability);
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		auto_commit_info struct commit_info info = {0};
		result = source_tree_commit_info(findings->context->source, set[i], &info, err);
		if (result < 0)
			break;
		auto_free char *subject = text_one_line(info.subject, 100);
		text_printf(body, "  %s %s\n", short_id(set[i]), subject);
	}
	if (count)
		text_append(body, "\n");
	free(set);
	return result;
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

/* The mean of the boots of one commit, log scale; false when there is none. */
static bool mean_of(const struct store_boot *boots, size_t count, const char *commit,
		    double *ret_mean)
{
	double sum = 0;
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct series_boots *series;
		size_t series_count;
		if (strcmp(boots[i].commit, commit) != 0 || !boots[i].count)
			continue;
		series_group(&boots[i], 1, &series, &series_count);
		sum += series[0].values[0];
		used++;
		series_free(series, series_count);
	}
	*ret_mean = used ? sum / (double)used : 0;
	return used > 0;
}

static int add_revert(struct text *body, const struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	bool applied;
	char revert[OBJECT_ID_SIZE];
	double with;
	double without;
	if (source_tree_revert(findings->context->source, hunt->culprit, hunt->bad, &applied,
			       revert, err) < 0)
		return -1;
	if (!applied) {
		text_append(body, "- it does not revert cleanly on top of the bad end\n");
		return 0;
	}
	struct store_boot *boots;
	size_t count;
	if (store_boots(findings->context->store, PURPOSE_REVERT, hunt->id, NULL, hunt->series,
			&boots, &count, err) < 0)
		return -1;
	if (mean_of(boots, count, hunt->bad, &with) && mean_of(boots, count, revert, &without))
		text_printf(
			body,
			"- reverted on top of the bad end, in fresh interleaved boots: %+.1f%%\n",
			metric_percent(without - with, findings->higher_is_better));
	else
		text_append(body, "- reverted on top of the bad end, it gave no valid number\n");
	store_boots_free(boots, count);
	return 0;
}

static int add_proof(struct text *body, const struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	bool higher = findings->higher_is_better;
	double lower = metric_percent(hunt->step_lower, higher);
	double upper = metric_percent(hunt->step_upper, higher);
	if (!hunt->reproduce_pairs)
		return 0;
	text_printf(body,
		    "Proof:\n- both ends were measured again in %lld fresh interleaved pairs\n",
		    (long long)hunt->reproduce_pairs);
	if (hunt->culprit[0]) {
		text_printf(body,
			    "- culprit and %.10s were measured in %lld fresh interleaved pairs:\n"
			    "  %+.1f%%, 95 %% interval %+.1f%% to %+.1f%%\n"
			    "- both build to different images\n",
			    findings->parent, (long long)hunt->confirm_pairs,
			    metric_percent(hunt->step, higher), fmin(lower, upper),
			    fmax(lower, upper));
		if (add_revert(body, findings, err) < 0)
			return -1;
	}
	text_append(body, "\n");
	return 0;
}

static void add_table_row(struct text *body, const struct series_boots *good,
			  const struct series_boots *bad)
{
	double before = stats_mean(good->means, good->count);
	double after = stats_mean(bad->means, bad->count);
	text_printf(body, "%14.6g ±%5.1f%% %+9.1f%% %14.6g ±%5.1f%%  %s (%s)\n", before,
		    100 * stats_deviation(good->means, good->count) / before,
		    100 * (after / before - 1), after,
		    100 * stats_deviation(bad->means, bad->count) / after, bad->series, bad->unit);
}

static void add_table(struct text *body, const struct findings *findings)
{
	const char *series = findings->hunt->series;
	const char *right =
		findings->hunt->culprit[0] ? findings->hunt->culprit : findings->hunt->bad;
	text_append(body,
		    "========================================================================\n");
	text_printf(body, "%22s %10s %22s\n", short_id(findings->parent), "%change",
		    short_id(right));
	text_append(body,
		    "------------------------------------------------------------------------\n");
	/* The headline first, then what else moved. */
	for (int headline = 1; headline >= 0; headline--)
		for (size_t i = 0; i < findings->bad_count; i++) {
			const struct series_boots *bad = &findings->bad[i];
			const struct series_boots *good =
				series_find(findings->good, findings->good_count, bad->series);
			if (good && (strcmp(bad->series, series) == 0) == (headline == 1))
				add_table_row(body, good, bad);
		}
	text_append(body,
		    "Mean over boots ± standard deviation of boots; %change = new/old - 1.\n\n");
}

static int add_bisection_log(struct text *body, const struct findings *findings, struct error *err)
{
	text_append(body, "What was measured (change against the first boot, plus is worse):\n");
	double first = 0;
	bool have_first = false;
	for (size_t i = 0; i < findings->event_count; i++) {
		const struct store_hunt_event *event = &findings->events[i];
		auto_commit_info struct commit_info info = {0};
		if (source_tree_commit_info(findings->context->source, event->commit, &info, err) <
		    0)
			return -1;
		auto_free char *subject = text_one_line(info.subject, 60);
		text_printf(body, "  %-9s %s ", hunt_stage_name(event->stage),
			    short_id(event->commit));
		if (event->kind == HUNT_MEASURED) {
			if (!have_first)
				first = event->value;
			have_first = true;
			text_printf(body, "%+7.2f%% ", stats_percent(event->value - first));
		} else if (event->kind == HUNT_SAME_IMAGE) {
			text_printf(body, "same image as %s ", short_id(event->other));
		} else {
			auto_free char *reason = text_one_line(event->reason, 160);
			text_printf(body, "skipped: %s ", reason);
		}
		text_printf(body, "\"%s\"\n", subject);
	}
	text_append(body, "\n");
	return 0;
}

static void add_closing(struct text *body, const struct findings *findings)
{
	const struct store_hunt *hunt = findings->hunt;
	const char *suspect = hunt->culprit[0] ? hunt->culprit : hunt->bad;
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
		"accept the step instead, the operator runs \"sentinel baseline set %s\".\n\n"
		"-- \nSentinel %s, a robot that measures kernels every night\n",
		name, short_id(hunt->bad), SENTINEL_VERSION);
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
	if (add_set(&body, &findings, err) < 0)
		return -1;
	add_machine(&body, &findings);
	if (add_proof(&body, &findings, err) < 0)
		return -1;
	add_table(&body, &findings);
	if (add_bisection_log(&body, &findings, err) < 0)
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
