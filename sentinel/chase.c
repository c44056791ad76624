/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/chase.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/conductor.h"
#include "sentinel/hunt_evidence.h"
#include "sentinel/hunt_prior.h"
#include "sentinel/planner.h"

void chase_close(struct chase *chase)
{
	commit_range_free(&chase->range);
	commit_graph_free(&chase->graph);
	free(chase->excluded);
	free(chase->prior);
	free(chase->built);
	free(chase->search_plan);
	free(chase->confirm_plan);
	store_hunt_events_free(chase->stored, chase->event_count);
	free(chase->events);
	store_boot_free(&chase->reference);
	free(chase->stop_reason);
}

static int plan_text(struct context *context, const char *const *series, size_t count,
		     char **ret_text, struct error *err)
{
	auto_plan struct plan plan = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, series, count, &plan, err) <
	    0)
		return -1;
	*ret_text = plan_to_text(&plan);
	return 0;
}

static int load_plans(struct chase *chase, const char *const *confirm_series, size_t confirm_count,
		      struct error *err)
{
	const char *own[] = {chase->hunt->series};
	if (plan_text(chase->context, own, 1, &chase->search_plan, err) < 0)
		return -1;
	if (!confirm_count)
		return plan_text(chase->context, own, 1, &chase->confirm_plan, err);
	return plan_text(chase->context, confirm_series, confirm_count, &chase->confirm_plan, err);
}

static int load_prior(struct chase *chase, struct error *err)
{
	const struct policy_hunt *policy = &chase->context->policy.hunt;
	if (!policy->prior_count)
		return 0;
	chase->prior = memory_array(chase->range.count, sizeof(*chase->prior));
	if (source_tree_weigh(chase->context->source, &chase->range, policy->prior,
			      policy->prior_count, chase->prior, err) < 0)
		return -1;
	hunt_prior_limit(chase->prior, chase->excluded, chase->range.count);
	return 0;
}

static int find_built(struct chase *chase, struct error *err)
{
	struct digest recipe;
	if (build_recipe(chase->context->tree, &recipe, err) < 0)
		return -1;
	chase->built = memory_array(chase->range.count, sizeof(*chase->built));
	for (size_t i = 0; i < chase->range.count; i++) {
		char key[DIGEST_SIZE];
		build_plain_key(&recipe, chase->range.trees[i], key);
		chase->built[i] = artifact_store_has(chase->context->artifacts, key);
	}
	return 0;
}

static int load_range(struct chase *chase, struct error *err)
{
	if (source_tree_range(chase->context->source, chase->hunt->good, chase->hunt->bad,
			      &chase->range, err) < 0 ||
	    commit_graph_create(chase->range.count, chase->range.parents,
				chase->range.parent_counts, &chase->graph, err) < 0)
		return -1;
	chase->excluded = memory_array(chase->range.count, sizeof(bool));
	for (size_t i = 1; i < chase->range.count; i++)
		chase->excluded[i] = !chase->range.relevant[i];
	return 0;
}

static int commit_index(const struct chase *chase, const char *id, size_t *ret_index,
			struct error *err)
{
	for (size_t i = 0; i < chase->range.count; i++)
		if (strcmp(chase->range.ids[i], id) == 0) {
			*ret_index = i;
			return 0;
		}
	return error_set(
		err, ERROR_STATE,
		"hunt %lld remembers commit %s, which is not between its ends; was the tree "
		"rewritten?",
		(long long)chase->hunt->id, id);
}

static int to_event(const struct chase *chase, const struct store_hunt_event *stored,
		    struct hunt_event *ret_event, struct error *err)
{
	*ret_event = (struct hunt_event){.kind = stored->kind,
					 .stage = stored->stage,
					 .layout = stored->layout,
					 .values = {stored->value},
					 .weight = stored->weight};
	if (commit_index(chase, stored->commit, &ret_event->commit, err) < 0)
		return -1;
	return stored->other[0] ? commit_index(chase, stored->other, &ret_event->other, err) : 0;
}

static int load_stored(struct chase *chase, struct error *err)
{
	store_hunt_events_free(chase->stored, chase->event_count);
	chase->stored = NULL;
	chase->event_count = 0;
	return store_get_hunt_events(chase->context->store, chase->hunt->id, &chase->stored,
				     &chase->event_count, err);
}

