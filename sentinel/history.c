/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/history.h"

#include <math.h>
#include <string.h>

#include "bench/stats/change_point.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/* More than half a year: what lies further back decides nothing. */
/* Of all trees and machines together; those of others are passed over. */
#define NIGHTS_LISTED 10000
#define NIGHTS_LOOKED_AT 200

static void history_night_free(struct history_night *night)
{
	store_night_free(&night->night);
	store_boots_free(night->boots, night->boot_count);
	store_verdicts_free(night->verdicts, night->verdict_count);
}

void history_free(struct history *history)
{
	for (size_t i = 0; i < history->night_count; i++)
		history_night_free(&history->nights[i]);
	free(history->nights);
	store_baseline_free(&history->baseline);
	store_boots_free(history->baseline_boots, history->baseline_boot_count);
	store_boots_free(history->tonight, history->tonight_count);
	free(history->tonights_head);
	store_acknowledgements_free(history->acknowledgements, history->acknowledgement_count);
	store_characterisation_free(&history->characterisation);
	store_noise_free(history->noise, history->noise_count);
	*history = (struct history){0};
}

static struct store_verdict *find_verdict(struct store_verdict *verdicts, size_t count,
					  const char *series)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(verdicts[i].series, series) == 0)
			return &verdicts[i];
	return NULL;
}

int history_conclusions(struct store *store, int64_t night, struct store_verdict **ret_verdicts,
			size_t *ret_count, struct error *err)
{
	struct store_verdict *first;
	struct store_verdict *second;
	size_t count;
	size_t second_count;
	if (store_get_verdicts(store, night, 1, &first, &count, err) < 0)
		return -1;
	if (store_get_verdicts(store, night, 2, &second, &second_count, err) < 0) {
		store_verdicts_free(first, count);
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		struct store_verdict *last = find_verdict(second, second_count, first[i].series);
		if (!last)
			continue;
		struct store_verdict swapped = first[i];
		first[i] = *last;
		*last = swapped;
	}
	store_verdicts_free(second, second_count);
	*ret_verdicts = first;
	*ret_count = count;
	return 0;
}

static bool is_wanted(const struct history *history, const struct store_night *night,
		      const struct store_night *tonight)
{
	return night->state == NIGHT_DONE && (!tonight || night->id < tonight->id) &&
	       strcmp(night->tree_name, history->policy->night.tree) == 0 &&
	       strcmp(night->machine, history->policy->night.machine) == 0;
}

static int load_nights(struct store *store, const struct store_night *tonight,
		       struct history *history, struct error *err)
{
	struct store_night *nights;
	size_t count;
	if (store_list_nights(store, "nightly", false, NIGHTS_LISTED, &nights, &count, err) < 0)
		return -1;
	size_t wanted = 0;
	size_t oldest = 0;
	for (; oldest < count && wanted < NIGHTS_LOOKED_AT; oldest++)
		wanted += is_wanted(history, &nights[oldest], tonight);
	history->nights = memory_array(wanted, sizeof(*history->nights));
	int result = 0;
	for (size_t i = oldest; i-- > 0 && result == 0;) {
		if (!is_wanted(history, &nights[i], tonight))
			continue;
		struct history_night *night = &history->nights[history->night_count++];
		night->night = nights[i];
		nights[i] = (struct store_night){0};
		result = store_boots(store, PURPOSE_NIGHT, night->night.id, NULL, NULL,
				     &night->boots, &night->boot_count, err);
		if (result == 0)
			result = history_conclusions(store, night->night.id, &night->verdicts,
						     &night->verdict_count, err);
	}
	store_nights_free(nights, count);
	return result;
}

static int load_baseline(struct store *store, const struct store_night *night,
			 struct history *history, struct error *err)
{
	const struct policy_night *policy = &history->policy->night;
	if (night ? store_get_baseline_by_id(store, night->baseline, &history->baseline, err) < 0
		  : store_get_baseline(store, policy->tree, policy->machine, true,
				       &history->baseline, err) < 0)
		return -1;
	if (!history->baseline.id)
		return 0;
	return store_boots(store, PURPOSE_BASELINE, history->baseline.id, NULL, NULL,
			   &history->baseline_boots, &history->baseline_boot_count, err);
}

