/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <math.h>
#include <string.h>

#include "bench/stats/components.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/planner.h"
#include "sentinel/series.h"

/* The boots of one series, layout by layout. */
struct boots_of_series {
	struct components_boot *boots;
	double **badness; /* theirs */
	size_t count;
	double deviation_floor;
};

static void boots_of_series_free(struct boots_of_series *boots)
{
	for (size_t i = 0; i < boots->count; i++)
		free(boots->badness[i]);
	free(boots->badness);
	free(boots->boots);
}

static void collect(const struct store_boot *boots, size_t count, const char *series,
		    int64_t layouts, struct boots_of_series *ret_boots)
{
	struct boots_of_series found = {
		.boots = memory_array(count, sizeof(*found.boots)),
		.badness = memory_array(count, sizeof(*found.badness)),
		.deviation_floor = series_floor(NULL, 0),
	};
	for (size_t layout = 0; layout < (size_t)layouts; layout++) {
		for (size_t i = 0; i < count; i++) {
			if (boots[i].layout != layout || !boots[i].count ||
			    strcmp(boots[i].series, series) != 0)
				continue;
			double *badness = series_badness(&boots[i]);
			found.badness[found.count] = badness;
			found.boots[found.count++] =
				(struct components_boot){layout, badness, boots[i].count};
			found.deviation_floor =
				fmax(found.deviation_floor, series_floor(&boots[i], 1));
		}
	}
	*ret_boots = found;
}

static void estimate(const struct store_boot *boots, size_t count, char *series, int64_t layouts,
		     struct store_noise *ret_noise)
{
	auto_cleanup(boots_of_series_free) struct boots_of_series found;
	collect(boots, count, series, layouts, &found);
	ret_noise->series = series;
	ret_noise->deviation_floor = found.deviation_floor;
	components_estimate(found.boots, found.count, &ret_noise->components);
}

static int store_estimates(struct context *context,
			   const struct store_characterisation *characterisation,
			   const struct store_boot *boots, size_t count, struct error *err)
{
	struct series_boots *series;
	size_t series_count;
	if (series_check_alike(boots, count, "the characterisation", err) < 0)
		return -1;
	series_group(boots, count, &series, &series_count);
	auto_free struct store_noise *noise = memory_array(series_count, sizeof(*noise));
	auto_free char **names = memory_array(series_count, sizeof(*names));
	for (size_t i = 0; i < series_count; i++) {
		names[i] = text_copy(series[i].series);
		estimate(boots, count, names[i], characterisation->layouts, &noise[i]);
	}
	series_free(series, series_count);
	int result = series_count
			     ? store_complete_characterisation(context->store, characterisation->id,
							       boots[0].identity, noise,
							       series_count, err)
			     : error_set(err, ERROR_USAGE, "no benchmark gave a valid number");
	for (size_t i = 0; i < series_count; i++)
		free(names[i]);
	return result;
}

static int measure(struct context *context, const struct store_characterisation *characterisation,
		   int64_t boot, const char *plan, struct error *err)
{
	size_t layout = (size_t)(boot % characterisation->layouts);
	auto_store_trial struct store_trial trial = {0};
	log_notice("characterise %s: boot %lld of %lld, layout %zu",
		   short_id(characterisation->commit), (long long)boot + 1,
		   (long long)characterisation->boots, layout);
	if (conductor_trial(context, PURPOSE_CHARACTERISE, characterisation->id, boot,
			    characterisation->commit, layout, plan, &trial, err) < 0)
		return -1;
	if (trial.state == TRIAL_STORED)
		return 0;
	/* A layout that cannot be built or booted tells nothing; the others do. */
	if (layout && trial.state != TRIAL_FAILED_HOST) {
		log_notice("characterise %s: layout %zu is left out: %s",
			   short_id(characterisation->commit), layout,
			   trial.reason ? trial.reason : "unknown");
		return 0;
	}
	return error_set(err, trial.state == TRIAL_FAILED_HOST ? ERROR_SYSTEM : ERROR_USAGE,
			 "%s cannot be characterised: %s: %s; console: %s",
			 short_id(characterisation->commit), trial_state_name(trial.state),
			 trial.reason ? trial.reason : "unknown",
			 trial.console_path ? trial.console_path : "none");
}

int conductor_characterise(struct context *context,
			   const struct store_characterisation *characterisation, struct error *err)
{
	auto_plan struct plan plan = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, NULL, 0, &plan, err) < 0)
		return -1;
	auto_free char *text = plan_to_text(&plan);
	for (int64_t i = 0; i < characterisation->boots; i++)
		if (measure(context, characterisation, i, text, err) < 0)
			return -1;
	struct store_boot *boots;
	size_t count;
	if (store_boots(context->store, PURPOSE_CHARACTERISE, characterisation->id, NULL, NULL,
			&boots, &count, err) < 0)
		return -1;
	int result = store_estimates(context, characterisation, boots, count, err);
	store_boots_free(boots, count);
	return result;
}
