/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/night.h"

#define MAILS_COUNTED 1000

static int count_waiting_mail(struct context *context, size_t *ret_waiting, size_t *ret_dead,
			      struct error *err)
{
	struct store_mail *mails;
	size_t count;
	if (store_list_mails(context->store, MAILS_COUNTED, &mails, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		struct store_recipient *recipients;
		size_t recipient_count;
		result = store_list_recipients(context->store, mails[i].id, &recipients,
					       &recipient_count, err);
		if (result < 0)
			break;
		for (size_t j = 0; j < recipient_count; j++) {
			*ret_waiting += recipients[j].state == MAIL_QUEUED;
			*ret_dead += recipients[j].state == MAIL_DEAD;
		}
		store_recipients_free(recipients, recipient_count);
	}
	store_mails_free(mails, count);
	return result;
}

static void print_nights(const struct store_night *nights, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char date[21];
		clock_utc_text(nights[i].started_seconds, date);
		printf("night %lld: %s, head %s, %s: %s\n", (long long)nights[i].id, date,
		       short_id(nights[i].head), night_state_name(nights[i].state),
		       nights[i].outcome ? nights[i].outcome : "not judged yet");
	}
}

static void print_hunts(const struct store_hunt *hunts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("hunt %lld: %s between %s and %s is unfinished; \"sentinel resume\" goes "
		       "on\n",
		       (long long)hunts[i].id, hunts[i].series, short_id(hunts[i].good),
		       short_id(hunts[i].bad));
}

struct status {
	struct store_baseline baseline;
	struct store_night *nights;
	size_t night_count;
	struct store_hunt *hunts;
	size_t hunt_count;
	size_t mail_waiting;
	size_t mail_dead;
};

static void status_free(struct status *status)
{
	store_baseline_free(&status->baseline);
	store_nights_free(status->nights, status->night_count);
	store_hunts_free(status->hunts, status->hunt_count);
}

static void print_text(const struct context *context, const struct status *status)
{
	const struct store_baseline *baseline = &status->baseline;
	auto_free char *url = source_tree_show_url(context->tree->url);
	printf("tree %s: %s %s\nmachine %s\n", context->tree->name, url, context->tree->branch,
	       context->machine_policy->name);
	if (baseline->id)
		printf("baseline: %s%s\n", baseline->commit,
		       baseline->complete ? "" : ", unfinished; \"sentinel resume\" goes on");
	else
		puts("baseline: none; run \"sentinel baseline set REV\"");
	print_nights(status->nights, status->night_count);
	print_hunts(status->hunts, status->hunt_count);
	printf("mail: %zu waiting, %zu refused for good\n", status->mail_waiting,
	       status->mail_dead);
}

static void print_json(const struct context *context, const struct status *status)
{
	json_t *nights = json_array();
	for (size_t i = 0; i < status->night_count; i++)
		json_array_append_new(nights, json_pack("{s:I, s:s, s:s, s:s?}", "id",
							(json_int_t)status->nights[i].id, "head",
							status->nights[i].head, "state",
							night_state_name(status->nights[i].state),
							"outcome", status->nights[i].outcome));
	json_t *hunts = json_array();
	for (size_t i = 0; i < status->hunt_count; i++)
		json_array_append_new(hunts, json_integer((json_int_t)status->hunts[i].id));
	context_print_json(json_pack(
		"{s:s, s:s, s:s?, s:b, s:o, s:o, s:I, s:I}", "tree", context->tree->name, "machine",
		context->machine_policy->name, "baseline",
		status->baseline.id ? status->baseline.commit : NULL, "baseline_complete",
		status->baseline.id && status->baseline.complete, "nights", nights,
		"unfinished_hunts", hunts, "mail_waiting", (json_int_t)status->mail_waiting,
		"mail_dead", (json_int_t)status->mail_dead));
}

int cmd_status(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	       struct error *err)
{
	(void)arguments;
	(void)ret_exit_code;
	auto_cleanup(status_free) struct status status = {0};
	if (context_open_store(context, err) < 0 ||
	    store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       false, &status.baseline, err) < 0 ||
	    store_list_nights(context->store, NULL, false, 5, &status.nights, &status.night_count,
			      err) < 0 ||
	    store_list_hunts(context->store, -1, true, &status.hunts, &status.hunt_count, err) <
		    0 ||
	    count_waiting_mail(context, &status.mail_waiting, &status.mail_dead, err) < 0)
		return -1;
	if (context->json)
		print_json(context, &status);
	else
		print_text(context, &status);
	return 0;
}
