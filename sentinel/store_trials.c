/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/clock.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define BUILD(member) .offset = offsetof(struct store_build, member)
static const struct column build_columns[] = {
	{"key", COLUMN_TEXT, ROLE_KEY, BUILD(key)},
	{"tree_name", COLUMN_TEXT, ROLE_MUTABLE, BUILD(tree_name)},
	{"tree_id", COLUMN_FIXED, ROLE_MUTABLE, BUILD(tree_id), .size = OBJECT_ID_SIZE},
	{"failed", COLUMN_FLAG, ROLE_MUTABLE, BUILD(failed)},
	{"image_digest", COLUMN_TEXT, ROLE_MUTABLE, BUILD(image_digest)},
	{"release", COLUMN_TEXT, ROLE_MUTABLE, BUILD(release)},
	{"toolchain", COLUMN_TEXT, ROLE_MUTABLE, BUILD(toolchain)},
	{"config_digest", COLUMN_TEXT, ROLE_MUTABLE, BUILD(config_digest)},
	{"reason", COLUMN_TEXT, ROLE_MUTABLE, BUILD(reason)},
	{"log_path", COLUMN_TEXT, ROLE_MUTABLE, BUILD(log_path)},
	{"seconds", COLUMN_REAL, ROLE_MUTABLE, BUILD(seconds)},
};
static const struct shape build_shape = SHAPE("build", build_columns, struct store_build);

static const char *const purposes[] = {
	[PURPOSE_BASELINE] = "baseline",
	[PURPOSE_NIGHT] = "night",
	[PURPOSE_RETEST] = "retest",
	[PURPOSE_HUNT] = "hunt",
	[PURPOSE_REVERT] = "revert",
	[PURPOSE_MEASURE] = "measure",
	[PURPOSE_CHARACTERISE] = "characterise",
	NULL,
};

static const char *const trial_states[] = {
	[TRIAL_QUEUED] = "queued",
	[TRIAL_BUILT] = "built",
	[TRIAL_ARMED] = "armed",
	[TRIAL_STORED] = "stored",
	[TRIAL_FAILED_BUILD] = "failed-build",
	[TRIAL_FAILED_BOOT] = "failed-boot",
	[TRIAL_FAILED_BENCH] = "failed-bench",
	[TRIAL_FAILED_HOST] = "failed-host",
	NULL,
};

#define TRIAL(member) .offset = offsetof(struct store_trial, member)
static const struct column trial_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, TRIAL(id)},
	{"purpose", COLUMN_NAME, ROLE_FIXED, TRIAL(purpose), .names = purposes},
	{"owner", COLUMN_INTEGER, ROLE_FIXED, TRIAL(owner)},
	{"sequence", COLUMN_INTEGER, ROLE_FIXED, TRIAL(sequence)},
	{"commit_id", COLUMN_FIXED, ROLE_FIXED, TRIAL(commit), .size = OBJECT_ID_SIZE},
	{"layout", COLUMN_COUNT, ROLE_FIXED, TRIAL(layout)},
	{"machine", COLUMN_TEXT, ROLE_FIXED, TRIAL(machine)},
	{"plan", COLUMN_TEXT, ROLE_FIXED, TRIAL(plan)},
	{"state", COLUMN_NAME, ROLE_MUTABLE, TRIAL(state), .names = trial_states},
	{"attempts", COLUMN_INTEGER, ROLE_MUTABLE, TRIAL(attempts)},
	{"token", COLUMN_FIXED, ROLE_MUTABLE, TRIAL(token), .size = TOKEN_SIZE},
	{"key", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(key)},
	{"image_digest", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(image_digest)},
	{"identity", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(identity)},
	{"clock", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(clock)},
	{"phase", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(phase)},
	{"cause", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(cause)},
	{"reason", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(reason)},
	{"console_path", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(console_path)},
	{"trusted_boot_id", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(trusted_boot_id)},
	{"suspect_boot_id", COLUMN_TEXT, ROLE_MUTABLE, TRIAL(suspect_boot_id)},
	{"seconds", COLUMN_REAL, ROLE_MUTABLE, TRIAL(seconds)},
	{"created_seconds", COLUMN_INTEGER, ROLE_FIXED, TRIAL(created_seconds)},
	{"ended_seconds", COLUMN_INTEGER, ROLE_MUTABLE, TRIAL(ended_seconds)},
};
static const struct shape trial_shape = SHAPE("trial", trial_columns, struct store_trial);

