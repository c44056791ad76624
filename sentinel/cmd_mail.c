/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"

#define MAILS_SHOWN 1000

static int require_server(const struct context *context, struct error *err)
{
	if (context->policy.mail.server)
		return 0;
	return error_set(err, ERROR_USAGE, "%s has no [mail] section with a server",
			 context->config_path);
}

static int flush(struct context *context, const struct arguments *arguments, struct error *err)
{
	(void)arguments;
	if (require_server(context, err) < 0)
		return -1;
	return conductor_send_mail(context, true, err);
}

static int test(struct context *context, const struct arguments *arguments, struct error *err)
{
	if (require_server(context, err) < 0)
		return -1;
	auto_free char *message_id =
		text_format("sentinel-test-%lld.%d@%s", (long long)clock_utc_seconds(),
			    (int)getpid(), context->tree->name);
	if (conductor_queue_mail(
		    context, 0, message_id, "Sentinel: test message",
		    "This message shows that Sentinel reaches you. Nothing is wrong.\n", err) < 0)
		return -1;
	return flush(context, arguments, err);
}

static void print_recipient(const struct store_mail *mail, const struct store_recipient *recipient)
{
	auto_free char *subject = text_one_line(mail->subject, 100);
	printf("%lld  %-9s %s  \"%s\"  %lld %s\n", (long long)mail->id,
	       mail_state_name(recipient->state), recipient->address, subject,
	       (long long)recipient->code, recipient->text ? recipient->text : "");
}

static json_t *recipient_json(const struct store_mail *mail,
			      const struct store_recipient *recipient)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:s?}", "id", (json_int_t)mail->id,
			 "message_id", mail->message_id, "subject", mail->subject, "to",
			 recipient->address, "state", mail_state_name(recipient->state), "attempts",
			 (json_int_t)recipient->attempts, "code", (json_int_t)recipient->code,
			 "text", recipient->text);
}

static int show_mail(struct context *context, const struct store_mail *mail, int64_t wanted,
		     json_t *list, struct error *err)
{
	if (wanted) {
		if (mail->id == wanted)
			fwrite(mail->content, 1, mail->content_length, stdout);
		return 0;
	}
	struct store_recipient *recipients;
	size_t count;
	if (store_list_recipients(context->store, mail->id, &recipients, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (context->json)
			json_array_append_new(list, recipient_json(mail, &recipients[i]));
		else
			print_recipient(mail, &recipients[i]);
	}
	store_recipients_free(recipients, count);
	return 0;
}

static int read_id(const struct arguments *arguments, int64_t *ret_id, struct error *err)
{
	*ret_id = 0;
	if (arguments->operand_count < 2)
		return 0;
	char *end;
	errno = 0;
	long long value = strtoll(arguments->operands[1], &end, 10);
	if (errno || *end || value < 1)
		return error_set(err, ERROR_USAGE, "mail show wants the number of a message");
	*ret_id = value;
	return 0;
}

static int show(struct context *context, const struct arguments *arguments, struct error *err)
{
	struct store_mail *mails;
	size_t count;
	int64_t wanted;
	if (read_id(arguments, &wanted, err) < 0 ||
	    store_list_mails(context->store, MAILS_SHOWN, &mails, &count, err) < 0)
		return -1;
	json_t *list = json_array();
	bool found = !wanted;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		found |= mails[i].id == wanted;
		result = show_mail(context, &mails[i], wanted, list, err);
	}
	store_mails_free(mails, count);
	if (context->json && !wanted)
		context_print_json(list);
	else
		json_decref(list);
	if (result == 0 && !found)
		return error_set(err, ERROR_USAGE, "there is no message %lld", (long long)wanted);
	return result;
}

static const struct {
	const char *name;
	size_t maximum_operands;
	int (*open)(struct context *context, struct error *err);
	int (*run)(struct context *context, const struct arguments *arguments, struct error *err);
} verbs[] = {
	{"test", 1, context_open_for_work, test},
	{"flush", 1, context_open_for_work, flush},
	{"show", 2, context_open_store, show},
};

int cmd_mail(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	     struct error *err)
{
	(void)ret_exit_code;
	for (size_t i = 0; i < array_length(verbs); i++) {
		if (strcmp(arguments->operands[0], verbs[i].name) != 0 ||
		    arguments->operand_count > verbs[i].maximum_operands)
			continue;
		if (verbs[i].open(context, err) < 0)
			return -1;
		return verbs[i].run(context, arguments, err);
	}
	return error_set(err, ERROR_USAGE, "usage: sentinel mail test | flush | show [ID]");
}
