/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_watch.h"

#include "sentinel/store_private.h"

#define ACKNOWLEDGEMENT(member) .offset = offsetof(struct store_acknowledgement, member)
static const struct column acknowledgement_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, ACKNOWLEDGEMENT(id)},
	{"night", COLUMN_INTEGER, ROLE_FIXED, ACKNOWLEDGEMENT(night)},
	{"series", COLUMN_TEXT, ROLE_FIXED, ACKNOWLEDGEMENT(series)},
	{"person", COLUMN_TEXT, ROLE_FIXED, ACKNOWLEDGEMENT(person)},
	{"reason", COLUMN_TEXT, ROLE_FIXED, ACKNOWLEDGEMENT(reason)},
	{"seconds", COLUMN_INTEGER, ROLE_FIXED, ACKNOWLEDGEMENT(seconds)},
};
static const struct shape acknowledgement_shape =
	SHAPE("acknowledgement", acknowledgement_columns, struct store_acknowledgement);

#define POINT(member) .offset = offsetof(struct store_change_point, member)
static const struct column point_columns[] = {
	{"series", COLUMN_TEXT, ROLE_KEY, POINT(series)},
	{"night", COLUMN_INTEGER, ROLE_KEY, POINT(night)},
	{"found_in", COLUMN_INTEGER, ROLE_FIXED, POINT(found_in)},
	{"change", COLUMN_REAL, ROLE_FIXED, POINT(change)},
	{"p_value", COLUMN_REAL, ROLE_FIXED, POINT(p_value)},
};
static const struct shape point_shape =
	SHAPE("change_point", point_columns, struct store_change_point);

#define CHARACTERISATION(member) .offset = offsetof(struct store_characterisation, member)
static const struct column characterisation_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, CHARACTERISATION(id)},
	{"tree_name", COLUMN_TEXT, ROLE_FIXED, CHARACTERISATION(tree_name)},
	{"machine", COLUMN_TEXT, ROLE_FIXED, CHARACTERISATION(machine)},
	{"commit_id", COLUMN_FIXED, ROLE_FIXED, CHARACTERISATION(commit), .size = OBJECT_ID_SIZE},
	{"boots", COLUMN_INTEGER, ROLE_FIXED, CHARACTERISATION(boots)},
	{"layouts", COLUMN_INTEGER, ROLE_FIXED, CHARACTERISATION(layouts)},
	{"identity", COLUMN_TEXT, ROLE_MUTABLE, CHARACTERISATION(identity)},
	{"started_seconds", COLUMN_INTEGER, ROLE_FIXED, CHARACTERISATION(started_seconds)},
	{"complete", COLUMN_FLAG, ROLE_MUTABLE, CHARACTERISATION(complete)},
};
static const struct shape characterisation_shape =
	SHAPE("characterisation", characterisation_columns, struct store_characterisation);

#define NOISE(member) .offset = offsetof(struct store_noise, member)
static const struct column noise_columns[] = {
	{"series", COLUMN_TEXT, ROLE_FIXED, NOISE(series)},
	{"iterations", COLUMN_REAL, ROLE_FIXED, NOISE(components.iterations)},
	{"within", COLUMN_REAL, ROLE_FIXED, NOISE(components.within)},
	{"within_degrees", COLUMN_REAL, ROLE_FIXED, NOISE(components.within_degrees)},
	{"boot", COLUMN_REAL, ROLE_FIXED, NOISE(components.boot)},
	{"boot_degrees", COLUMN_REAL, ROLE_FIXED, NOISE(components.boot_degrees)},
	{"between_boots", COLUMN_REAL, ROLE_FIXED, NOISE(components.between)},
	{"layout", COLUMN_REAL, ROLE_FIXED, NOISE(components.group)},
	{"layout_degrees", COLUMN_REAL, ROLE_FIXED, NOISE(components.group_degrees)},
	{"deviation_floor", COLUMN_REAL, ROLE_FIXED, NOISE(deviation_floor)},
};
static const struct shape noise_shape = {
	"series_noise",
	noise_columns,
	array_length(noise_columns),
	sizeof(struct store_noise),
	.outside = {"characterisation", "position"},
};

int store_add_acknowledgement(struct store *store, struct store_acknowledgement *acknowledgement,
			      struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&acknowledgement_shape, &query, store, acknowledgement, "");
	if (query_run(&query, err) < 0)
		return -1;
	acknowledgement->id = sqlite3_last_insert_rowid(store->database);
	return 0;
}