static int load_events(struct chase *chase, struct error *err)
{
	free(chase->events);
	chase->events = memory_array(chase->event_count, sizeof(*chase->events));
	for (size_t i = 0; i < chase->event_count; i++) {
		const struct store_hunt_event *stored = &chase->stored[i];
		if (to_event(chase, stored, &chase->events[i], err) < 0)
			return -1;
		if (stored->kind == HUNT_MEASURED && stored->trial && !chase->reference.series &&
		    store_boot_of_trial(chase->context->store, stored->trial, chase->hunt->series,
					&chase->reference, err) < 0)
			return -1;
	}
	return 0;
}

/* Once, before the first request: what is known already, and what things cost here. */
static int seed(struct chase *chase, struct error *err)
{
	struct store *store = chase->context->store;
	struct store_hunt *hunt = chase->hunt;
	struct digest identity;
	auto_cleanup(hunt_seeds_free) struct hunt_seeds seeds = {0};
	if (conductor_identity(chase->context, &identity, err) < 0 ||
	    store_usual_seconds(store, hunt->tree_name, hunt->machine, &hunt->price.build_seconds,
				&hunt->price.boot_seconds, err) < 0 ||
	    hunt_seeds_find(store, hunt, identity.hex, &chase->range, &seeds, err) < 0)
		return -1;
	hunt->retest_boots = seeds.retest_boots;
	if (store_seed_hunt(store, hunt, seeds.events, seeds.count, err) < 0)
		return -1;
	if (seeds.count)
		log_notice("hunt %lld: takes over %zu measurements, %lld boots of them fresh",
			   (long long)hunt->id, seeds.count, (long long)seeds.retest_boots);
	return load_stored(chase, err);
}

static int load_time(struct chase *chase, struct error *err)
{
	struct store_trial *trials;
	size_t count;
	if (store_list_trials(chase->context->store, PURPOSE_HUNT, chase->hunt->id, NULL, SIZE_MAX,
			      &trials, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		chase->seconds_before += trials[i].seconds;
	store_trials_free(trials, count);
	chase->seconds_at_start = chase->context->build_seconds + chase->context->boot_seconds;
	return 0;
}

int chase_open(struct chase *chase, const char *const *confirm_series, size_t confirm_count,
	       struct error *err)
{
	if (load_stored(chase, err) < 0 || load_range(chase, err) < 0)
		return -1;
	return load_plans(chase, confirm_series, confirm_count, err);
}

int chase_load(struct chase *chase, struct error *err)
{
	if ((!chase->event_count && seed(chase, err) < 0) || load_events(chase, err) < 0 ||
	    load_prior(chase, err) < 0 || find_built(chase, err) < 0 || load_time(chase, err) < 0)
		return -1;
	/* The limit is on what the hunt itself spends. */
	chase->maximum_boots = chase->hunt->rule.maximum_boots + (size_t)chase->hunt->retest_boots;
	return 0;
}

int chase_next(const struct chase *chase, struct hunt_step *ret_step, struct error *err)
{
	struct hunt_problem problem = {.graph = chase->graph,
				       .excluded = chase->excluded,
				       .prior = chase->prior,
				       .built = chase->built,
				       .price = chase->hunt->price,
				       .rule = chase->hunt->rule};
	problem.rule.maximum_boots = chase->maximum_boots;
	return hunt_next(&problem, chase->events, chase->event_count, ret_step, err);
}

int chase_add_event(struct chase *chase, struct store_hunt_event *event, struct error *err)
{
	struct hunt_event plain;
	if (to_event(chase, event, &plain, err) < 0 ||
	    store_add_hunt_event(chase->context->store, chase->hunt->id, event, err) < 0)
		return -1;
	size_t count = chase->event_count + 1;
	chase->stored = memory_resize(chase->stored, count, sizeof(*chase->stored));
	chase->events = memory_resize(chase->events, count, sizeof(*chase->events));
	chase->stored[count - 1] = *event;
	chase->events[count - 1] = plain;
	chase->event_count = count;
	event->reason = NULL;
	return 0;
}

bool chase_is_out_of_time(const struct chase *chase)
{
	const struct context *context = chase->context;
	double now = context->build_seconds + context->boot_seconds;
	double spent = chase->seconds_before + now - chase->seconds_at_start;
	return spent > 60 * (double)context->policy.hunt.maximum_minutes;
}
