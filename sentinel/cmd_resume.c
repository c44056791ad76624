/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/night.h"
#include "sentinel/report.h"

static int resume_baseline(struct context *context, size_t *done, struct error *err)
{
	auto_cleanup(store_baseline_free) struct store_baseline baseline = {0};
	if (store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       false, &baseline, err) < 0)
		return -1;
	if (!baseline.id || (baseline.complete && !baseline.pending))
		return 0;
	*done += 1;
	return conductor_baseline(context, &baseline, err);
}

static int resume_characterisation(struct context *context, size_t *done, struct error *err)
{
	auto_cleanup(store_characterisation_free) struct store_characterisation characterisation = {
		0};
	if (store_get_characterisation(context->store, context->tree->name,
				       context->machine_policy->name, false, &characterisation,
				       err) < 0)
		return -1;
	if (!characterisation.id || characterisation.complete)
		return 0;
	*done += 1;
	return conductor_characterise(context, &characterisation, err);
}

static int resume_nights(struct context *context, size_t *done, struct error *err)
{
	static const char *const kinds[] = {"nightly", "judge"};
	for (size_t i = 0; i < array_length(kinds); i++) {
		auto_cleanup(store_night_free) struct store_night night = {0};
		if (night_find_unfinished(context, kinds[i], &night, err) < 0)
			return -1;
		if (!night.id)
			continue;
		*done += 1;
		if (conductor_night(context, &night, err) < 0 ||
		    night_print(context, &night, err) < 0)
			return -1;
	}
	return 0;
}

static int resume_hunts(struct context *context, size_t *done, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, 0, true, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (strcmp(hunts[i].tree_name, context->tree->name) != 0 ||
		    strcmp(hunts[i].machine, context->machine_policy->name) != 0)
			continue;
		*done += 1;
		result = conductor_hunt(context, &hunts[i], NULL, 0, err);
		if (result == 0)
			result = report_print_hunt(context, &hunts[i], err);
	}
	store_hunts_free(hunts, count);
	return result;
}

int cmd_resume(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	       struct error *err)
{
	static int (*const parts[])(struct context *, size_t *, struct error *) = {
		resume_baseline, resume_characterisation, resume_nights, resume_hunts};
	(void)arguments;
	(void)ret_exit_code;
	size_t done = 0;
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0)
		return -1;
	/* What cannot go on does not stop the rest; the first fault is told at the end. */
	struct error first = {0};
	for (size_t i = 0; i < array_length(parts); i++) {
		if (parts[i](context, &done, err) == 0)
			continue;
		if (err->kind == ERROR_INTERRUPTED)
			return -1;
		if (first.kind == ERROR_NONE)
			first = *err;
	}
	if (conductor_send_mail(context, true, err) < 0 && first.kind == ERROR_NONE)
		first = *err;
	if (!done && !context->json)
		puts("nothing was unfinished");
	context_tell_time(context);
	*err = first;
	return first.kind == ERROR_NONE ? 0 : -1;
}
