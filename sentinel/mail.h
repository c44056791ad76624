/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_MAIL_H
#define SENTINEL_MAIL_H

/* From a report's plain data to bytes (GMime), and from bytes to the server (libesmtp). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policies/policy.h"
#include "sentinel/base/error.h"

struct mail_draft {
	const char *from; /* "Name <address>" */
	const char *const *to;
	size_t to_count;
	const char *subject;    /* may hold foreign text: encoded, never raw */
	const char *message_id; /* without angle brackets */
	int64_t date_seconds;
	const char *body; /* UTF-8 text */
};

/*
 * A complete text/plain message with CRLF line ends, quoted-printable where a line needs it; no
 * line over 998 octets (RFC 5322, 2.1.1). Subjects are cut at 500 bytes and bodies at 1 MiB; what
 * is not UTF-8 becomes U+FFFD. An address or message id that is none, or that has control
 * characters, is ERROR_USAGE. The caller frees *ret_content.
 */
int mail_compose(const struct mail_draft *draft, char **ret_content, size_t *ret_length,
		 struct error *err);
/* The bare mailbox of "Name <address>"; the caller frees it. ERROR_USAGE when it is none. */
int mail_address(const char *text, char **ret_address, struct error *err);
/*
 * A bare mailbox that can stand in an SMTP command (RFC 5321): one '@' between two parts, printable
 * ASCII without spaces and angle brackets, at most 254 bytes. Everything else is ERROR_USAGE.
 */
int mail_check_address(const char *address, struct error *err);

/* What the server said about one recipient. */
struct delivery {
	enum { DELIVERY_ACCEPTED, DELIVERY_RETRY, DELIVERY_REFUSED } result;
	int code;       /* SMTP status, 0: none was received */
	char text[256]; /* the server's words, one safe line */
};

/*
 * One session in a child process with a deadline, policy->timeout_seconds in all. Accepted means
 * that the message and this recipient both got 2xx, whatever came after that; 5xx is refused, all
 * else is tried again. A server that is down, drops or hangs gives DELIVERY_RETRY for all; a
 * recipient that mail_check_address refuses gives DELIVERY_REFUSED and is left out. -1 when the
 * policy's server or sender is none (ERROR_USAGE) or the child could not be run (ERROR_SYSTEM).
 * *ret_deliveries has recipient_count elements. Store them at once: a crash before that sends the
 * message again.
 */
int mail_deliver(const struct policy_mail *policy, const char *const *recipients,
		 size_t recipient_count, const char *content, size_t length,
		 struct delivery *ret_deliveries, struct error *err);

/* Does the server answer with a greeting? ERROR_PEER when it does not; nothing is sent. */
int mail_probe(const struct policy_mail *policy, struct error *err);

#endif