int store_list_acknowledgements(struct store *store, const char *series,
				struct store_acknowledgement **ret_list, size_t *ret_count,
				struct error *err)
{
	auto_query struct query query = {0};
	void *list;
	shape_select(&acknowledgement_shape, &query, store,
		     "WHERE ?1 IS NULL OR series = ?1 ORDER BY id");
	query_bind_text(&query, 1, series);
	if (shape_list(&acknowledgement_shape, &query, &list, ret_count, err) < 0)
		return -1;
	*ret_list = list;
	return 0;
}

void store_acknowledgements_free(struct store_acknowledgement *list, size_t count)
{
	shape_free_all(&acknowledgement_shape, list, count);
}

int store_add_change_point(struct store *store, const struct store_change_point *point,
			   struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&point_shape, &query, store, point, "ON CONFLICT (series, night) DO NOTHING");
	return query_run(&query, err);
}

int store_list_change_points(struct store *store, const char *series, int64_t found_in,
			     struct store_change_point **ret_points, size_t *ret_count,
			     struct error *err)
{
	auto_query struct query query = {0};
	void *points;
	shape_select(&point_shape, &query, store,
		     "WHERE (?1 IS NULL OR series = ?1) AND (?2 = 0 OR found_in = ?2)"
		     " ORDER BY series, night");
	query_bind_text(&query, 1, series);
	query_bind_integer(&query, 2, found_in);
	if (shape_list(&point_shape, &query, &points, ret_count, err) < 0)
		return -1;
	*ret_points = points;
	return 0;
}

void store_change_points_free(struct store_change_point *points, size_t count)
{
	shape_free_all(&point_shape, points, count);
}

int store_add_characterisation(struct store *store, struct store_characterisation *characterisation,
			       struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&characterisation_shape, &query, store, characterisation, "");
	if (query_run(&query, err) < 0)
		return -1;
	characterisation->id = sqlite3_last_insert_rowid(store->database);
	return 0;
}

static int add_noise(struct store *store, int64_t characterisation, int64_t position,
		     const struct store_noise *noise, struct error *err)
{
	auto_query struct query query = {0};
	shape_insert(&noise_shape, &query, store, noise, "");
	query_bind_integer(&query, (int)noise_shape.column_count + 1, characterisation);
	query_bind_integer(&query, (int)noise_shape.column_count + 2, position);
	return query_run(&query, err);
}

int store_complete_characterisation(struct store *store, int64_t id, const char *identity,
				    const struct store_noise *noise, size_t count,
				    struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query query = {0};
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	query_prepare(&query, store,
		      "UPDATE characterisation SET complete = 1, identity = ?2"
		      " WHERE id = ?1 AND complete = 0");
	query_bind_integer(&query, 1, id);
	query_bind_text(&query, 2, identity);
	if (query_change(&query, "this characterisation is complete, or does not exist", err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add_noise(store, id, (int64_t)i, &noise[i], err) < 0)
			return error_prefix(err, "noise of %s", noise[i].series);
	return transaction_commit(&transaction, err);
}

int store_get_characterisation(struct store *store, const char *tree_name, const char *machine,
			       bool complete_only,
			       struct store_characterisation *ret_characterisation,
			       struct error *err)
{
	auto_query struct query query = {0};
	struct store_characterisation characterisation = {0};
	bool found;
	shape_select(&characterisation_shape, &query, store,
		     "WHERE tree_name = ?1 AND machine = ?2 AND complete >= ?3"
		     " ORDER BY id DESC LIMIT 1");
	query_bind_text(&query, 1, tree_name);
	query_bind_text(&query, 2, machine);
	query_bind_integer(&query, 3, complete_only);
	if (shape_first(&characterisation_shape, &query, &found, &characterisation, err) < 0)
		return -1;
	*ret_characterisation = characterisation;
	return 0;
}

int store_get_noise(struct store *store, int64_t characterisation, struct store_noise **ret_noise,
		    size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	void *noise;
	shape_select(&noise_shape, &query, store, "WHERE characterisation = ?1 ORDER BY position");
	query_bind_integer(&query, 1, characterisation);
	if (shape_list(&noise_shape, &query, &noise, ret_count, err) < 0)
		return -1;
	*ret_noise = noise;
	return 0;
}

void store_characterisation_free(struct store_characterisation *characterisation)
{
	shape_free(&characterisation_shape, characterisation);
}

void store_noise_free(struct store_noise *noise, size_t count)
{
	shape_free_all(&noise_shape, noise, count);
}
