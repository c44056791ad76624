/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#define BASELINE(member) .offset = offsetof(struct store_baseline, member)
static const struct column baseline_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, BASELINE(id)},
	{"tree_name", COLUMN_TEXT, ROLE_FIXED, BASELINE(tree_name)},
	{"machine", COLUMN_TEXT, ROLE_FIXED, BASELINE(machine)},
	{"commit_id", COLUMN_FIXED, ROLE_FIXED, BASELINE(commit), .size = OBJECT_ID_SIZE},
	{"boots", COLUMN_INTEGER, ROLE_FIXED, BASELINE(boots)},
	{"set_seconds", COLUMN_INTEGER, ROLE_FIXED, BASELINE(set_seconds)},
	{"measured_seconds", COLUMN_INTEGER, ROLE_MUTABLE, BASELINE(measured_seconds)},
	{"complete", COLUMN_FLAG, ROLE_MUTABLE, BASELINE(complete)},
	{"pending", COLUMN_FLAG, ROLE_MUTABLE, BASELINE(pending)},
};
static const struct shape baseline_shape =
	SHAPE("baseline", baseline_columns, struct store_baseline);

static const char *const night_states[] = {
	[NIGHT_MEASURING] = "measuring", [NIGHT_RETESTING] = "retesting",
	[NIGHT_HUNTING] = "hunting",     [NIGHT_REPORTING] = "reporting",
	[NIGHT_DONE] = "done",           NULL,
};

#define NIGHT(member) .offset = offsetof(struct store_night, member)
static const struct column night_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, NIGHT(id)},
	{"kind", COLUMN_TEXT, ROLE_FIXED, NIGHT(kind)},
	{"tree_name", COLUMN_TEXT, ROLE_FIXED, NIGHT(tree_name)},
	{"machine", COLUMN_TEXT, ROLE_FIXED, NIGHT(machine)},
	{"head", COLUMN_FIXED, ROLE_FIXED, NIGHT(head), .size = OBJECT_ID_SIZE},
	{"baseline", COLUMN_REFERENCE, ROLE_FIXED, NIGHT(baseline)},
	{"retest_pairs", COLUMN_INTEGER, ROLE_FIXED, NIGHT(retest_pairs)},
	{"layouts", COLUMN_INTEGER, ROLE_FIXED, NIGHT(layouts)},
	{"state", COLUMN_NAME, ROLE_MUTABLE, NIGHT(state), .names = night_states},
	{"outcome", COLUMN_TEXT, ROLE_MUTABLE, NIGHT(outcome)},
	{"started_seconds", COLUMN_INTEGER, ROLE_FIXED, NIGHT(started_seconds)},
	{"ended_seconds", COLUMN_INTEGER, ROLE_MUTABLE, NIGHT(ended_seconds)},
};
static const struct shape night_shape = SHAPE("night", night_columns, struct store_night);

static const char *const verdict_states[] = {
	[VERDICT_UNCHANGED] = "unchanged",
	[VERDICT_FLAGGED] = "flagged",
	[VERDICT_REGRESSION] = "regression",
	[VERDICT_IMPROVEMENT] = "improvement",
	[VERDICT_NOT_REPEATED] = "not-repeated",
	[VERDICT_NO_DATA] = "no-data",
	[VERDICT_KNOWN] = "known",
	NULL,
};

static const char *const verdict_bases[] = {
	[VERDICT_BY_NIGHTS] = "nights",
	[VERDICT_BY_BOOTS] = "boots",
	[VERDICT_BY_PAIRS] = "pairs",
	NULL,
};

static const char *const verdict_events[] = {
	[WATCH_NONE] = "none",
	[WATCH_GROWN] = "grown",
	[WATCH_FIXED] = "fixed",
	[WATCH_CREEP] = "creep",
	[WATCH_SAME_KERNEL] = "same-kernel",
	NULL,
};

