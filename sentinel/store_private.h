/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_STORE_PRIVATE_H
#define SENTINEL_STORE_PRIVATE_H

/*
 * What the store's files share. Two ideas: a query that remembers its first fault, so that binding
 * is never checked; and shapes, tables that say which member of a record is which column, from
 * which the SQL, the binding, the reading and the freeing of a record all follow.
 */

#include <sqlite3.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/store.h"

struct store {
	sqlite3 *database;
	char *path;
};

/* Turns SQLite's CODE into an error that names the file and who must act; returns -1. */
int store_fault(const struct store *store, int code, struct error *err);

/* One prepared statement. Parameters are numbered from 1, columns from 0. */
struct query {
	struct store *store;
	sqlite3_stmt *statement;
	int code; /* the first fault, or SQLITE_OK */
};

void query_prepare(struct query *query, struct store *store, const char *sql);
void query_bind_integer(struct query *query, int parameter, int64_t value);
/* Not finite: NULL, which a column that must have a number refuses. */
void query_bind_real(struct query *query, int parameter, double value);
/* TEXT may be NULL. Neither it nor BYTES may change before the query has run. */
void query_bind_text(struct query *query, int parameter, const char *text);
/* For LIMIT; what does not fit is no limit. */
void query_bind_limit(struct query *query, int parameter, size_t limit);
void query_bind_bytes(struct query *query, int parameter, const void *bytes, size_t length);
/* 1: a row is there; 0: no more; -1: *err is set. */
int query_next(struct query *query, struct error *err);
/* For statements without rows. May be repeated with new bindings. */
int query_run(struct query *query, struct error *err);
/* As query_run; ERROR_STATE with MISSING as its message when no row was changed. */
int query_change(struct query *query, const char *missing, struct error *err);
void query_finish(struct query *query);
#define auto_query auto_cleanup(query_finish)

/* What was not committed is rolled back at the end of the scope. */
struct transaction {
	struct store *store; /* NULL: none is open */
};
int transaction_begin(struct transaction *transaction, struct store *store, struct error *err);
int transaction_commit(struct transaction *transaction, struct error *err);
void transaction_end(struct transaction *transaction);
#define auto_transaction auto_cleanup(transaction_end)

/* store_schema.c: migrations[N] leads from version N to N + 1. */
extern const char *const store_migrations[];
extern const int store_version;

enum column_type {
	COLUMN_REFERENCE, /* int64_t; 0 is NULL */
	COLUMN_INTEGER,   /* int64_t */
	COLUMN_COUNT,     /* size_t */
	COLUMN_FLAG,      /* bool */
	COLUMN_REAL,      /* double; NULL is NaN */
	COLUMN_NAME,      /* an enum, kept as one of names */
	COLUMN_TEXT,      /* char *, owned; NULL is NULL */
	COLUMN_FIXED,     /* char[size] */
	COLUMN_BYTES,     /* char *, owned, with its length in the size_t at length_offset */
};

enum column_role { ROLE_FIXED, ROLE_KEY, ROLE_MUTABLE };

struct column {
	const char *name;
	enum column_type type;
	enum column_role role;
	size_t offset;
	size_t size;              /* COLUMN_FIXED */
	size_t length_offset;     /* COLUMN_BYTES */
	const char *const *names; /* COLUMN_NAME; ends with NULL */
};

/* A table's columns in the order of its record; the first one is column 0 and parameter 1. */
struct shape {
	const char *table;
	const struct column *columns;
	size_t column_count;
	size_t record_size;
	/* Columns that the record has no member for, such as its owner's id. */
	const char *outside[3]; /* ends with NULL */
};
#define SHAPE(table_name, column_table, record)                                                    \
	{                                                                                          \
		table_name, column_table, array_length(column_table), sizeof(record),              \
		{                                                                                  \
			NULL                                                                       \
		}                                                                                  \
	}

/* "SELECT every column FROM table REST"; parameters in REST are the caller's to bind. */
void shape_select(const struct shape *shape, struct query *query, struct store *store,
		  const char *rest);
/* "INSERT INTO table … REST" and "UPDATE table SET every mutable column WHERE every key REST", with
   the members of RECORD bound. Outside columns are the caller's to bind, as parameters from
   column_count + 1. */
void shape_insert(const struct shape *shape, struct query *query, struct store *store,
		  const void *record, const char *rest);
void shape_update(const struct shape *shape, struct query *query, struct store *store,
		  const void *record, const char *rest);
/* The row as a fresh record; texts are the caller's. ERROR_STATE when it does not fit. */
int shape_load(const struct shape *shape, const struct query *query, void *ret_record,
	       struct error *err);
/* All rows of a query made by shape_select, as an array. */
int shape_list(const struct shape *shape, struct query *query, void **ret_records,
	       size_t *ret_count, struct error *err);
/* The first row; *ret_found is false and *ret_record untouched when there is none. */
int shape_first(const struct shape *shape, struct query *query, bool *ret_found, void *ret_record,
		struct error *err);
/* Frees what a record owns and zeroes it; the second also frees the array. */
void shape_free(const struct shape *shape, void *record);
void shape_free_all(const struct shape *shape, void *records, size_t count);

#endif
