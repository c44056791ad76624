/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/mail.h"

#include <gmime/gmime.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static const size_t address_limit_bytes = 254;
static const size_t line_limit_bytes = 998;
static const size_t subject_limit_bytes = 500;
static const size_t body_limit_bytes = 1 << 20;

static void cleanup_object(void *object)
{
	g_clear_object((GObject **)object);
}
#define auto_object auto_cleanup(cleanup_object)

static void cleanup_options(GMimeFormatOptions **options)
{
	g_mime_format_options_free(*options);
}

static bool has_controls(const char *text)
{
	auto_free char *clean = text_one_line(text, strlen(text));
	return strcmp(clean, text) != 0;
}

int mail_check_address(const char *address, struct error *err)
{
	const char *at = strchr(address, '@');
	bool printable = strlen(address) <= address_limit_bytes;
	for (const char *c = address; *c && printable; c++)
		printable = *c > ' ' && *c < 0x7f && *c != '<' && *c != '>';
	if (printable && at && at != address && at[1] && !strchr(at + 1, '@'))
		return 0;
	auto_free char *shown = text_one_line(address, 100);
	return error_set(
		err, ERROR_USAGE,
		"\"%s\" is no mail address that can be sent to (user@example.org, ASCII, at "
		"most %zu bytes)",
		shown, address_limit_bytes);
}

/* Appends the one mailbox in TEXT to LIST. */
static int add_mailbox(const char *text, InternetAddressList *list, struct error *err)
{
	auto_free char *shown = text_one_line(text, 100);
	if (has_controls(text) || strlen(text) > 2 * address_limit_bytes)
		return error_set(err, ERROR_USAGE,
				 "mail address \"%s\": too long, or not one line of UTF-8", shown);
	auto_object InternetAddressList *parsed = internet_address_list_parse(NULL, text);
	InternetAddress *address = parsed && internet_address_list_length(parsed) == 1
					   ? internet_address_list_get_address(parsed, 0)
					   : NULL;
	if (!address || !INTERNET_ADDRESS_IS_MAILBOX(address))
		return error_set(err, ERROR_USAGE,
				 "mail address \"%s\": must be one NAME <user@example.org>", shown);
	const char *bare = internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address));
	if (mail_check_address(bare ? bare : "", err) < 0)
		return -1;
	internet_address_set_charset(address, "UTF-8");
	internet_address_list_add(list, address);
	return 0;
}

int mail_address(const char *text, char **ret_address, struct error *err)
{
	g_mime_init();
	auto_object InternetAddressList *list = internet_address_list_new();
	if (add_mailbox(text, list, err) < 0)
		return -1;
	InternetAddress *address = internet_address_list_get_address(list, 0);
	*ret_address =
		text_copy(internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address)));
	return 0;
}

static int set_addresses(GMimeMessage *message, const struct mail_draft *draft, struct error *err)
{
	InternetAddressList *from = g_mime_message_get_addresses(message, GMIME_ADDRESS_TYPE_FROM);
	InternetAddressList *to = g_mime_message_get_addresses(message, GMIME_ADDRESS_TYPE_TO);
	if (!draft->to_count)
		return error_set(err, ERROR_USAGE, "a mail needs a recipient");
	if (add_mailbox(draft->from, from, err) < 0)
		return error_prefix(err, "sender");
	for (size_t i = 0; i < draft->to_count; i++)
		if (add_mailbox(draft->to[i], to, err) < 0)
			return error_prefix(err, "recipient");
	return 0;
}

/* GMime lets through what already looks encoded, so that a reader would see other words than we
   wrote; a space takes that meaning away. */
static char *plain_subject(const char *foreign)
{
	auto_text struct text plain = {0};
	for (const char *c = foreign; *c; c++) {
		text_append_bytes(&plain, c, 1);
		if (c[0] == '=' && c[1] == '?')
			text_append(&plain, " ");
	}
	return text_one_line(plain.data ? plain.data : "", subject_limit_bytes);
}

