/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/history.h"

/* Something open that can be accepted, or a night that was asked for. */
struct candidate {
	const char *series;
	size_t since; /* index of the night; WATCH_NO_NIGHT: nothing is open */
	size_t level; /* the night whose level would be accepted */
	double change;
	bool creep;
};

static struct candidate find_open(const struct history *history, const char *name)
{
	auto_history_series struct history_series series = {0};
	history_series_open(history, name, &series);
	const struct watch *watch = &series.watch;
	struct candidate candidate = {name, WATCH_NO_NIGHT, WATCH_NO_NIGHT, NAN, false};
	if (watch->open_since != WATCH_NO_NIGHT) {
		candidate.since = watch->open_since;
		candidate.level = watch->open_level;
		candidate.change = watch->open_change;
	} else if (watch->creep_since != WATCH_NO_NIGHT) {
		candidate.since = watch->creep_since;
		candidate.level = series.night_count - 1;
		candidate.change = series.nights[watch->creep_since].change;
		candidate.creep = true;
	}
	return candidate;
}

static char *person(void)
{
	const struct passwd *user = getpwuid(getuid());
	return user ? text_copy(user->pw_name) : text_format("user %lld", (long long)getuid());
}

static json_t *open_json(const struct history *history, const struct candidate *candidate)
{
	return json_pack("{s:s, s:I, s:I, s:s, s:f}", "series", candidate->series, "since",
			 (json_int_t)history->nights[candidate->since].night.id, "level",
			 (json_int_t)history->nights[candidate->level].night.id, "kind",
			 candidate->creep ? "creep" : "step", "change_percent",
			 stats_percent(candidate->change));
}

static json_t *acknowledgement_json(const struct store_acknowledgement *one)
{
	return json_pack("{s:s, s:I, s:s, s:s?, s:I}", "series", one->series, "night",
			 (json_int_t)one->night, "person", one->person, "reason", one->reason,
			 "seconds", (json_int_t)one->seconds);
}

static void print_acknowledgement(const struct store_acknowledgement *one)
{
	char date[21];
	auto_free char *reason = text_one_line(one->reason ? one->reason : "", 200);
	clock_utc_text(one->seconds, date);
	printf("%s %s accepted %s as of night %lld%s%s\n", date, one->person, one->series,
	       (long long)one->night, reason[0] ? ": " : "", reason);
}

static void print_open(const struct history *history, const struct candidate *candidate)
{
	printf("open: %s %+.2f%% since night %lld%s\n", candidate->series,
	       stats_percent(candidate->change),
	       (long long)history->nights[candidate->since].night.id,
	       candidate->creep ? ", creep" : "");
}

static int list(struct context *context, struct error *err)
{
	auto_history struct history history = {0};
	size_t count;
	if (history_load(context->store, &context->policy, NULL, &history, err) < 0)
		return -1;
	auto_free const char **names = history_names(&history, &count);
	auto_json json_t *open = json_array();
	auto_json json_t *accepted = json_array();
	for (size_t i = 0; i < count; i++) {
		struct candidate candidate = find_open(&history, names[i]);
		if (candidate.since == WATCH_NO_NIGHT)
			continue;
		json_array_append_new(open, open_json(&history, &candidate));
		if (!context->json)
			print_open(&history, &candidate);
	}
	for (size_t i = 0; i < history.acknowledgement_count; i++) {
		json_array_append_new(accepted, acknowledgement_json(&history.acknowledgements[i]));
		if (!context->json)
			print_acknowledgement(&history.acknowledgements[i]);
	}
	if (context->json)
		context_print_json(json_pack("{s:O, s:O}", "open", open, "accepted", accepted));
	else if (!json_array_size(open) && !json_array_size(accepted))
		puts("nothing is open, and nothing was accepted");
	return 0;
}

static int find_night(const struct history *history, const char *text, size_t *ret_index,
		      struct error *err)
{
	int64_t id;
	if (argument_number("--night", text, 1, INT64_MAX, &id, err) < 0)
		return -1;
	for (size_t i = 0; i < history->night_count; i++)
		if (history->nights[i].night.id == id) {
			*ret_index = i;
			return 0;
		}
	return error_set(err, ERROR_USAGE,
			 "night %lld is no finished night of this tree and machine; \"sentinel "
			 "history\" lists them",
			 (long long)id);
}

static int accept_one(struct context *context, const struct history *history,
		      const struct candidate *candidate, const char *reason, struct error *err)
{
	auto_free char *who = person();
	auto_free char *series = text_copy(candidate->series);
	auto_free char *why = reason ? text_copy(reason) : NULL;
	struct store_acknowledgement acknowledgement = {
		.night = history->nights[candidate->level].night.id,
		.series = series,
		.person = who,
		.reason = why,
		.seconds = clock_utc_seconds(),
	};
	if (store_add_acknowledgement(context->store, &acknowledgement, err) < 0)
		return -1;
	if (!context->json)
		printf("%s: the level of night %lld is accepted; nights are compared with it from "
		       "now on\n",
		       series, (long long)acknowledgement.night);
	return 0;
}

static bool is_known(const char *const *names, size_t count, const char *series)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], series) == 0)
			return true;
	return false;
}

static int refuse(const char *series, bool known, struct error *err)
{
	auto_free char *safe = text_one_line(series ? series : "any series", 200);
	if (!known)
		return error_set(err, ERROR_USAGE,
				 "series '%s' was never judged; \"sentinel history\" prints the "
				 "names",
				 safe);
	return error_set(err, ERROR_USAGE,
			 "nothing is open for %s; to begin a new level all the same, name the "
			 "series and the --night that it began with",
			 safe);
}

/* One series, or with ONLY NULL all that is open; without --night, the level of the night in which
   the step had its present size. */
static int accept_open(struct context *context, const struct arguments *arguments, const char *only,
		       struct error *err)
{
	auto_history struct history history = {0};
	size_t count;
	size_t accepted = 0;
	const char *night = argument_value(arguments, "--night");
	const char *reason = argument_value(arguments, "--reason");
	if (history_load(context->store, &context->policy, NULL, &history, err) < 0)
		return -1;
	auto_free const char **names = history_names(&history, &count);
	for (size_t i = 0; i < count; i++) {
		struct candidate candidate = find_open(&history, names[i]);
		bool asked = only && strcmp(names[i], only) == 0;
		if ((only && !asked) || (candidate.since == WATCH_NO_NIGHT && !(asked && night)))
			continue;
		if ((night && find_night(&history, night, &candidate.level, err) < 0) ||
		    accept_one(context, &history, &candidate, reason, err) < 0)
			return -1;
		accepted++;
	}
	return accepted ? 0 : refuse(only, !only || is_known(names, count, only), err);
}

int cmd_accept(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	       struct error *err)
{
	(void)ret_exit_code;
	bool all = argument_value(arguments, "--all") != NULL;
	bool listed = argument_value(arguments, "--list") != NULL;
	if ((arguments->operand_count != 0) + all + listed != 1)
		return error_set(err, ERROR_USAGE,
				 "usage: sentinel accept SERIES | --all | --list");
	if (listed ? context_open_store(context, err) < 0 : context_open_for_work(context, err) < 0)
		return -1;
	const char *only = arguments->operand_count ? arguments->operands[0] : NULL;
	if (!listed && accept_open(context, arguments, only, err) < 0)
		return -1;
	return listed || context->json ? list(context, err) : 0;
}
