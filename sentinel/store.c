/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/text.h"

static const int busy_timeout_milliseconds = 5000;
/* "SNTL", so that file(1) and we can tell whose file it is. */
static const int application_id = 0x534e544c;

static const struct {
	int code;
	enum error_kind kind;
	const char *advice;
} faults[] = {
	{SQLITE_NOTADB, ERROR_STATE,
	 "it is damaged or no store; restore it from a copy, or move it away to begin anew"},
	{SQLITE_CORRUPT, ERROR_STATE,
	 "it is damaged; restore it from a copy, or move it away to begin anew"},
	{SQLITE_CONSTRAINT, ERROR_STATE,
	 "the record contradicts what is stored; nothing was changed"},
	{SQLITE_FULL, ERROR_SYSTEM, "make room on its disk, then run the command again"},
	{SQLITE_READONLY, ERROR_SYSTEM, "make the file and its folder writable"},
	{SQLITE_CANTOPEN, ERROR_SYSTEM, "the folder must exist and be writable"},
	{SQLITE_PERM, ERROR_SYSTEM, "make the file and its folder writable"},
	{SQLITE_IOERR, ERROR_SYSTEM, "see the kernel log for faults of its disk"},
	{SQLITE_BUSY, ERROR_SYSTEM, "another process has kept it locked; wait for it, or end it"},
	{SQLITE_NOMEM, ERROR_SYSTEM, "free some memory"},
};

int store_fault(const struct store *store, int code, struct error *err)
{
	const char *message = store->database && sqlite3_errcode(store->database) != SQLITE_OK
				      ? sqlite3_errmsg(store->database)
				      : sqlite3_errstr(code);
	for (size_t i = 0; i < array_length(faults); i++)
		if (faults[i].code == (code & 0xff))
			return error_set(err, faults[i].kind, "store %s: %s; %s", store->path,
					 message, faults[i].advice);
	return error_set(err, ERROR_STATE, "store %s: %s", store->path, message);
}

static void query_note(struct query *query, int code)
{
	if (query->code == SQLITE_OK)
		query->code = code;
}

void query_prepare(struct query *query, struct store *store, const char *sql)
{
	*query = (struct query){.store = store};
	query->code = sqlite3_prepare_v2(store->database, sql, -1, &query->statement, NULL);
}

void query_bind_integer(struct query *query, int parameter, int64_t value)
{
	query_note(query, sqlite3_bind_int64(query->statement, parameter, value));
}

void query_bind_real(struct query *query, int parameter, double value)
{
	query_note(query, isfinite(value) ? sqlite3_bind_double(query->statement, parameter, value)
					  : sqlite3_bind_null(query->statement, parameter));
}

void query_bind_text(struct query *query, int parameter, const char *text)
{
	query_note(query, sqlite3_bind_text(query->statement, parameter, text, -1, SQLITE_STATIC));
}

void query_bind_limit(struct query *query, int parameter, size_t limit)
{
	query_bind_integer(query, parameter, limit > INT64_MAX ? INT64_MAX : (int64_t)limit);
}

void query_bind_bytes(struct query *query, int parameter, const void *bytes, size_t length)
{
	query_note(query,
		   sqlite3_bind_blob64(query->statement, parameter, bytes, length, SQLITE_STATIC));
}

int query_next(struct query *query, struct error *err)
{
	if (query->code == SQLITE_OK) {
		int code = sqlite3_step(query->statement);
		if (code == SQLITE_ROW)
			return 1;
		if (code == SQLITE_DONE)
			return 0;
		query_note(query, code);
	}
	return store_fault(query->store, query->code, err);
}

int query_run(struct query *query, struct error *err)
{
	if (query_next(query, err) < 0)
		return -1;
	sqlite3_reset(query->statement);
	return 0;
}

int query_change(struct query *query, const char *missing, struct error *err)
{
	if (query_run(query, err) < 0)
		return -1;
	if (sqlite3_changes(query->store->database) == 0)
		return error_set(err, ERROR_STATE, "store %s: %s", query->store->path, missing);
	return 0;
}

void query_finish(struct query *query)
{
	sqlite3_finalize(query->statement);
	query->statement = NULL;
}

static int execute(struct store *store, const char *sql, struct error *err)
{
	int code = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : store_fault(store, code, err);
}

