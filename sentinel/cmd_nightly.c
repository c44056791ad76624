/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/night.h"

enum { DAY_SECONDS = 86400, REMEASURE_DAYS = 30 };

/* The newest night when it is finished and judged this very head against this very baseline. */
static int find_judged(struct context *context, const char *head, struct store_night *ret_night,
		       bool *ret_found, struct error *err)
{
	*ret_found = false;
	struct store_baseline baseline = {0};
	if (store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       true, &baseline, err) < 0)
		return -1;
	struct store_night *nights;
	size_t count;
	int64_t baseline_id = baseline.id;
	store_baseline_free(&baseline);
	if (store_list_nights(context->store, "nightly", false, 1, &nights, &count, err) < 0)
		return -1;
	if (count && strcmp(nights[0].head, head) == 0 && nights[0].baseline == baseline_id &&
	    night_is_judged(&nights[0])) {
		*ret_night = nights[0];
		*ret_found = true;
		free(nights);
		return 0;
	}
	store_nights_free(nights, count);
	return 0;
}

static int tonight(struct context *context, struct store_night *ret_night, struct error *err)
{
	char head[OBJECT_ID_SIZE];
	bool found;
	log_notice("fetch %s", context->tree->name);
	if (source_tree_fetch(context->source, err) < 0 ||
	    source_tree_head(context->source, head, err) < 0 ||
	    find_judged(context, head, ret_night, &found, err) < 0)
		return -1;
	if (!found)
		return night_begin(context, "nightly", head, ret_night, err);
	log_notice("head %s was judged in night %lld; nothing new to measure", short_id(head),
		   (long long)ret_night->id);
	return 0;
}

/* What an interruption left behind comes first; then tonight's head. */
static int finish_earlier(struct context *context, struct error *err)
{
	auto_cleanup(store_night_free) struct store_night night = {0};
	if (night_find_unfinished(context, "nightly", &night, err) < 0)
		return -1;
	return night.id ? conductor_night(context, &night, err) : 0;
}

/* A machine drifts; without fresh boots of the pinned kernel that looks like a creep. */
static int remind(struct context *context, const struct store_night *night, struct error *err)
{
	struct store_baseline baseline = {0};
	if (store_get_baseline_by_id(context->store, night->baseline, &baseline, err) < 0)
		return -1;
	int64_t days = (clock_utc_seconds() - baseline.measured_seconds) / DAY_SECONDS;
	if (days > REMEASURE_DAYS)
		log_notice("the pinned kernel %s was last measured %lld days ago; \"sentinel "
			   "baseline remeasure\" tells a drifting machine from creeping commits",
			   short_id(baseline.commit), (long long)days);
	store_baseline_free(&baseline);
	return 0;
}

int cmd_nightly(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		struct error *err)
{
	auto_cleanup(store_night_free) struct store_night night = {0};
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    finish_earlier(context, err) < 0 || tonight(context, &night, err) < 0 ||
	    conductor_night(context, &night, err) < 0 || night_print(context, &night, err) < 0 ||
	    remind(context, &night, err) < 0)
		return -1;
	context_tell_time(context);
	if (argument_value(arguments, "--exit-code") && night_is_bad(&night))
		*ret_exit_code = EXIT_REGRESSION;
	return conductor_send_mail(context, false, err);
}
