/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/report_findings.h"

/* No model of the noise is right further out. */
#define ODDS_SHOWN 1e6

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
			findings_percent(findings, without - with));
	else
		text_append(body, "- reverted on top of the bad end, it gave no valid number\n");
	store_boots_free(boots, count);
	return 0;
}

int report_add_proof(struct text *body, const struct findings *findings, struct error *err)
{
	const struct store_hunt *hunt = findings->hunt;
	double lower = findings_percent(findings, hunt->step_lower);
	double upper = findings_percent(findings, hunt->step_upper);
	if (!hunt->reproduce_pairs)
		return 0;
	text_printf(body,
		    "Proof:\n- both ends were measured again in %lld fresh interleaved pairs\n",
		    (long long)hunt->reproduce_pairs);
	if (hunt->confirm_pairs) {
		text_printf(body,
			    "- %.10s and %.10s were measured in %lld fresh interleaved pairs:\n"
			    "  %+.1f%%, 95 %% interval %+.1f%% to %+.1f%%\n",
			    findings->suspect, findings->parent, (long long)hunt->confirm_pairs,
			    findings_percent(findings, hunt->step), fmin(lower, upper),
			    fmax(lower, upper));
		if (hunt->confirm_odds > ODDS_SHOWN)
			text_append(body, "- these pairs are more than a million times likelier "
					  "with this answer than without it\n");
		else if (hunt->confirm_odds > 1)
			text_printf(body,
				    "- these pairs are %.0f times likelier with this answer than "
				    "without it\n",
				    hunt->confirm_odds);
		text_append(body, "- both build to different images\n");
		if (hunt->culprit[0] && add_revert(body, findings, err) < 0)
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

void report_add_table(struct text *body, const struct findings *findings)
{
	const char *series = findings->hunt->series;
	text_append(body,
		    "========================================================================\n");
	text_printf(body, "%22s %10s %22s\n", short_id(findings->parent), "%change",
		    short_id(findings->suspect));
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
