/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/event_stream.h"

#include <stdlib.h>
#include <string.h>

#include "bench/channel.h"
#include "bench/sealed_file.h"
#include "sentinel/base/json.h"

#define WHAT "channel"

static int take_text(const json_t *object, const char *key, char **ret_text)
{
	const char *text;
	if (json_get_string(object, key, WHAT, &text, NULL) < 0)
		return -1;
	*ret_text = text_copy(text);
	return 0;
}

static int take_number(const json_t *object, const char *key, int64_t *ret_number)
{
	json_int_t number;
	if (json_get_integer(object, key, WHAT, &number, NULL) < 0 || number < INT32_MIN ||
	    number > INT32_MAX)
		return -1;
	*ret_number = number;
	return 0;
}

static int read_trusted(const json_t *object, struct event_stream *stream, struct event *event)
{
	(void)stream;
	event->kind = EVENT_TRUSTED;
	if (take_text(object, "boot_id", &event->boot_id) < 0)
		return -1;
	return take_text(object, "release", &event->release);
}

static int read_jumping(const json_t *object, struct event_stream *stream, struct event *event)
{
	(void)object;
	(void)stream;
	event->kind = EVENT_JUMPING;
	return 0;
}

static int read_refused(const json_t *object, struct event_stream *stream, struct event *event)
{
	(void)stream;
	event->kind = EVENT_REFUSED;
	return take_text(object, "reason", &event->reason);
}

static int read_arrived(const json_t *object, struct event_stream *stream, struct event *event)
{
	if (read_trusted(object, stream, event) < 0 ||
	    take_text(object, "version", &event->version) < 0)
		return -1;
	event->kind = EVENT_ARRIVED;
	return take_text(object, "token", &event->token);
}

static int read_running(const json_t *object, struct event_stream *stream, struct event *event)
{
	(void)stream;
	event->kind = EVENT_RUNNING;
	if (take_number(object, "step", &event->step) < 0)
		return -1;
	return take_number(object, "iteration", &event->iteration);
}

static int read_sealed(const json_t *object, struct event_stream *stream, struct event *event)
{
	int64_t length;
	const char *sha256;
	if (take_number(object, "length", &length) < 0 ||
	    json_get_string(object, "sha256", WHAT, &sha256, NULL) < 0 ||
	    strlen(sha256) != DIGEST_SIZE - 1)
		return -1;
	if (length < 1 || (size_t)length > SEALED_FILE_LIMIT_BYTES) {
		event->kind = EVENT_SEAL_DAMAGED;
		event->reason =
			text_format("a sealed file of %lld bytes was announced", (long long)length);
		return 0;
	}
	event->kind = EVENT_SEALING;
	event->length = (size_t)length;
	stream->in_payload = true;
	stream->payload_length = (size_t)length;
	memcpy(stream->payload_sha256, sha256, DIGEST_SIZE);
	return 0;
}

static const struct {
	const char *name;
	int (*read)(const json_t *object, struct event_stream *stream, struct event *event);
} readers[] = {
	{CHANNEL_EVENT_TRUSTED, read_trusted}, {CHANNEL_EVENT_JUMPING, read_jumping},
	{CHANNEL_EVENT_REFUSED, read_refused}, {CHANNEL_EVENT_ARRIVED, read_arrived},
	{CHANNEL_EVENT_RUNNING, read_running}, {CHANNEL_EVENT_SEALED, read_sealed},
};

static bool read_line(struct event_stream *stream, struct event *ret_event)
{
	auto_json json_t *object = NULL;
	const char *name;
	if (json_parse_object(stream->line.data, stream->line.length, WHAT, &object, NULL) < 0 ||
	    json_get_string(object, "event", WHAT, &name, NULL) < 0)
		return false;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		auto_event struct event event = {0};
		if (strcmp(name, readers[i].name) != 0)
			continue;
		if (readers[i].read(object, stream, &event) < 0)
			return false;
		*ret_event = event;
		event = (struct event){0};
		return true;
	}
	return false;
}

static void finish_payload(struct event_stream *stream, struct event *ret_event)
{
	struct digest digest;
	*ret_event = (struct event){.kind = EVENT_SEALED, .length = stream->line.length};
	digest_bytes(stream->line.data, stream->line.length, &digest);
	stream->in_payload = false;
	if (stream->line.length == stream->payload_length &&
	    strcmp(digest.hex, stream->payload_sha256) == 0) {
		ret_event->payload = text_take(&stream->line);
		return;
	}
	ret_event->kind = EVENT_SEAL_DAMAGED;
	ret_event->reason =
		text_format("%zu of %zu bytes of the sealed file came, and their "
			    "SHA-256 is %s",
			    stream->line.length, stream->payload_length,
			    stream->line.length == stream->payload_length ? "wrong" : "missing");
	text_free(&stream->line);
}

/* Takes bytes of PENDING from *POSITION on. True when they made an event. */
static bool consume_line(struct event_stream *stream, size_t *position, struct event *ret_event)
{
	const char *bytes = stream->pending.data + *position;
	size_t available = stream->pending.length - *position;
	const char *end = memchr(bytes, '\n', available);
	size_t length = end ? (size_t)(end - bytes) : available;
	*position += length + (end ? 1 : 0);
	if (stream->line.length + length > CHANNEL_LINE_LIMIT_BYTES)
		stream->skipping = true;
	if (stream->skipping)
		text_free(&stream->line);
	else
		text_append_bytes(&stream->line, bytes, length);
	if (!end)
		return false;
	bool found = !stream->skipping && stream->line.length && read_line(stream, ret_event);
	stream->skipping = false;
	text_free(&stream->line);
	return found;
}

/* A payload is printable ASCII: anything else means that its writer died, and is not taken. */
static bool consume_payload(struct event_stream *stream, size_t *position, struct event *ret_event)
{
	const char *bytes = stream->pending.data + *position;
	size_t wanted = stream->payload_length - stream->line.length;
	size_t available = stream->pending.length - *position;
	size_t length = 0;
	while (length < wanted && length < available && bytes[length] >= ' ' &&
	       bytes[length] <= '~')
		length++;
	text_append_bytes(&stream->line, bytes, length);
	*position += length;
	if (length < wanted && length == available)
		return false;
	finish_payload(stream, ret_event);
	return true;
}

void event_stream_feed(struct event_stream *stream, const char *bytes, size_t length)
{
	text_append_bytes(&stream->pending, bytes, length);
}

bool event_stream_next(struct event_stream *stream, struct event *ret_event)
{
	size_t position = 0;
	bool found = false;
	while (!found && position < stream->pending.length)
		found = stream->in_payload ? consume_payload(stream, &position, ret_event)
					   : consume_line(stream, &position, ret_event);
	if (!position)
		return found;
	struct text rest = {0};
	text_append_bytes(&rest, stream->pending.data + position,
			  stream->pending.length - position);
	text_free(&stream->pending);
	stream->pending = rest;
	return found;
}

void event_stream_restart(struct event_stream *stream)
{
	text_free(&stream->pending);
	text_free(&stream->line);
	stream->skipping = stream->in_payload = false;
}

void event_stream_free(struct event_stream *stream)
{
	event_stream_restart(stream);
}

void event_free(struct event *event)
{
	free(event->boot_id);
	free(event->release);
	free(event->version);
	free(event->token);
	free(event->reason);
	free(event->payload);
	*event = (struct event){0};
}