int transaction_begin(struct transaction *transaction, struct store *store, struct error *err)
{
	if (execute(store, "BEGIN IMMEDIATE", err) < 0)
		return -1;
	transaction->store = store;
	return 0;
}

int transaction_commit(struct transaction *transaction, struct error *err)
{
	if (execute(transaction->store, "COMMIT", err) < 0)
		return -1;
	transaction->store = NULL;
	return 0;
}

void transaction_end(struct transaction *transaction)
{
	if (transaction->store && !sqlite3_get_autocommit(transaction->store->database))
		execute(transaction->store, "ROLLBACK", NULL);
	transaction->store = NULL;
}

static int read_integer(struct store *store, const char *sql, int64_t *ret_value, struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store, sql);
	int more = query_next(&query, err);
	if (more < 0)
		return -1;
	*ret_value = more ? sqlite3_column_int64(query.statement, 0) : 0;
	return 0;
}

/* Before anything is written: another program's file must stay as it is. */
static int check_ownership(struct store *store, int64_t *ret_version, struct error *err)
{
	int64_t version, application, objects;
	if (read_integer(store, "PRAGMA user_version", &version, err) < 0 ||
	    read_integer(store, "PRAGMA application_id", &application, err) < 0 ||
	    read_integer(store, "SELECT count(*) FROM sqlite_schema", &objects, err) < 0)
		return -1;
	if (application != application_id && (application || version || objects))
		return error_set(err, ERROR_STATE,
				 "store %s: this is another program's database; move it away, or "
				 "choose another state folder",
				 store->path);
	if (version > store_version)
		return error_set(
			err, ERROR_STATE,
			"store %s: written by a newer Sentinel (version %lld of the store, "
			"this one knows up to %d); install that Sentinel again",
			store->path, (long long)version, store_version);
	if (version < 0)
		return error_set(err, ERROR_STATE,
				 "store %s: impossible version %lld; restore it from a copy",
				 store->path, (long long)version);
	*ret_version = version;
	return 0;
}

static int check_references(struct store *store, struct error *err)
{
	int64_t dangling;
	if (read_integer(store, "SELECT count(*) FROM pragma_foreign_key_check", &dangling, err) <
	    0)
		return -1;
	if (dangling)
		return error_set(err, ERROR_STATE,
				 "store %s: %lld records refer to others that are not there; "
				 "restore it from a copy",
				 store->path, (long long)dangling);
	return 0;
}

static int migrate(struct store *store, struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	int64_t version;
	/* Looked at again inside: another process may have migrated it just now. */
	if (transaction_begin(&transaction, store, err) < 0 ||
	    check_ownership(store, &version, err) < 0)
		return -1;
	for (; version < store_version; version++)
		if (execute(store, store_migrations[version], err) < 0)
			return -1;
	if (check_references(store, err) < 0)
		return -1;
	auto_free char *stamp = text_format("PRAGMA application_id = %d; PRAGMA user_version = %d",
					    application_id, store_version);
	if (execute(store, stamp, err) < 0)
		return -1;
	return transaction_commit(&transaction, err);
}

static int prepare_file(struct store *store, struct error *err)
{
	int64_t version;
	sqlite3_extended_result_codes(store->database, 1);
	sqlite3_busy_timeout(store->database, busy_timeout_milliseconds);
	if (check_ownership(store, &version, err) < 0)
		return -1;
	if (sqlite3_db_readonly(store->database, "main") == 1)
		return store_fault(store, SQLITE_READONLY, err);
	/* References are checked at the end of a migration: it may replace what they point to. */
	if (execute(store,
		    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		    "PRAGMA foreign_keys = OFF",
		    err) < 0 ||
	    (version < store_version && migrate(store, err) < 0))
		return -1;
	return execute(store, "PRAGMA foreign_keys = ON", err);
}

int store_open(const char *path, struct store **ret_store, struct error *err)
{
	auto_store struct store *store = memory_array(1, sizeof(*store));
	store->path = text_copy(path);
	int code = sqlite3_open_v2(path, &store->database,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (code != SQLITE_OK)
		return store_fault(store, code, err);
	if (prepare_file(store, err) < 0)
		return -1;
	*ret_store = take(store);
	return 0;
}

void store_close(struct store **store)
{
	if (!*store)
		return;
	sqlite3_close((*store)->database);
	free((*store)->path);
	free(*store);
	*store = NULL;
}
