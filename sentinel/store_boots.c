/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#include <string.h>

#include "sentinel/base/text.h"

/* One row is one sample; rows of one trial and series are one boot. */
static const char select_samples[] =
	"SELECT trial.id, trial.sequence, trial.commit_id, sample.series, sample.unit,"
	" sample.higher_is_better, sample.resolution, trial.identity, trial.clock, sample.command,"
	" sample.program, trial.layout, sample.value FROM trial JOIN sample ON sample.trial = "
	"trial.id"
	" WHERE trial.state = 'stored'";

#define BOOT(member) .offset = offsetof(struct store_boot, member)
static const struct column boot_columns[] = {
	{"trial", COLUMN_INTEGER, ROLE_FIXED, BOOT(trial)},
	{"sequence", COLUMN_INTEGER, ROLE_FIXED, BOOT(sequence)},
	{"commit_id", COLUMN_FIXED, ROLE_FIXED, BOOT(commit), .size = OBJECT_ID_SIZE},
	{"series", COLUMN_TEXT, ROLE_FIXED, BOOT(series)},
	{"unit", COLUMN_TEXT, ROLE_FIXED, BOOT(unit)},
	{"higher_is_better", COLUMN_FLAG, ROLE_FIXED, BOOT(higher_is_better)},
	{"resolution", COLUMN_REAL, ROLE_FIXED, BOOT(resolution)},
	{"identity", COLUMN_TEXT, ROLE_FIXED, BOOT(identity)},
	{"clock", COLUMN_TEXT, ROLE_FIXED, BOOT(clock)},
	{"command", COLUMN_TEXT, ROLE_FIXED, BOOT(command)},
	{"program", COLUMN_TEXT, ROLE_FIXED, BOOT(program)},
	{"layout", COLUMN_COUNT, ROLE_FIXED, BOOT(layout)},
};
static const struct shape boot_shape = SHAPE("sample", boot_columns, struct store_boot);
static const int value_column = array_length(boot_columns);

struct boot_list {
	struct store_boot *boots;
	size_t count;
};

static void boot_list_free(struct boot_list *list)
{
	store_boots_free(list->boots, list->count);
}

static bool continues(const struct boot_list *list, const struct query *query)
{
	const struct store_boot *last = list->count ? &list->boots[list->count - 1] : NULL;
	return last && last->trial == sqlite3_column_int64(query->statement, 0) &&
	       strcmp(last->series, (const char *)sqlite3_column_text(query->statement, 3)) == 0;
}

static int add_row(struct boot_list *list, const struct query *query, struct error *err)
{
	if (!continues(list, query)) {
		list->boots = memory_resize(list->boots, list->count + 1, sizeof(*list->boots));
		if (shape_load(&boot_shape, query, &list->boots[list->count], err) < 0)
			return -1;
		list->count++;
	}
	struct store_boot *boot = &list->boots[list->count - 1];
	double resolution = sqlite3_column_double(query->statement, 6);
	if (resolution > boot->resolution)
		boot->resolution = resolution;
	if (sqlite3_column_type(query->statement, value_column) == SQLITE_NULL) {
		boot->invalid++;
		return 0;
	}
	boot->values = memory_resize(boot->values, boot->count + 1, sizeof(*boot->values));
	boot->values[boot->count++] = sqlite3_column_double(query->statement, value_column);
	return 0;
}

static int collect(struct query *query, struct store_boot **ret_boots, size_t *ret_count,
		   struct error *err)
{
	auto_cleanup(boot_list_free) struct boot_list list = {0};
	int more;
	while ((more = query_next(query, err)) > 0)
		if (add_row(&list, query, err) < 0)
			return -1;
	if (more < 0)
		return -1;
	*ret_count = list.count;
	*ret_boots = take(list.boots);
	list.count = 0;
	return 0;
}

int store_boots(struct store *store, enum trial_purpose purpose, int64_t owner, const char *commit,
		const char *series, struct store_boot **ret_boots, size_t *ret_count,
		struct error *err)
{
	auto_query struct query query = {0};
	auto_free char *sql = text_format(
		"%s AND trial.purpose = ?1 AND trial.owner = ?2"
		" AND (?3 IS NULL OR trial.commit_id = ?3) AND (?4 IS NULL OR sample.series = ?4)"
		" ORDER BY trial.sequence, sample.series, sample.iteration",
		select_samples);
	query_prepare(&query, store, sql);
	query_bind_text(&query, 1, trial_purpose_name(purpose));
	query_bind_integer(&query, 2, owner);
	query_bind_text(&query, 3, commit);
	query_bind_text(&query, 4, series);
	return collect(&query, ret_boots, ret_count, err);
}

int store_boots_of_commit(struct store *store, const char *machine, const char *commit,
			  struct store_boot **ret_boots, size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	auto_free char *sql = text_format("%s AND trial.machine = ?1 AND trial.commit_id = ?2"
					  " ORDER BY trial.id, sample.series, sample.iteration",
					  select_samples);
	query_prepare(&query, store, sql);
	query_bind_text(&query, 1, machine);
	query_bind_text(&query, 2, commit);
	return collect(&query, ret_boots, ret_count, err);
}

int store_boot_of_trial(struct store *store, int64_t trial, const char *series,
			struct store_boot *ret_boot, struct error *err)
{
	auto_query struct query query = {0};
	auto_cleanup(boot_list_free) struct boot_list list = {0};
	auto_free char *sql = text_format("%s AND trial.id = ?1 AND sample.series = ?2"
					  " ORDER BY sample.iteration",
					  select_samples);
	query_prepare(&query, store, sql);
	query_bind_integer(&query, 1, trial);
	query_bind_text(&query, 2, series);
	if (collect(&query, &list.boots, &list.count, err) < 0)
		return -1;
	*ret_boot = list.count ? list.boots[0] : (struct store_boot){0};
	if (list.count)
		list.boots[0] = (struct store_boot){0};
	return 0;
}

void store_boot_free(struct store_boot *boot)
{
	free(boot->values);
	shape_free(&boot_shape, boot);
}

void store_boots_free(struct store_boot *boots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(boots[i].values);
	shape_free_all(&boot_shape, boots, count);
}
