/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/hunt_evidence.h"

#include <string.h>

#include "bench/stats/components.h"
#include "bisect/culprit.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/series.h"

/* 1 when the noise that it depends on is not known. */
static double weight_of(const struct store_boot *boot, double within, double deviation)
{
	double wanted = (double)(boot->count + boot->invalid);
	struct components components = {
		.iterations = wanted,
		.within = within,
		.between = components_between(deviation, within, wanted),
	};
	if (!(deviation > 0) || !(within > 0))
		return 1;
	return components_boot_weight(&components, (double)boot->count);
}

void hunt_event_of_boot(const struct store_boot *boot, enum hunt_stage stage, double deviation,
			struct store_hunt_event *ret_event)
{
	auto_free double *badness = series_badness(boot);
	double within = stats_deviation(badness, boot->count);
	*ret_event = (struct store_hunt_event){
		.kind = HUNT_MEASURED,
		.stage = stage,
		.layout = boot->layout,
		.value = series_boot_value(boot, 0),
		.weight = weight_of(boot, within, deviation),
		.trial = boot->trial,
	};
	memcpy(ret_event->commit, boot->commit, OBJECT_ID_SIZE);
}

void hunt_seeds_free(struct hunt_seeds *seeds)
{
	store_hunt_events_free(seeds->events, seeds->count);
	*seeds = (struct hunt_seeds){0};
}

struct boots {
	struct store_boot *items;
	size_t count;
};

static void boots_free(struct boots *boots)
{
	store_boots_free(boots->items, boots->count);
}
#define auto_boots auto_cleanup(boots_free)

static void add_event(struct hunt_seeds *seeds, const struct store_hunt_event *event)
{
	seeds->events = memory_resize(seeds->events, seeds->count + 1, sizeof(*seeds->events));
	seeds->events[seeds->count++] = *event;
}

/* Where the seeds of a night's hunt come from. */
struct source {
	struct store *store;
	const struct store_hunt *hunt;
	const char *identity;
	struct boots head;   /* the night's own boots of the bad end */
	struct boots retest; /* its retest, in order of sequence */
};

static void source_free(struct source *source)
{
	boots_free(&source->head);
	boots_free(&source->retest);
}

/* Tonight's conditions are what every boot is compared with. */
static bool is_usable(const struct source *source, const struct store_boot *boot)
{
	const struct boots *tonight = source->retest.count ? &source->retest : &source->head;
	struct error unlike;
	return boot->count && boot->layout < HUNT_LAYOUTS && boot->identity &&
	       strcmp(boot->identity, source->identity) == 0 && tonight->count &&
	       series_check_sides(tonight->items, 1, boot, 1, "", &unlike) == 0;
}

static void add_boot(const struct source *source, const struct store_boot *boot,
		     enum hunt_stage stage, struct hunt_seeds *seeds)
{
	struct store_hunt_event event;
	hunt_event_of_boot(boot, stage, source->hunt->rule.noise.deviation, &event);
	add_event(seeds, &event);
}

static void add_known(const struct source *source, const struct boots *boots,
		      struct hunt_seeds *seeds)
{
	for (size_t i = 0; i < boots->count; i++)
		if (is_usable(source, &boots->items[i]))
			add_boot(source, &boots->items[i], HUNT_KNOWN, seeds);
}

static int add_good_boots(const struct source *source, enum trial_purpose purpose, int64_t owner,
			  struct hunt_seeds *seeds, struct error *err)
{
	auto_boots struct boots boots = {0};
	if (!owner)
		return 0;
	if (store_boots(source->store, purpose, owner, source->hunt->good, source->hunt->series,
			&boots.items, &boots.count, err) < 0)
		return -1;
	add_known(source, &boots, seeds);
	return 0;
}