static int load_tonight(struct store *store, const struct store_night *night,
			struct history *history, struct error *err)
{
	history->tonights_head = text_copy(night->head);
	if (store_boots(store, PURPOSE_NIGHT, night->id, NULL, NULL, &history->tonight,
			&history->tonight_count, err) < 0)
		return -1;
	return series_check_sides(history->baseline_boots, history->baseline_boot_count,
				  history->tonight, history->tonight_count, "baseline and head",
				  err);
}

static int load_noise(struct store *store, struct history *history, struct error *err)
{
	const struct policy_night *policy = &history->policy->night;
	if (store_get_characterisation(store, policy->tree, policy->machine, true,
				       &history->characterisation, err) < 0)
		return -1;
	if (!history->characterisation.id)
		return 0;
	return store_get_noise(store, history->characterisation.id, &history->noise,
			       &history->noise_count, err);
}

int history_load(struct store *store, const struct policy *policy, const struct store_night *night,
		 struct history *ret_history, struct error *err)
{
	auto_history struct history history = {.policy = policy};
	bool by_hand = night && strcmp(night->kind, "judge") == 0;
	if ((!by_hand && load_nights(store, night, &history, err) < 0) ||
	    load_baseline(store, night, &history, err) < 0 ||
	    (night && load_tonight(store, night, &history, err) < 0) ||
	    store_list_acknowledgements(store, NULL, &history.acknowledgements,
					&history.acknowledgement_count, err) < 0 ||
	    load_noise(store, &history, err) < 0)
		return -1;
	*ret_history = history;
	history = (struct history){0};
	return 0;
}

static void add_name(const char ***names, size_t *count, const char *name)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp((*names)[i], name) == 0)
			return;
	*names = memory_resize(*names, *count + 1, sizeof(**names));
	(*names)[(*count)++] = name;
}

const char **history_names(const struct history *history, size_t *ret_count)
{
	const char **names = NULL;
	*ret_count = 0;
	for (size_t i = 0; i < history->tonight_count; i++)
		add_name(&names, ret_count, history->tonight[i].series);
	for (size_t i = history->night_count; i-- > 0;)
		for (size_t j = 0; j < history->nights[i].verdict_count; j++)
			add_name(&names, ret_count, history->nights[i].verdicts[j].series);
	return names;
}

const char *history_accepted_head(const struct history *history,
				  const struct history_series *series)
{
	size_t newest = series->watch.newest;
	bool pinned_since = newest != WATCH_NO_NIGHT &&
			    series->watch.count < VERDICT_NIGHTS_LEAST &&
			    series->nights[newest].seconds < history->baseline.set_seconds;
	return newest == WATCH_NO_NIGHT || pinned_since ? history->baseline.commit
							: series->nights[newest].head;
}

static size_t first_alike(const struct history_series *series)
{
	size_t first = series->night_count;
	while (first > 0 && series->nights[first - 1].alike)
		first--;
	return first;
}

void history_points(const struct history_series *series, double minimum_change,
		    struct history_point **ret_points, size_t *ret_count)
{
	auto_free double *values = memory_array(series->night_count + 1, sizeof(*values));
	auto_free size_t *nights = memory_array(series->night_count + 1, sizeof(*nights));
	auto_free struct change_point *points = NULL;
	size_t count = 0;
	for (size_t i = first_alike(series); i < series->night_count; i++) {
		if (!isfinite(series->nights[i].value))
			continue;
		nights[count] = i;
		values[count++] = series->nights[i].value;
	}
	if (isfinite(series->tonight_value))
		values[count++] = series->tonight_value;
	change_point_find(values, count, minimum_change, &points, ret_count);
	*ret_points = memory_array(*ret_count, sizeof(**ret_points));
	for (size_t i = 0; i < *ret_count; i++)
		(*ret_points)[i] = (struct history_point){nights[points[i].index], points[i].change,
							  points[i].p_value};
}
