/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#include <string.h>

#define HUNT(member) .offset = offsetof(struct store_hunt, member)
static const struct column hunt_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, HUNT(id)},
	{"night", COLUMN_REFERENCE, ROLE_FIXED, HUNT(night)},
	{"origin", COLUMN_REFERENCE, ROLE_FIXED, HUNT(origin)},
	{"tree_name", COLUMN_TEXT, ROLE_FIXED, HUNT(tree_name)},
	{"machine", COLUMN_TEXT, ROLE_FIXED, HUNT(machine)},
	{"series", COLUMN_TEXT, ROLE_FIXED, HUNT(series)},
	{"good", COLUMN_FIXED, ROLE_FIXED, HUNT(good), .size = OBJECT_ID_SIZE},
	{"bad", COLUMN_FIXED, ROLE_FIXED, HUNT(bad), .size = OBJECT_ID_SIZE},
	{"stop_probability", COLUMN_REAL, ROLE_FIXED, HUNT(rule.stop_probability)},
	{"report_probability", COLUMN_REAL, ROLE_FIXED, HUNT(rule.report_probability)},
	{"maximum_boots", COLUMN_COUNT, ROLE_FIXED, HUNT(rule.maximum_boots)},
	{"flagged_step", COLUMN_REAL, ROLE_FIXED, HUNT(rule.flagged_step)},
	{"rule_deviation", COLUMN_REAL, ROLE_FIXED, HUNT(rule.noise.deviation)},
	{"rule_degrees", COLUMN_REAL, ROLE_FIXED, HUNT(rule.noise.degrees)},
	{"deviation_floor", COLUMN_REAL, ROLE_FIXED, HUNT(rule.noise.deviation_floor)},
	{"layout_deviation", COLUMN_REAL, ROLE_FIXED, HUNT(rule.noise.layout_deviation)},
	{"layouts", COLUMN_COUNT, ROLE_FIXED, HUNT(rule.layouts)},
	{"minimum_step", COLUMN_REAL, ROLE_FIXED, HUNT(rule.minimum_step)},
	{"build_seconds", COLUMN_REAL, ROLE_FIXED, HUNT(price.build_seconds)},
	{"boot_seconds", COLUMN_REAL, ROLE_FIXED, HUNT(price.boot_seconds)},
	{"retest_boots", COLUMN_INTEGER, ROLE_FIXED, HUNT(retest_boots)},
	{"finished", COLUMN_FLAG, ROLE_MUTABLE, HUNT(finished)},
	{"kind", COLUMN_TEXT, ROLE_MUTABLE, HUNT(kind)},
	{"culprit", COLUMN_FIXED, ROLE_MUTABLE, HUNT(culprit), .size = OBJECT_ID_SIZE},
	{"probability", COLUMN_REAL, ROLE_MUTABLE, HUNT(probability)},
	{"step", COLUMN_REAL, ROLE_MUTABLE, HUNT(step)},
	{"step_lower", COLUMN_REAL, ROLE_MUTABLE, HUNT(step_lower)},
	{"step_upper", COLUMN_REAL, ROLE_MUTABLE, HUNT(step_upper)},
	{"layout_share", COLUMN_REAL, ROLE_MUTABLE, HUNT(layout_share)},
	{"confirm_odds", COLUMN_REAL, ROLE_MUTABLE, HUNT(confirm_odds)},
	{"more_steps", COLUMN_FLAG, ROLE_MUTABLE, HUNT(more_steps)},
	{"reproduce_pairs", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(reproduce_pairs)},
	{"confirm_pairs", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(confirm_pairs)},
	{"boots", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(boots)},
	{"reproduce_boots", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(reproduce_boots)},
	{"search_boots", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(search_boots)},
	{"confirm_boots", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(confirm_boots)},
	{"builds", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(builds)},
	{"reason", COLUMN_TEXT, ROLE_MUTABLE, HUNT(reason)},
	{"started_seconds", COLUMN_INTEGER, ROLE_FIXED, HUNT(started_seconds)},
	{"ended_seconds", COLUMN_INTEGER, ROLE_MUTABLE, HUNT(ended_seconds)},
};
static const struct shape hunt_shape = SHAPE("hunt", hunt_columns, struct store_hunt);