int store_put_build(struct store *store, const struct store_build *build, struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query removal = {0};
	auto_query struct query insertion = {0};
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	query_prepare(&removal, store, "DELETE FROM build WHERE key = ?1");
	query_bind_text(&removal, 1, build->key);
	shape_insert(&build_shape, &insertion, store, build, "");
	if (query_run(&removal, err) < 0 || query_run(&insertion, err) < 0)
		return -1;
	return transaction_commit(&transaction, err);
}

int store_get_build(struct store *store, const char *key, bool *ret_found,
		    struct store_build *ret_build, struct error *err)
{
	auto_query struct query query = {0};
	shape_select(&build_shape, &query, store, "WHERE key = ?1");
	query_bind_text(&query, 1, key);
	return shape_first(&build_shape, &query, ret_found, ret_build, err);
}

void store_build_free(struct store_build *build)
{
	shape_free(&build_shape, build);
}

const char *trial_purpose_name(enum trial_purpose purpose)
{
	return purposes[purpose];
}

static int find_queued(struct store *store, const struct store_trial *wanted,
		       struct store_trial *ret_trial, struct error *err)
{
	auto_query struct query query = {0};
	bool found;
	struct store_trial trial = {0};
	shape_select(&trial_shape, &query, store,
		     "WHERE purpose = ?1 AND owner = ?2 AND sequence = ?3");
	query_bind_text(&query, 1, purposes[wanted->purpose]);
	query_bind_integer(&query, 2, wanted->owner);
	query_bind_integer(&query, 3, wanted->sequence);
	if (shape_first(&trial_shape, &query, &found, &trial, err) < 0)
		return -1;
	if (!found || strcmp(trial.commit, wanted->commit) != 0 || trial.layout != wanted->layout ||
	    strcmp(trial.machine, wanted->machine) != 0) {
		error_set(err, ERROR_STATE,
			  "store %s: %s trial %lld of owner %lld is of commit %s, layout %zu, on "
			  "machine %s and cannot also be of %s, layout %zu, on %s",
			  store->path, purposes[wanted->purpose], (long long)wanted->sequence,
			  (long long)wanted->owner, trial.commit, trial.layout,
			  found ? trial.machine : "?", wanted->commit, wanted->layout,
			  wanted->machine);
		store_trial_free(&trial);
		return -1;
	}
	*ret_trial = trial;
	return 0;
}

int store_queue_trial(struct store *store, enum trial_purpose purpose, int64_t owner,
		      int64_t sequence, const char *commit, size_t layout, const char *machine,
		      const char *plan, struct store_trial *ret_trial, struct error *err)
{
	if (strlen(commit) >= OBJECT_ID_SIZE)
		return error_set(err, ERROR_STATE, "store %s: \"%.80s\" is no commit id",
				 store->path, commit);
	auto_store_trial struct store_trial wanted = {
		.purpose = purpose,
		.owner = owner,
		.sequence = sequence,
		.layout = layout,
		.machine = text_copy(machine),
		.plan = text_copy(plan),
		.state = TRIAL_QUEUED,
		.created_seconds = clock_utc_seconds(),
	};
	strcpy(wanted.commit, commit);
	auto_query struct query query = {0};
	shape_insert(&trial_shape, &query, store, &wanted,
		     "ON CONFLICT (purpose, owner, sequence) DO NOTHING");
	if (query_run(&query, err) < 0)
		return -1;
	return find_queued(store, &wanted, ret_trial, err);
}

