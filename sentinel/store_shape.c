/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/text.h"

static const void *member_of(const struct column *column, const void *record)
{
	return (const char *)record + column->offset;
}

static void bind_column(struct query *query, int parameter, const struct column *column,
			const void *record)
{
	const void *member = member_of(column, record);
	switch (column->type) {
	case COLUMN_REFERENCE:
		if (*(const int64_t *)member)
			query_bind_integer(query, parameter, *(const int64_t *)member);
		else
			query_bind_text(query, parameter, NULL);
		break;
	case COLUMN_INTEGER:
		query_bind_integer(query, parameter, *(const int64_t *)member);
		break;
	case COLUMN_COUNT:
		query_bind_integer(query, parameter, (int64_t) * (const size_t *)member);
		break;
	case COLUMN_FLAG:
		query_bind_integer(query, parameter, *(const bool *)member);
		break;
	case COLUMN_REAL:
		query_bind_real(query, parameter, *(const double *)member);
		break;
	case COLUMN_NAME:
		query_bind_text(query, parameter, column->names[*(const unsigned *)member]);
		break;
	case COLUMN_TEXT:
		query_bind_text(query, parameter, *(char *const *)member);
		break;
	case COLUMN_FIXED:
		query_bind_text(query, parameter, member);
		break;
	case COLUMN_BYTES:
		query_bind_bytes(query, parameter, *(char *const *)member,
				 *(const size_t *)((const char *)record + column->length_offset));
		break;
	}
}

static void append_names(struct text *sql, const struct shape *shape)
{
	for (size_t i = 0; i < shape->column_count; i++)
		text_printf(sql, "%s%s", i ? ", " : "", shape->columns[i].name);
}

void shape_select(const struct shape *shape, struct query *query, struct store *store,
		  const char *rest)
{
	auto_text struct text sql = {0};
	text_append(&sql, "SELECT ");
	append_names(&sql, shape);
	text_printf(&sql, " FROM %s %s", shape->table, rest);
	query_prepare(query, store, sql.data);
}

void shape_insert(const struct shape *shape, struct query *query, struct store *store,
		  const void *record, const char *rest)
{
	auto_text struct text sql = {0};
	size_t parameters = shape->column_count;
	text_printf(&sql, "INSERT INTO %s (", shape->table);
	append_names(&sql, shape);
	for (const char *const *name = shape->outside; *name; name++, parameters++)
		text_printf(&sql, ", %s", *name);
	text_append(&sql, ") VALUES (");
	for (size_t i = 0; i < parameters; i++)
		text_printf(&sql, "%s?%zu", i ? ", " : "", i + 1);
	text_printf(&sql, ") %s", rest);
	query_prepare(query, store, sql.data);
	for (size_t i = 0; i < shape->column_count; i++)
		bind_column(query, (int)i + 1, &shape->columns[i], record);
}

static void append_assignments(struct text *sql, const struct shape *shape, enum column_role role,
			       const char *separator)
{
	const char *before = "";
	for (size_t i = 0; i < shape->column_count; i++) {
		if (shape->columns[i].role != role)
			continue;
		text_printf(sql, "%s%s = ?%zu", before, shape->columns[i].name, i + 1);
		before = separator;
	}
}

void shape_update(const struct shape *shape, struct query *query, struct store *store,
		  const void *record, const char *rest)
{
	auto_text struct text sql = {0};
	text_printf(&sql, "UPDATE %s SET ", shape->table);
	append_assignments(&sql, shape, ROLE_MUTABLE, ", ");
	text_append(&sql, " WHERE ");
	append_assignments(&sql, shape, ROLE_KEY, " AND ");
	text_printf(&sql, " %s", rest);
	query_prepare(query, store, sql.data);
	for (size_t i = 0; i < shape->column_count; i++)
		if (shape->columns[i].role != ROLE_FIXED)
			bind_column(query, (int)i + 1, &shape->columns[i], record);
}

static int load_name(const struct column *column, const char *name, unsigned *ret_value)
{
	for (unsigned i = 0; name && column->names[i]; i++)
		if (strcmp(column->names[i], name) == 0) {
			*ret_value = i;
			return 0;
		}
	return -1;
}