static const char *const event_kinds[] = {
	[HUNT_MEASURED] = "measured",
	[HUNT_UNTESTABLE] = "untestable",
	[HUNT_SAME_IMAGE] = "same-image",
	NULL,
};

static const char *const stages[] = {
	[HUNT_REPRODUCE] = "reproduce",
	[HUNT_SEARCH] = "search",
	[HUNT_CONFIRM] = "confirm",
	[HUNT_KNOWN] = "known",
	NULL,
};

#define EVENT(member) .offset = offsetof(struct store_hunt_event, member)
static const struct column event_columns[] = {
	{"sequence", COLUMN_INTEGER, ROLE_FIXED, EVENT(sequence)},
	{"kind", COLUMN_NAME, ROLE_FIXED, EVENT(kind), .names = event_kinds},
	{"stage", COLUMN_NAME, ROLE_FIXED, EVENT(stage), .names = stages},
	{"commit_id", COLUMN_FIXED, ROLE_FIXED, EVENT(commit), .size = OBJECT_ID_SIZE},
	{"layout", COLUMN_COUNT, ROLE_FIXED, EVENT(layout)},
	{"other", COLUMN_FIXED, ROLE_FIXED, EVENT(other), .size = OBJECT_ID_SIZE},
	{"value", COLUMN_REAL, ROLE_FIXED, EVENT(value)},
	{"weight", COLUMN_REAL, ROLE_FIXED, EVENT(weight)},
	{"trial", COLUMN_REFERENCE, ROLE_FIXED, EVENT(trial)},
	{"reason", COLUMN_TEXT, ROLE_FIXED, EVENT(reason)},
};
static const struct shape event_shape = {
	"hunt_event",
	event_columns,
	array_length(event_columns),
	sizeof(struct store_hunt_event),
	.outside = {"hunt"},
};

int store_add_hunt(struct store *store, struct store_hunt *hunt, struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&hunt_shape, &query, store, hunt, "");
	if (query_run(&query, err) < 0)
		return -1;
	hunt->id = sqlite3_last_insert_rowid(store->database);
	return 0;
}

static int add_set(struct store *store, int64_t hunt, const char (*set)[OBJECT_ID_SIZE],
		   size_t count, struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store,
		      "INSERT INTO hunt_set (hunt, position, commit_id) VALUES (?1, ?2, ?3)");
	for (size_t i = 0; i < count; i++) {
		query_bind_integer(&query, 1, hunt);
		query_bind_integer(&query, 2, (int64_t)i);
		query_bind_text(&query, 3, set[i]);
		if (query_run(&query, err) < 0)
			return -1;
	}
	return 0;
}

int store_finish_hunt(struct store *store, const struct store_hunt *hunt,
		      const char (*set)[OBJECT_ID_SIZE], size_t set_count, struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query query = {0};
	struct store_hunt finished = *hunt;
	finished.finished = true;
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	shape_update(&hunt_shape, &query, store, &finished, "AND finished = 0");
	if (query_change(&query, "this hunt does not exist or is finished already", err) < 0 ||
	    add_set(store, hunt->id, set, set_count, err) < 0)
		return -1;
	return transaction_commit(&transaction, err);
}

int store_get_hunt_set(struct store *store, int64_t id, char (**ret_set)[OBJECT_ID_SIZE],
		       size_t *ret_count, struct error *err)
{
	static const struct column columns[] = {
		{"commit_id", COLUMN_FIXED, ROLE_FIXED, .offset = 0, .size = OBJECT_ID_SIZE},
	};
	static const struct shape shape = SHAPE("hunt_set", columns, char[OBJECT_ID_SIZE]);
	auto_query struct query query = {0};
	void *set;
	shape_select(&shape, &query, store, "WHERE hunt = ?1 ORDER BY position");
	query_bind_integer(&query, 1, id);
	if (shape_list(&shape, &query, &set, ret_count, err) < 0)
		return -1;
	*ret_set = set;
	return 0;
}