#define VERDICT(member) .offset = offsetof(struct store_verdict, member)
static const struct column verdict_columns[] = {
	{"series", COLUMN_TEXT, ROLE_FIXED, VERDICT(series)},
	{"stage", COLUMN_INTEGER, ROLE_FIXED, VERDICT(stage)},
	{"state", COLUMN_NAME, ROLE_FIXED, VERDICT(verdict.state), .names = verdict_states},
	{"basis", COLUMN_NAME, ROLE_FIXED, VERDICT(verdict.basis), .names = verdict_bases},
	{"change", COLUMN_REAL, ROLE_FIXED, VERDICT(verdict.change)},
	{"change_percent", COLUMN_REAL, ROLE_FIXED, VERDICT(verdict.change_percent)},
	{"deviation", COLUMN_REAL, ROLE_FIXED, VERDICT(verdict.deviation)},
	{"degrees", COLUMN_REAL, ROLE_FIXED, VERDICT(verdict.degrees)},
	{"threshold", COLUMN_REAL, ROLE_FIXED, VERDICT(verdict.threshold)},
	{"p_value", COLUMN_REAL, ROLE_FIXED, VERDICT(verdict.p_value)},
	{"baseline_boots", COLUMN_COUNT, ROLE_FIXED, VERDICT(verdict.baseline_boots)},
	{"boots", COLUMN_COUNT, ROLE_FIXED, VERDICT(verdict.boots)},
	{"event", COLUMN_NAME, ROLE_FIXED, VERDICT(event), .names = verdict_events},
	{"since", COLUMN_REFERENCE, ROLE_FIXED, VERDICT(since)},
	{"reference", COLUMN_FIXED, ROLE_FIXED, VERDICT(reference), .size = OBJECT_ID_SIZE},
	{"layout_deviation", COLUMN_REAL, ROLE_FIXED, VERDICT(layout_deviation)},
};
static const struct shape verdict_shape = {
	"verdict",
	verdict_columns,
	array_length(verdict_columns),
	sizeof(struct store_verdict),
	.outside = {"night", "position"},
};

int store_add_baseline(struct store *store, struct store_baseline *baseline, struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&baseline_shape, &query, store, baseline, "");
	if (query_run(&query, err) < 0)
		return -1;
	baseline->id = sqlite3_last_insert_rowid(store->database);
	return 0;
}

int store_complete_baseline(struct store *store, int64_t id, int64_t seconds, struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store,
		      "UPDATE baseline SET complete = 1, pending = 0, measured_seconds = ?2"
		      " WHERE id = ?1");
	query_bind_integer(&query, 1, id);
	query_bind_integer(&query, 2, seconds);
	return query_change(&query, "this baseline does not exist", err);
}

int store_extend_baseline(struct store *store, int64_t id, int64_t boots, struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store,
		      "UPDATE baseline SET boots = boots + ?2, pending = 1"
		      " WHERE id = ?1 AND complete = 1 AND pending = 0");
	query_bind_integer(&query, 1, id);
	query_bind_integer(&query, 2, boots);
	return query_change(&query, "this baseline does not exist, or is not complete", err);
}

int store_get_baseline_by_id(struct store *store, int64_t id, struct store_baseline *ret_baseline,
			     struct error *err)
{
	auto_query struct query query = {0};
	bool found;
	shape_select(&baseline_shape, &query, store, "WHERE id = ?1");
	query_bind_integer(&query, 1, id);
	if (shape_first(&baseline_shape, &query, &found, ret_baseline, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_STATE, "store %s: baseline %lld does not exist",
				 store->path, (long long)id);
	return 0;
}

int store_get_baseline(struct store *store, const char *tree_name, const char *machine,
		       bool complete_only, struct store_baseline *ret_baseline, struct error *err)
{
	auto_query struct query query = {0};
	struct store_baseline baseline = {0};
	bool found;
	shape_select(&baseline_shape, &query, store,
		     "WHERE tree_name = ?1 AND machine = ?2 AND complete >= ?3"
		     " ORDER BY id DESC LIMIT 1");
	query_bind_text(&query, 1, tree_name);
	query_bind_text(&query, 2, machine);
	query_bind_integer(&query, 3, complete_only);
	if (shape_first(&baseline_shape, &query, &found, &baseline, err) < 0)
		return -1;
	*ret_baseline = baseline;
	return 0;
}

void store_baseline_free(struct store_baseline *baseline)
{
	shape_free(&baseline_shape, baseline);
}

const char *night_state_name(enum night_state state)
{
	return night_states[state];
}

int store_add_night(struct store *store, struct store_night *night, struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&night_shape, &query, store, night, "");
	if (query_run(&query, err) < 0)
		return -1;
	night->id = sqlite3_last_insert_rowid(store->database);
	return 0;
}