/* The newest night before the hunt's that had its good end as head, and the night's baseline. */
static int add_good_end(const struct source *source, struct hunt_seeds *seeds, struct error *err)
{
	const struct store_hunt *hunt = source->hunt;
	struct store_night *nights;
	size_t count;
	int64_t night = 0;
	int64_t baseline = 0;
	if (store_list_nights(source->store, NULL, false, SIZE_MAX, &nights, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (nights[i].id == hunt->night)
			baseline = nights[i].baseline;
		else if (!night && nights[i].id < hunt->night &&
			 strcmp(nights[i].head, hunt->good) == 0 &&
			 strcmp(nights[i].tree_name, hunt->tree_name) == 0 &&
			 strcmp(nights[i].machine, hunt->machine) == 0)
			night = nights[i].id;
	}
	store_nights_free(nights, count);
	return add_good_boots(source, PURPOSE_BASELINE, baseline, seeds, err) < 0 ||
			       add_good_boots(source, PURPOSE_NIGHT, night, seeds, err) < 0
		       ? -1
		       : 0;
}

static const struct store_boot *partner_of(const struct source *source,
					   const struct store_boot *boot)
{
	const struct store_hunt *hunt = source->hunt;
	const char *other = strcmp(boot->commit, hunt->good) == 0 ? hunt->bad : hunt->good;
	for (size_t i = 0; i < source->retest.count; i++) {
		const struct store_boot *candidate = &source->retest.items[i];
		if (candidate->sequence / 2 == boot->sequence / 2 &&
		    strcmp(candidate->commit, other) == 0 && is_usable(source, candidate))
			return candidate;
	}
	return NULL;
}

static void add_retest(const struct source *source, struct hunt_seeds *seeds)
{
	const struct store_hunt *hunt = source->hunt;
	for (size_t i = 0; i < source->retest.count; i++) {
		const struct store_boot *boot = &source->retest.items[i];
		bool is_end = strcmp(boot->commit, hunt->good) == 0 ||
			      strcmp(boot->commit, hunt->bad) == 0;
		if (!is_end || !is_usable(source, boot) || !partner_of(source, boot))
			continue;
		add_boot(source, boot, HUNT_REPRODUCE, seeds);
		seeds->retest_boots++;
	}
}

static bool is_one_of(char (*ids)[OBJECT_ID_SIZE], size_t count, const char *commit)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(ids[i], commit) == 0)
			return true;
	return false;
}

static bool has_event(const struct hunt_seeds *seeds, const struct store_hunt_event *event)
{
	for (size_t i = 0; i < seeds->count; i++) {
		const struct store_hunt_event *one = &seeds->events[i];
		if (event->trial
			    ? one->trial == event->trial
			    : one->kind == event->kind && strcmp(one->commit, event->commit) == 0 &&
				      strcmp(one->other, event->other) == 0)
			return true;
	}
	return false;
}

/* The hunted series as another hunt of this night has measured it, when it confirmed its culprit.
 */
static int add_boots_of_sibling(const struct source *source, int64_t sibling,
				const struct commit_range *range, struct hunt_seeds *seeds,
				struct error *err)
{
	auto_boots struct boots boots = {0};
	if (store_boots(source->store, PURPOSE_HUNT, sibling, NULL, source->hunt->series,
			&boots.items, &boots.count, err) < 0)
		return -1;
	for (size_t i = 0; i < boots.count; i++)
		if (is_one_of(range->ids, range->count, boots.items[i].commit) &&
		    is_usable(source, &boots.items[i]))
			add_boot(source, &boots.items[i], HUNT_KNOWN, seeds);
	return 0;
}