static int load_fixed(const struct column *column, const char *text, char *ret_text)
{
	if (!text || strlen(text) >= column->size)
		return -1;
	strcpy(ret_text, text);
	return 0;
}

static int load_column(const struct query *query, int position, const struct column *column,
		       void *record)
{
	sqlite3_stmt *statement = query->statement;
	void *member = (char *)record + column->offset;
	const char *text = NULL;
	if (column->type >= COLUMN_NAME && column->type != COLUMN_BYTES)
		text = (const char *)sqlite3_column_text(statement, position);
	switch (column->type) {
	case COLUMN_REFERENCE:
	case COLUMN_INTEGER:
		*(int64_t *)member = sqlite3_column_int64(statement, position);
		return 0;
	case COLUMN_COUNT:
		*(size_t *)member = (size_t)sqlite3_column_int64(statement, position);
		return 0;
	case COLUMN_FLAG:
		*(bool *)member = sqlite3_column_int(statement, position) != 0;
		return 0;
	case COLUMN_REAL:
		*(double *)member = sqlite3_column_type(statement, position) == SQLITE_NULL
					    ? NAN
					    : sqlite3_column_double(statement, position);
		return 0;
	case COLUMN_NAME:
		return load_name(column, text, member);
	case COLUMN_TEXT:
		*(char **)member = text ? text_copy(text) : NULL;
		return 0;
	case COLUMN_FIXED:
		return load_fixed(column, text, member);
	case COLUMN_BYTES: {
		const void *bytes = sqlite3_column_blob(statement, position);
		size_t length = (size_t)sqlite3_column_bytes(statement, position);
		struct text copy = {0};
		text_append_bytes(&copy, bytes, length);
		*(size_t *)((char *)record + column->length_offset) = length;
		*(char **)member = text_take(&copy);
		return 0;
	}
	}
	return -1;
}

int shape_load(const struct shape *shape, const struct query *query, void *ret_record,
	       struct error *err)
{
	memset(ret_record, 0, shape->record_size);
	for (size_t i = 0; i < shape->column_count; i++) {
		if (load_column(query, (int)i, &shape->columns[i], ret_record) == 0)
			continue;
		shape_free(shape, ret_record);
		return error_set(err, ERROR_STATE,
				 "store %s: impossible %s in a %s; restore it "
				 "from a copy",
				 query->store->path, shape->columns[i].name, shape->table);
	}
	return 0;
}

int shape_list(const struct shape *shape, struct query *query, void **ret_records,
	       size_t *ret_count, struct error *err)
{
	char *records = NULL;
	size_t count = 0;
	int more;
	while ((more = query_next(query, err)) > 0) {
		/* Doubles at every power of two. */
		if ((count & (count - 1)) == 0)
			records = memory_resize(records, count ? 2 * count : 1, shape->record_size);
		more = shape_load(shape, query, records + count * shape->record_size, err);
		if (more < 0)
			break;
		count++;
	}
	if (more < 0) {
		shape_free_all(shape, records, count);
		return -1;
	}
	*ret_records = records;
	*ret_count = count;
	return 0;
}

int shape_first(const struct shape *shape, struct query *query, bool *ret_found, void *ret_record,
		struct error *err)
{
	int more = query_next(query, err);
	if (more < 0 || (more > 0 && shape_load(shape, query, ret_record, err) < 0))
		return -1;
	*ret_found = more > 0;
	return 0;
}

void shape_free(const struct shape *shape, void *record)
{
	for (size_t i = 0; i < shape->column_count; i++)
		if (shape->columns[i].type == COLUMN_TEXT || shape->columns[i].type == COLUMN_BYTES)
			free(*(char **)((char *)record + shape->columns[i].offset));
	memset(record, 0, shape->record_size);
}

void shape_free_all(const struct shape *shape, void *records, size_t count)
{
	for (size_t i = 0; i < count; i++)
		shape_free(shape, (char *)records + i * shape->record_size);
	free(records);
}
