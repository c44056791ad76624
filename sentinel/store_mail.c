/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/store_private.h"

#define MAIL(member) .offset = offsetof(struct store_mail, member)
static const struct column mail_columns[] = {
	{"id", COLUMN_REFERENCE, ROLE_KEY, MAIL(id)},
	{"message_id", COLUMN_TEXT, ROLE_FIXED, MAIL(message_id)},
	{"hunt", COLUMN_REFERENCE, ROLE_FIXED, MAIL(hunt)},
	{"subject", COLUMN_TEXT, ROLE_FIXED, MAIL(subject)},
	{"content", COLUMN_BYTES, ROLE_FIXED, MAIL(content),
	 .length_offset = offsetof(struct store_mail, content_length)},
	{"created_seconds", COLUMN_INTEGER, ROLE_FIXED, MAIL(created_seconds)},
};
static const struct shape mail_shape = SHAPE("mail", mail_columns, struct store_mail);

static const char *const mail_states[] = {
	[MAIL_QUEUED] = "queued",
	[MAIL_DELIVERED] = "delivered",
	[MAIL_DEAD] = "dead",
	NULL,
};

#define RECIPIENT(member) .offset = offsetof(struct store_recipient, member)
static const struct column recipient_columns[] = {
	{"mail", COLUMN_INTEGER, ROLE_KEY, RECIPIENT(mail)},
	{"address", COLUMN_TEXT, ROLE_KEY, RECIPIENT(address)},
	{"state", COLUMN_NAME, ROLE_MUTABLE, RECIPIENT(state), .names = mail_states},
	{"attempts", COLUMN_INTEGER, ROLE_MUTABLE, RECIPIENT(attempts)},
	{"next_try_seconds", COLUMN_INTEGER, ROLE_MUTABLE, RECIPIENT(next_try_seconds)},
	{"code", COLUMN_INTEGER, ROLE_MUTABLE, RECIPIENT(code)},
	{"text", COLUMN_TEXT, ROLE_MUTABLE, RECIPIENT(text)},
};
static const struct shape recipient_shape = {
	"recipient",
	recipient_columns,
	array_length(recipient_columns),
	sizeof(struct store_recipient),
	.outside = {"position"},
};

const char *mail_state_name(enum mail_state state)
{
	return mail_states[state];
}

static int add_recipients(struct store *store, int64_t mail, const char *const *addresses,
			  size_t count, struct error *err)
{
	static const struct store_recipient fresh = {.state = MAIL_QUEUED};
	auto_query struct query query = {0};
	shape_insert(&recipient_shape, &query, store, &fresh,
		     "ON CONFLICT (mail, address) DO NOTHING");
	for (size_t i = 0; i < count; i++) {
		query_bind_integer(&query, 1, mail);
		query_bind_text(&query, 2, addresses[i]);
		query_bind_integer(&query, (int)recipient_shape.column_count + 1, (int64_t)i);
		if (query_run(&query, err) < 0)
			return -1;
	}
	return 0;
}

static int find_mail(struct store *store, const char *message_id, int64_t *ret_id,
		     struct error *err)
{
	auto_query struct query query = {0};
	query_prepare(&query, store, "SELECT id FROM mail WHERE message_id = ?1");
	query_bind_text(&query, 1, message_id);
	if (query_next(&query, err) < 0)
		return -1;
	*ret_id = sqlite3_column_int64(query.statement, 0);
	return 0;
}

int store_queue_mail(struct store *store, struct store_mail *mail, const char *const *recipients,
		     size_t recipient_count, struct error *err)
{
	auto_transaction struct transaction transaction = {0};
	auto_query struct query query = {0};
	int64_t id;
	if (transaction_begin(&transaction, store, err) < 0)
		return -1;
	shape_insert(&mail_shape, &query, store, mail, "ON CONFLICT (message_id) DO NOTHING");
	if (query_run(&query, err) < 0)
		return -1;
	bool added = sqlite3_changes(store->database) > 0;
	if (find_mail(store, mail->message_id, &id, err) < 0 ||
	    (added && add_recipients(store, id, recipients, recipient_count, err) < 0) ||
	    transaction_commit(&transaction, err) < 0)
		return -1;
	mail->id = id;
	return 0;
}

int store_list_mails(struct store *store, size_t limit, struct store_mail **ret_mails,
		     size_t *ret_count, struct error *err)
{
	auto_query struct query query = {0};
	void *mails;
	shape_select(&mail_shape, &query, store, "ORDER BY id DESC LIMIT ?1");
	query_bind_limit(&query, 1, limit);
	if (shape_list(&mail_shape, &query, &mails, ret_count, err) < 0)
		return -1;
	*ret_mails = mails;
	return 0;
}

int store_list_recipients(struct store *store, int64_t mail,
			  struct store_recipient **ret_recipients, size_t *ret_count,
			  struct error *err)
{
	auto_query struct query query = {0};
	void *recipients;
	shape_select(&recipient_shape, &query, store, "WHERE mail = ?1 ORDER BY position");
	query_bind_integer(&query, 1, mail);
	if (shape_list(&recipient_shape, &query, &recipients, ret_count, err) < 0)
		return -1;
	*ret_recipients = recipients;
	return 0;
}

int store_update_recipient(struct store *store, const struct store_recipient *recipient,
			   struct error *err)
{
	auto_query struct query query = {0};
	shape_update(&recipient_shape, &query, store, recipient, "AND state <> 'delivered'");
	return query_change(&query, "this recipient does not exist or has the mail already", err);
}

void store_mail_free(struct store_mail *mail)
{
	shape_free(&mail_shape, mail);
}

void store_mails_free(struct store_mail *mails, size_t count)
{
	shape_free_all(&mail_shape, mails, count);
}

void store_recipients_free(struct store_recipient *recipients, size_t count)
{
	shape_free_all(&recipient_shape, recipients, count);
}
