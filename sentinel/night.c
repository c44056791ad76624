/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/night.h"

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"
#include "sentinel/report.h"

#define UNFINISHED_LOOKED_AT 1000

int night_begin(struct context *context, const char *kind, const char *head,
		struct store_night *ret_night, struct error *err)
{
	struct store_baseline baseline = {0};
	if (store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       true, &baseline, err) < 0)
		return -1;
	int64_t id = baseline.id;
	store_baseline_free(&baseline);
	if (!id)
		return error_set(
			err, ERROR_USAGE,
			"tree %s has no complete baseline on %s; run \"sentinel baseline set "
			"REV\" first",
			context->tree->name, context->machine_policy->name);
	*ret_night = (struct store_night){
		.kind = text_copy(kind),
		.tree_name = text_copy(context->tree->name),
		.machine = text_copy(context->machine_policy->name),
		.baseline = id,
		.retest_pairs = context->policy.night.retest_pairs,
		.layouts = context->policy.night.layout_builds,
		.state = NIGHT_MEASURING,
		.started_seconds = clock_utc_seconds(),
	};
	memcpy(ret_night->head, head, OBJECT_ID_SIZE);
	return store_add_night(context->store, ret_night, err);
}

int night_find_unfinished(struct context *context, const char *kind, struct store_night *ret_night,
			  struct error *err)
{
	struct store_night *nights;
	size_t count;
	if (store_list_nights(context->store, kind, true, UNFINISHED_LOOKED_AT, &nights, &count,
			      err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		bool ours = strcmp(nights[i].tree_name, context->tree->name) == 0 &&
			    strcmp(nights[i].machine, context->machine_policy->name) == 0;
		if (ours && !ret_night->id)
			*ret_night = nights[i];
		else
			store_night_free(&nights[i]);
	}
	free(nights);
	return 0;
}

int night_print(struct context *context, const struct store_night *night, struct error *err)
{
	if (context->json) {
		json_t *value;
		if (report_night_json(context, night, &value, err) < 0)
			return -1;
		context_print_json(value);
		return 0;
	}
	auto_text struct text text = {0};
	if (report_night(context, night, &text, err) < 0)
		return -1;
	fputs(text.data, stdout);
	return 0;
}

bool night_is_bad(const struct store_night *night)
{
	return night->outcome && (strcmp(night->outcome, NIGHT_REGRESSION) == 0 ||
				  strcmp(night->outcome, NIGHT_KNOWN) == 0 ||
				  strcmp(night->outcome, NIGHT_CREEP) == 0 ||
				  text_starts_with(night->outcome, "failed-"));
}

bool night_is_judged(const struct store_night *night)
{
	return night->outcome && !text_starts_with(night->outcome, NIGHT_NOT_JUDGED);
}