static int set_headers(GMimeMessage *message, const struct mail_draft *draft, struct error *err)
{
	auto_free char *subject = plain_subject(draft->subject);
	GDateTime *date = g_date_time_new_from_unix_utc(draft->date_seconds);
	if (!date)
		return error_set(err, ERROR_USAGE, "a mail cannot be dated %lld s after 1970",
				 (long long)draft->date_seconds);
	g_mime_message_set_date(message, date);
	g_date_time_unref(date);
	if (set_addresses(message, draft, err) < 0)
		return -1;
	g_mime_message_set_subject(message, subject, "UTF-8");
	if (mail_check_address(draft->message_id, err) < 0)
		return error_prefix(err, "message id");
	g_mime_message_set_message_id(message, draft->message_id);
	GMimeObject *object = GMIME_OBJECT(message);
	g_mime_object_set_header(object, "Auto-Submitted", "auto-generated", NULL);
	g_mime_object_set_header(object, "X-Mailer", "sentinel " SENTINEL_VERSION, NULL);
	return 0;
}

/* ASCII in lines short enough goes as it is, so that a patch or a table can be read raw. */
static GMimeContentEncoding choose_encoding(const char *body)
{
	size_t column = 0;
	for (const char *c = body; *c; c++) {
		column = *c == '\n' ? 0 : column + 1;
		if ((unsigned char)*c >= 0x80 || column > line_limit_bytes)
			return GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE;
	}
	return GMIME_CONTENT_ENCODING_7BIT;
}

static void set_body(GMimeMessage *message, const char *foreign)
{
	auto_free char *printable = text_printable(foreign, strlen(foreign), body_limit_bytes);
	auto_free char *body =
		text_format("%s%s", printable, text_ends_with(printable, "\n") ? "" : "\n");
	/* Not GMimeTextPart: that recodes to the smallest character set that fits. */
	auto_object GMimePart *part = g_mime_part_new_with_type("text", "plain");
	auto_object GMimeStream *stream = g_mime_stream_mem_new_with_buffer(body, strlen(body));
	auto_object GMimeDataWrapper *content =
		g_mime_data_wrapper_new_with_stream(stream, GMIME_CONTENT_ENCODING_DEFAULT);
	g_mime_object_set_content_type_parameter(GMIME_OBJECT(part), "charset", "utf-8");
	g_mime_part_set_content(part, content);
	g_mime_part_set_content_encoding(part, choose_encoding(body));
	g_mime_message_set_mime_part(message, GMIME_OBJECT(part));
}

/* A bare LF, a bare CR or a long line is a fault of ours that a server would punish silently. */
static int check_lines(const char *content, struct error *err)
{
	size_t column = 0;
	for (const char *c = content; *c; c++, column++) {
		bool line_end = c[0] == '\r' && c[1] == '\n';
		if (((*c == '\r' || *c == '\n') && !line_end) || column > line_limit_bytes)
			return error_set(err, ERROR_STATE,
					 "composed mail: line end or line length is wrong at byte "
					 "%zu; the mail was not queued",
					 (size_t)(c - content));
		if (line_end) {
			c++;
			column = (size_t)-1;
		}
	}
	return 0;
}

int mail_compose(const struct mail_draft *draft, char **ret_content, size_t *ret_length,
		 struct error *err)
{
	g_mime_init();
	auto_object GMimeMessage *message = g_mime_message_new(TRUE);
	if (set_headers(message, draft, err) < 0)
		return -1;
	set_body(message, draft->body);
	auto_cleanup(cleanup_options) GMimeFormatOptions *options = g_mime_format_options_new();
	g_mime_format_options_set_newline_format(options, GMIME_NEWLINE_FORMAT_DOS);
	char *written = g_mime_object_to_string(GMIME_OBJECT(message), options);
	auto_free char *content = text_copy(written);
	g_free(written);
	if (check_lines(content, err) < 0)
		return -1;
	*ret_length = strlen(content);
	*ret_content = take(content);
	return 0;
}
