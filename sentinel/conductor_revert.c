/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include "sentinel/base/log.h"
#include "sentinel/planner.h"

#define REVERT_PAIRS 2

static int measure(struct context *context, const struct store_hunt *hunt, int64_t sequence,
		   const char *commit, const char *plan, bool *ret_stored, struct error *err)
{
	auto_store_trial struct store_trial trial = {0};
	*ret_stored = false;
	if (conductor_trial(context, PURPOSE_REVERT, hunt->id, sequence, commit, 0, plan, &trial,
			    err) < 0) {
		/* What the revert takes away may be what the configuration wants. */
		if (err->kind != ERROR_USAGE)
			return -1;
		log_notice("hunt %lld: the revert is not measured: %s", (long long)hunt->id,
			   err->message);
		return 0;
	}
	if (trial.state == TRIAL_FAILED_HOST)
		return error_set(
			err, ERROR_SYSTEM,
			"trial %lld failed for this host's own reasons: %s; mend it, then run "
			"\"sentinel resume\"",
			(long long)trial.id, trial.reason ? trial.reason : "unknown");
	*ret_stored = trial.state == TRIAL_STORED;
	return 0;
}

int conductor_measure_revert(struct context *context, const struct store_hunt *hunt,
			     const char *culprit, const char *plan, struct error *err)
{
	bool applied;
	char revert[OBJECT_ID_SIZE];
	if (source_tree_revert(context->source, culprit, hunt->bad, &applied, revert, err) < 0)
		return -1;
	if (!applied) {
		log_notice("hunt %lld: %s does not revert cleanly on top of %s",
			   (long long)hunt->id, short_id(culprit), short_id(hunt->bad));
		return 0;
	}
	bool stored = true;
	for (int64_t i = 0; i < 2 * REVERT_PAIRS && stored; i++) {
		const char *commit = planner_retest_is_head(i) ? revert : hunt->bad;
		log_notice("hunt %lld: revert of %s, boot %lld of %d", (long long)hunt->id,
			   short_id(culprit), (long long)i + 1, 2 * REVERT_PAIRS);
		if (measure(context, hunt, i, commit, plan, &stored, err) < 0)
			return -1;
	}
	return 0;
}