/* A commit of which no trial could be stored is as untestable for another series. */
static int add_failures_of_sibling(const struct source *source, int64_t sibling,
				   const struct commit_range *range, struct hunt_seeds *seeds,
				   struct error *err)
{
	struct store_hunt_event *events;
	size_t count;
	if (store_get_hunt_events(source->store, sibling, &events, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		auto_store_trial struct store_trial trial = {0};
		struct store_hunt_event event = events[i];
		if (event.kind != HUNT_UNTESTABLE || !event.trial ||
		    !is_one_of(range->ids, range->count, event.commit) || has_event(seeds, &event))
			continue;
		result = store_get_trial(source->store, event.trial, &trial, err);
		if (result < 0 || trial.state == TRIAL_STORED)
			continue;
		event.stage = HUNT_KNOWN;
		event.reason = text_copy(event.reason);
		add_event(seeds, &event);
	}
	store_hunt_events_free(events, count);
	return result;
}

static int add_siblings(const struct source *source, const struct commit_range *range,
			struct hunt_seeds *seeds, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(source->store, source->hunt->night, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = count; i-- > 0 && result == 0;) {
		if (hunts[i].id == source->hunt->id)
			continue;
		result = add_boots_of_sibling(source, hunts[i].id, range, seeds, err);
		if (result == 0)
			result = add_failures_of_sibling(source, hunts[i].id, range, seeds, err);
	}
	store_hunts_free(hunts, count);
	return result;
}

static int add_night(struct source *source, const struct commit_range *range,
		     struct hunt_seeds *seeds, struct error *err)
{
	const struct store_hunt *hunt = source->hunt;
	if (store_boots(source->store, PURPOSE_NIGHT, hunt->night, hunt->bad, hunt->series,
			&source->head.items, &source->head.count, err) < 0 ||
	    store_boots(source->store, PURPOSE_RETEST, hunt->night, NULL, hunt->series,
			&source->retest.items, &source->retest.count, err) < 0 ||
	    add_good_end(source, seeds, err) < 0)
		return -1;
	add_known(source, &source->head, seeds);
	if (add_siblings(source, range, seeds, err) < 0)
		return -1;
	add_retest(source, seeds);
	return 0;
}

static int add_events_of(struct store *store, int64_t source, const struct commit_range *range,
			 struct hunt_seeds *seeds, struct error *err)
{
	struct store_hunt_event *events;
	size_t count;
	if (store_get_hunt_events(store, source, &events, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct store_hunt_event event = events[i];
		if (!is_one_of(range->ids, range->count, event.commit) ||
		    (event.other[0] && !is_one_of(range->ids, range->count, event.other)) ||
		    has_event(seeds, &event))
			continue;
		event.stage = HUNT_KNOWN;
		event.reason = event.reason ? text_copy(event.reason) : NULL;
		add_event(seeds, &event);
	}
	store_hunt_events_free(events, count);
	return 0;
}

/* Which of them is older does not matter: the same trial is taken once. */
static int add_relatives(struct store *store, const struct store_hunt *hunt,
			 const struct commit_range *range, struct hunt_seeds *seeds,
			 struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(store, hunt->night, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = count; i-- > 0 && result == 0;)
		if (hunts[i].id != hunt->id &&
		    (hunts[i].id == hunt->origin || hunts[i].origin == hunt->origin))
			result = add_events_of(store, hunts[i].id, range, seeds, err);
	store_hunts_free(hunts, count);
	return result;
}

int hunt_seeds_find(struct store *store, const struct store_hunt *hunt, const char *identity,
		    const struct commit_range *range, struct hunt_seeds *ret_seeds,
		    struct error *err)
{
	auto_cleanup(hunt_seeds_free) struct hunt_seeds seeds = {0};
	auto_cleanup(source_free) struct source source = {
		.store = store, .hunt = hunt, .identity = identity};
	int result = 0;
	if (hunt->origin)
		result = add_relatives(store, hunt, range, &seeds, err);
	else if (hunt->night)
		result = add_night(&source, range, &seeds, err);
	if (result < 0)
		return -1;
	*ret_seeds = seeds;
	seeds = (struct hunt_seeds){0};
	return 0;
}

int hunt_confirmed_pair(struct store *store, const struct store_hunt *hunt,
			char ret_rival[static OBJECT_ID_SIZE],
			char ret_suspect[static OBJECT_ID_SIZE], struct error *err)
{
	struct store_hunt_event *events;
	size_t count;
	auto_free char(*set)[OBJECT_ID_SIZE] = NULL;
	size_t set_count;
	bool is_set = hunt->kind && strcmp(hunt->kind, hunt_answer_kind_name(HUNT_SET)) == 0;
	if (store_get_hunt_set(store, hunt->id, &set, &set_count, err) < 0 ||
	    store_get_hunt_events(store, hunt->id, &events, &count, err) < 0)
		return -1;
	memcpy(ret_rival, hunt->good, OBJECT_ID_SIZE);
	memcpy(ret_suspect, hunt->culprit[0] ? hunt->culprit : hunt->bad, OBJECT_ID_SIZE);
	for (size_t i = 0; i < count && (is_set || hunt->culprit[0]); i++) {
		const char *commit = events[i].commit;
		if (events[i].kind != HUNT_MEASURED || events[i].stage != HUNT_CONFIRM)
			continue;
		bool accused = is_set ? is_one_of(set, set_count, commit)
				      : strcmp(commit, hunt->culprit) == 0;
		memcpy(accused ? ret_suspect : ret_rival, commit, OBJECT_ID_SIZE);
	}
	store_hunt_events_free(events, count);
	return 0;
}
