/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_MACHINE_EVENT_STREAM_H
#define SENTINEL_BENCH_MACHINE_EVENT_STREAM_H

/*
 * Bytes of the agent's channel -> events (the words of bench/channel.h). Pure: no file, no clock.
 * The bytes are hostile: lines that are no event, are too long or are cut are skipped, and a
 * payload that is cut short by a control character is an event of its own. Memory stays below
 * SEALED_FILE_LIMIT_BYTES plus one line, whatever comes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sentinel/base/digest.h"
#include "sentinel/base/text.h"

enum event_kind {
	EVENT_TRUSTED,
	EVENT_JUMPING,
	EVENT_REFUSED,
	EVENT_ARRIVED,
	EVENT_RUNNING,
	EVENT_SEALING,      /* the payload was announced and follows */
	EVENT_SEALED,       /* it came whole, and its digest is right */
	EVENT_SEAL_DAMAGED, /* it came otherwise */
};

/* Texts are foreign. Those that a kind does not carry are NULL. */
struct event {
	enum event_kind kind;
	char *boot_id; /* trusted, arrived */
	char *release; /* trusted, arrived */
	char *version; /* arrived */
	char *token;   /* arrived */
	char *reason;  /* refused, seal damaged */
	int64_t step;  /* running */
	int64_t iteration;
	char *payload; /* sealed: terminated, LENGTH bytes without a NUL */
	size_t length; /* sealing, sealed */
};

struct event_stream {
	struct text pending; /* bytes not looked at yet */
	struct text line;    /* of the line or payload being read */
	bool skipping;       /* the rest of a line that was too long */
	bool in_payload;
	size_t payload_length;
	char payload_sha256[DIGEST_SIZE];
};

/* Takes LENGTH bytes more. */
void event_stream_feed(struct event_stream *stream, const char *bytes, size_t length);
/* The next event, or false when more bytes are needed. The caller frees it with event_free. */
bool event_stream_next(struct event_stream *stream, struct event *ret_event);
/* Forgets a half-read line or payload: after a reset of the machine. */
void event_stream_restart(struct event_stream *stream);
void event_stream_free(struct event_stream *stream);
#define auto_event_stream __attribute__((cleanup(event_stream_free)))

void event_free(struct event *event);
#define auto_event __attribute__((cleanup(event_free)))

#endif