int store_update_night(struct store *store, const struct store_night *night, struct error *err)
{
	auto_query struct query query = {0};
	shape_update(&night_shape, &query, store, night, "");
	return query_change(&query, "this night does not exist", err);
}

int store_get_night(struct store *store, int64_t id, struct store_night *ret_night,
		    struct error *err)
{
	auto_query struct query query = {0};
	bool found;
	shape_select(&night_shape, &query, store, "WHERE id = ?1");
	query_bind_integer(&query, 1, id);
	if (shape_first(&night_shape, &query, &found, ret_night, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_STATE, "store %s: night %lld does not exist",
				 store->path, (long long)id);
	return 0;
}

int store_list_nights(struct store *store, const char *kind, bool unfinished_only, size_t limit,
		      struct store_night **ret_nights, size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	void *nights;
	shape_select(&night_shape, &query, store,
		     "WHERE (?1 IS NULL OR kind = ?1) AND (?2 = 0 OR state <> 'done')"
		     " ORDER BY id DESC LIMIT ?3");
	query_bind_text(&query, 1, kind);
	query_bind_integer(&query, 2, unfinished_only);
	query_bind_limit(&query, 3, limit);
	if (shape_list(&night_shape, &query, &nights, ret_count, err) < 0)
		return -1;
	*ret_nights = nights;
	return 0;
}

void store_night_free(struct store_night *night)
{
	shape_free(&night_shape, night);
}

void store_nights_free(struct store_night *nights, size_t count)
{
	shape_free_all(&night_shape, nights, count);
}

static int add_verdict(struct store *store, int64_t night, int64_t position,
		       const struct store_verdict *verdict, struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&verdict_shape, &query, store, verdict, "");
	query_bind_integer(&query, (int)verdict_shape.column_count + 1, night);
	query_bind_integer(&query, (int)verdict_shape.column_count + 2, position);
	return query_run(&query, err);
}

int store_put_verdicts(struct store *store, int64_t night, int64_t stage,
		       const struct store_verdict *verdicts, size_t count, struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query removal = {0};
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	query_prepare(&removal, store, "DELETE FROM verdict WHERE night = ?1 AND stage = ?2");
	query_bind_integer(&removal, 1, night);
	query_bind_integer(&removal, 2, stage);
	if (query_run(&removal, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct store_verdict verdict = verdicts[i];
		verdict.stage = stage;
		if (add_verdict(store, night, (int64_t)i, &verdict, err) < 0)
			return error_prefix(err, "verdict of %s", verdict.series);
	}
	return transaction_commit(&transaction, err);
}

int store_get_verdicts(struct store *store, int64_t night, int64_t stage,
		       struct store_verdict **ret_verdicts, size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	void *verdicts;
	shape_select(&verdict_shape, &query, store,
		     "WHERE night = ?1 AND stage = ?2 ORDER BY position");
	query_bind_integer(&query, 1, night);
	query_bind_integer(&query, 2, stage);
	if (shape_list(&verdict_shape, &query, &verdicts, ret_count, err) < 0)
		return -1;
	*ret_verdicts = verdicts;
	return 0;
}

void store_verdicts_free(struct store_verdict *verdicts, size_t count)
{
	shape_free_all(&verdict_shape, verdicts, count);
}