int store_get_hunt(struct store *store, int64_t id, struct store_hunt *ret_hunt, struct error *err)
{
	auto_query struct query query = {0};
	bool found;
	shape_select(&hunt_shape, &query, store, "WHERE id = ?1");
	query_bind_integer(&query, 1, id);
	if (shape_first(&hunt_shape, &query, &found, ret_hunt, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_STATE, "store %s: there is no hunt %lld", store->path,
				 (long long)id);
	return 0;
}

int store_list_hunts(struct store *store, int64_t night, bool unfinished_only,
		     struct store_hunt **ret_hunts, size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	void *hunts;
	shape_select(&hunt_shape, &query, store,
		     "WHERE (?1 < 0 OR coalesce(night, 0) = ?1) AND (?2 = 0 OR finished = 0)"
		     " ORDER BY id DESC");
	query_bind_integer(&query, 1, night);
	query_bind_integer(&query, 2, unfinished_only);
	if (shape_list(&hunt_shape, &query, &hunts, ret_count, err) < 0)
		return -1;
	*ret_hunts = hunts;
	return 0;
}

void store_hunt_free(struct store_hunt *hunt)
{
	shape_free(&hunt_shape, hunt);
}

void store_hunts_free(struct store_hunt *hunts, size_t count)
{
	shape_free_all(&hunt_shape, hunts, count);
}

static int next_sequence(struct store *store, int64_t hunt, int64_t *ret_sequence,
			 struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store,
		      "SELECT coalesce(max(sequence) + 1, 0) FROM hunt_event WHERE hunt = ?1");
	query_bind_integer(&query, 1, hunt);
	if (query_next(&query, err) < 0)
		return -1;
	*ret_sequence = sqlite3_column_int64(query.statement, 0);
	return 0;
}

static int insert_event(struct store *store, int64_t hunt, const struct store_hunt_event *event,
			struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&event_shape, &query, store, event, "");
	query_bind_integer(&query, (int)event_shape.column_count + 1, hunt);
	return query_run(&query, err);
}

int store_add_hunt_event(struct store *store, int64_t hunt, struct store_hunt_event *event,
			 struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	struct store_hunt_event next = *event;
	if (transaction_begin(&transaction, store, err) < 0 ||
	    next_sequence(store, hunt, &next.sequence, err) < 0 ||
	    insert_event(store, hunt, &next, err) < 0 || transaction_commit(&transaction, err) < 0)
		return -1;
	event->sequence = next.sequence;
	return 0;
}

int store_seed_hunt(struct store *store, const struct store_hunt *hunt,
		    struct store_hunt_event *events, size_t count, struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query query = {0};
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	query_prepare(&query, store,
		      "UPDATE hunt SET build_seconds = ?2, boot_seconds = ?3, retest_boots = ?4"
		      " WHERE id = ?1 AND finished = 0"
		      " AND NOT EXISTS (SELECT * FROM hunt_event WHERE hunt = ?1)");
	query_bind_integer(&query, 1, hunt->id);
	query_bind_real(&query, 2, hunt->price.build_seconds);
	query_bind_real(&query, 3, hunt->price.boot_seconds);
	query_bind_integer(&query, 4, hunt->retest_boots);
	if (query_change(&query, "this hunt does not exist or has begun already", err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		events[i].sequence = (int64_t)i;
		if (insert_event(store, hunt->id, &events[i], err) < 0)
			return -1;
	}
	return transaction_commit(&transaction, err);
}

int store_get_hunt_events(struct store *store, int64_t hunt, struct store_hunt_event **ret_events,
			  size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	void *events;
	shape_select(&event_shape, &query, store, "WHERE hunt = ?1 ORDER BY sequence");
	query_bind_integer(&query, 1, hunt);
	if (shape_list(&event_shape, &query, &events, ret_count, err) < 0)
		return -1;
	*ret_events = events;
	return 0;
}

void store_hunt_events_free(struct store_hunt_event *events, size_t count)
{
	shape_free_all(&event_shape, events, count);
}
