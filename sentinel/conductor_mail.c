/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/mail.h"
#include "sentinel/report.h"

#define MAILS_LOOKED_AT 1000
#define FIRST_RETRY_SECONDS 60
#define LONGEST_RETRY_SECONDS (6 * 3600)

int conductor_queue_mail(struct context *context, int64_t hunt, const char *message_id,
			 const char *subject, const char *body, struct error *err)
{
	const struct policy_mail *policy = &context->policy.mail;
	size_t count = policy->to.count;
	struct mail_draft draft = {
		.from = policy->from,
		.to = (const char *const *)policy->to.items,
		.to_count = count,
		.subject = subject,
		.message_id = message_id,
		.date_seconds = clock_utc_seconds(),
		.body = body,
	};
	auto_cleanup(store_mail_free) struct store_mail mail = {
		.message_id = text_copy(message_id),
		.hunt = hunt,
		.subject = text_copy(subject),
		.created_seconds = draft.date_seconds,
	};
	auto_free char **addresses = memory_array(count, sizeof(*addresses));
	int result = mail_compose(&draft, &mail.content, &mail.content_length, err);
	for (size_t i = 0; i < count && result == 0; i++)
		result = mail_address(policy->to.items[i], &addresses[i], err);
	if (result == 0)
		result = store_queue_mail(context->store, &mail, (const char *const *)addresses,
					  count, err);
	for (size_t i = 0; i < count; i++)
		free(addresses[i]);
	return result;
}

static int report_one(struct context *context, const struct store_hunt *hunt, struct error *err)
{
	/* Ends that do not differ when measured again are no regression to write about; a hunt with
	   an origin is told of in that one's mail. */
	if (!hunt->finished || hunt->origin ||
	    strcmp(hunt->kind, hunt_answer_kind_name(HUNT_NOT_REPRODUCIBLE)) == 0)
		return 0;
	if (!context->policy.mail.server) {
		log_notice("hunt %lld: no [mail] server is configured; nothing is mailed",
			   (long long)hunt->id);
		return 0;
	}
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	auto_free char *message_id = report_message_id(context, hunt);
	if (report_hunt(context, hunt, &subject, &body, err) < 0)
		return -1;
	return conductor_queue_mail(context, hunt->id, message_id, subject, body, err);
}

static bool is_told_of_elsewhere(const struct store_hunt *hunts, size_t count, size_t index)
{
	for (size_t i = 0; i < count; i++)
		if (report_is_companion(&hunts[i], &hunts[index]))
			return true;
	return false;
}

int conductor_report(struct context *context, const struct store_night *night, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++)
		if (!is_told_of_elsewhere(hunts, count, i))
			result = report_one(context, &hunts[i], err);
	store_hunts_free(hunts, count);
	return result;
}

static void apply_delivery(struct store_recipient *recipient, const struct delivery *delivery)
{
	int64_t pause = FIRST_RETRY_SECONDS;
	for (int64_t i = 0; i < recipient->attempts && pause < LONGEST_RETRY_SECONDS; i++)
		pause *= 2;
	recipient->attempts++;
	recipient->code = delivery->code;
	free(recipient->text);
	recipient->text = text_copy(delivery->text);
	recipient->next_try_seconds = clock_utc_seconds() + pause;
	if (delivery->result == DELIVERY_ACCEPTED)
		recipient->state = MAIL_DELIVERED;
	if (delivery->result == DELIVERY_REFUSED)
		recipient->state = MAIL_DEAD;
}

static void tell(const struct store_mail *mail, const struct store_recipient *recipient)
{
	static const char *const what[] = {
		[MAIL_QUEUED] = "waits",
		[MAIL_DELIVERED] = "delivered",
		[MAIL_DEAD] = "refused for good",
	};
	log_notice("mail %lld to %s: %s (%lld %s)", (long long)mail->id, recipient->address,
		   what[recipient->state], (long long)recipient->code, recipient->text);
}

/* One session per recipient: its answer is stored before the next one is tried, so that a crash
   in between never sends a second copy to somebody who has one. */
static int deliver_one(struct context *context, const struct store_mail *mail,
		       struct store_recipient *recipient, struct error *err)
{
	struct delivery delivery = {0};
	const char *address = recipient->address;
	if (mail_deliver(&context->policy.mail, &address, 1, mail->content, mail->content_length,
			 &delivery, err) < 0)
		return -1;
	apply_delivery(recipient, &delivery);
	tell(mail, recipient);
	return store_update_recipient(context->store, recipient, err);
}

static int flush_one(struct context *context, const struct store_mail *mail, bool now,
		     size_t *undelivered, struct error *err)
{
	struct store_recipient *recipients;
	size_t count;
	if (store_list_recipients(context->store, mail->id, &recipients, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (recipients[i].state != MAIL_QUEUED)
			continue;
		if (now || recipients[i].next_try_seconds <= clock_utc_seconds())
			result = deliver_one(context, mail, &recipients[i], err);
		*undelivered += recipients[i].state != MAIL_DELIVERED;
	}
	store_recipients_free(recipients, count);
	return result;
}

int conductor_send_mail(struct context *context, bool now, struct error *err)
{
	if (!context->policy.mail.server)
		return 0;
	struct store_mail *mails;
	size_t count;
	size_t undelivered = 0;
	if (store_list_mails(context->store, MAILS_LOOKED_AT, &mails, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++)
		result = flush_one(context, &mails[i], now, &undelivered, err);
	store_mails_free(mails, count);
	if (result == 0 && undelivered)
		return error_set(
			err, ERROR_PEER,
			"%zu deliveries were not taken by %s; \"sentinel mail show\" has its "
			"words, and what waits is tried again by \"sentinel mail flush\"",
			undelivered, context->policy.mail.server);
	return result;
}
