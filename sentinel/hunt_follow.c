/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/hunt_follow.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

static int64_t origin_of(const struct store_hunt *hunt)
{
	return hunt->origin ? hunt->origin : hunt->id;
}

/* How many hunts have this origin, and whether one of them is between these ends. */
static int count_relatives(const struct chase *chase, const char *good, const char *bad,
			   size_t *ret_count, bool *ret_there, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(chase->context->store, chase->hunt->night, false, &hunts, &count,
			     err) < 0)
		return -1;
	*ret_count = 0;
	*ret_there = false;
	for (size_t i = 0; i < count; i++) {
		if (origin_of(&hunts[i]) != origin_of(chase->hunt))
			continue;
		*ret_count += 1;
		*ret_there |= strcmp(hunts[i].good, good) == 0 && strcmp(hunts[i].bad, bad) == 0;
	}
	store_hunts_free(hunts, count);
	return 0;
}

static int add(const struct chase *chase, const struct hunt_answer *answer, const char *good,
	       const char *bad, struct error *err)
{
	const struct store_hunt *hunt = chase->hunt;
	size_t relatives;
	bool there;
	if (strcmp(good, bad) == 0)
		return 0;
	if (count_relatives(chase, good, bad, &relatives, &there, err) < 0)
		return -1;
	if (there || relatives >= HUNT_FOLLOW_LIMIT)
		return 0;
	auto_cleanup(store_hunt_free) struct store_hunt next = {
		.night = hunt->night,
		.origin = origin_of(hunt),
		.tree_name = text_copy(hunt->tree_name),
		.machine = text_copy(hunt->machine),
		.series = text_copy(hunt->series),
		.rule = hunt->rule,
		.started_seconds = clock_utc_seconds(),
	};
	/* What this culprit leaves unexplained; never less than what is worth hunting. */
	next.rule.flagged_step =
		fmax(fabs(hunt->rule.flagged_step - answer->step), 2 * hunt->rule.minimum_step);
	if (!(next.rule.flagged_step > 0))
		next.rule.flagged_step = hunt->rule.flagged_step;
	memcpy(next.good, good, OBJECT_ID_SIZE);
	memcpy(next.bad, bad, OBJECT_ID_SIZE);
	if (store_add_hunt(chase->context->store, &next, err) < 0)
		return -1;
	log_notice("hunt %lld: there is more than one change; hunt %lld looks between %s and %s",
		   (long long)hunt->id, (long long)next.id, short_id(good), short_id(bad));
	return 0;
}

int hunt_follow_queue(const struct chase *chase, const struct hunt_answer *answer,
		      struct error *err)
{
	const struct commit_range *range = &chase->range;
	size_t culprit = answer->culprit;
	size_t parent = range->parent_counts[culprit] ? range->parents[culprit][0] : 0;
	if (add(chase, answer, range->ids[0], range->ids[parent], err) < 0)
		return -1;
	return add(chase, answer, range->ids[culprit], range->ids[range->count - 1], err);
}

int hunt_follow_next(struct context *context, const struct store_hunt *hunt,
		     struct store_hunt *ret_next, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	size_t oldest;
	if (store_list_hunts(context->store, hunt->night, true, &hunts, &count, err) < 0)
		return -1;
	for (oldest = count; oldest > 0; oldest--)
		if (hunts[oldest - 1].origin == origin_of(hunt))
			break;
	if (oldest > 0) {
		*ret_next = hunts[oldest - 1];
		hunts[oldest - 1] = (struct store_hunt){0};
	}
	store_hunts_free(hunts, count);
	return 0;
}