int store_get_trial(struct store *store, int64_t id, struct store_trial *ret_trial,
		    struct error *err)
{
	auto_query struct query query = {0};
	bool found;
	shape_select(&trial_shape, &query, store, "WHERE id = ?1");
	query_bind_integer(&query, 1, id);
	if (shape_first(&trial_shape, &query, &found, ret_trial, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_STATE, "store %s: there is no trial %lld", store->path,
				 (long long)id);
	return 0;
}

/* A trial that is STORED stays as it is: its numbers have been used. */
static void update_unless_stored(struct query *query, struct store *store,
				 const struct store_trial *trial)
{
	shape_update(&trial_shape, query, store, trial, "AND state <> 'stored'");
}
static const char missing_trial[] = "this trial does not exist or is stored already";

int store_update_trial(struct store *store, const struct store_trial *trial, struct error *err)
{
	auto_query struct query query = {0};
	if (trial->state == TRIAL_STORED)
		return error_set(err, ERROR_STATE, "store %s: trial %lld has no samples to store",
				 store->path, (long long)trial->id);
	update_unless_stored(&query, store, trial);
	return query_change(&query, missing_trial, err);
}

int store_list_trials(struct store *store, int purpose_or_any, int64_t owner, const char *commit,
		      size_t limit, struct store_trial **ret_trials, size_t *ret_count,
		      struct error *err)
{
	auto_query struct query query = {0};
	void *trials;
	shape_select(&trial_shape, &query, store,
		     "WHERE (?1 IS NULL OR purpose = ?1) AND (?2 < 0 OR owner = ?2)"
		     " AND (?3 IS NULL OR commit_id = ?3) ORDER BY id DESC LIMIT ?4");
	query_bind_text(&query, 1, purpose_or_any < 0 ? NULL : purposes[purpose_or_any]);
	query_bind_integer(&query, 2, owner);
	query_bind_text(&query, 3, commit);
	query_bind_limit(&query, 4, limit);
	if (shape_list(&trial_shape, &query, &trials, ret_count, err) < 0)
		return -1;
	*ret_trials = trials;
	return 0;
}

/* The newest ones: an artifact cache that has warmed up, or a faster machine, soon counts. */
static int median_of_newest(struct store *store, const char *sql, const char *name,
			    double *ret_seconds, struct error *err)
{
	double seconds[20];
	size_t count = 0;
	int more;
	auto_query struct query query = {0};
	query_prepare(&query, store, sql);
	query_bind_text(&query, 1, name);
	query_bind_limit(&query, 2, array_length(seconds));
	while ((more = query_next(&query, err)) > 0)
		seconds[count++] = sqlite3_column_double(query.statement, 0);
	if (more < 0)
		return -1;
	*ret_seconds = count ? stats_median(seconds, count) : 0;
	return 0;
}

int store_usual_seconds(struct store *store, const char *tree_name, const char *machine,
			double *ret_build_seconds, double *ret_trial_seconds, struct error *err)
{
	static const char builds[] = "SELECT seconds FROM build WHERE tree_name = ?1 AND failed = 0"
				     " AND seconds > 0 ORDER BY rowid DESC LIMIT ?2";
	static const char trials[] = "SELECT seconds FROM trial WHERE machine = ?1"
				     " AND state = 'stored'"
				     " ORDER BY purpose IN ('hunt', 'retest') DESC, id DESC"
				     " LIMIT ?2";
	return median_of_newest(store, builds, tree_name, ret_build_seconds, err) < 0 ||
			       median_of_newest(store, trials, machine, ret_trial_seconds, err) < 0
		       ? -1
		       : 0;
}

void store_trial_free(struct store_trial *trial)
{
	shape_free(&trial_shape, trial);
}

void store_trials_free(struct store_trial *trials, size_t count)
{
	shape_free_all(&trial_shape, trials, count);
}

static int add_sealed_file(struct store *store, int64_t trial, const char *text, size_t length,
			   struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store, "INSERT INTO sealed_file (trial, content) VALUES (?1, ?2)");
	query_bind_integer(&query, 1, trial);
	query_bind_bytes(&query, 2, text, length);
	return query_run(&query, err);
}

static int add_samples(struct store *store, int64_t trial, const struct store_sample *samples,
		       size_t count, struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store,
		      "INSERT INTO sample (trial, series, iteration, valid, value, resolution,"
		      " unit, higher_is_better, command, program, fault)"
		      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
	for (size_t i = 0; i < count; i++) {
		const struct store_sample *sample = &samples[i];
		query_bind_integer(&query, 1, trial);
		query_bind_text(&query, 2, sample->series);
		query_bind_integer(&query, 3, sample->iteration);
		query_bind_integer(&query, 4, sample->valid);
		query_bind_real(&query, 5, sample->valid ? sample->value : NAN);
		query_bind_real(&query, 6, sample->resolution);
		query_bind_text(&query, 7, sample->unit);
		query_bind_integer(&query, 8, sample->higher_is_better);
		query_bind_text(&query, 9, sample->command);
		query_bind_text(&query, 10, sample->program);
		query_bind_text(&query, 11, sample->fault);
		if (query_run(&query, err) < 0)
			return error_prefix(err, "%s, iteration %lld", sample->series,
					    (long long)sample->iteration);
	}
	return 0;
}

int store_import(struct store *store, const struct store_trial *trial, const char *sealed_text,
		 size_t sealed_length, const struct store_sample *samples, size_t count,
		 struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query query = {0};
	struct store_trial stored = *trial;
	stored.state = TRIAL_STORED;
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	update_unless_stored(&query, store, &stored);
	if (query_change(&query, missing_trial, err) < 0 ||
	    add_sealed_file(store, trial->id, sealed_text, sealed_length, err) < 0 ||
	    add_samples(store, trial->id, samples, count, err) < 0)
		return error_prefix(err, "import of trial %lld", (long long)trial->id);
	return transaction_commit(&transaction, err);
}
