/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>

#include "bench/agent/agent.h"
#include "bench/channel.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

int channel_open(int *ret_channel, struct error *err)
{
	int channel = open(AGENT_CHANNEL_DEVICE, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (channel < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open " AGENT_CHANNEL_DEVICE);
	struct termios settings;
	if (tcgetattr(channel, &settings) == 0) {
		cfmakeraw(&settings);
		settings.c_cflag |= CLOCAL | CREAD;
		cfsetspeed(&settings, B115200);
		tcsetattr(channel, TCSANOW, &settings);
	}
	*ret_channel = channel;
	return 0;
}

int channel_send_bytes(int channel, const char *bytes, size_t length, struct error *err)
{
	while (length) {
		ssize_t written = write(channel, bytes, length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_errno(err, ERROR_SYSTEM, "cannot write to the channel");
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

int channel_send(int channel, json_t *object, struct error *err)
{
	auto_json json_t *owned = object;
	auto_free char *json = json_dumps(owned, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!json)
		return error_set(err, ERROR_SYSTEM, "cannot write an event as JSON");
	/* The first newline ends what another kernel may have left half said. */
	auto_free char *line = text_format("\n%s\n", json);
	if (channel_send_bytes(channel, line, strlen(line), err) < 0)
		return -1;
	tcdrain(channel);
	return 0;
}

/* The next line; an endless one is cut into pieces, none of which is an object. */
static int receive_line(int channel, struct text *line, struct error *err)
{
	text_free(line);
	while (line->length < CHANNEL_LINE_LIMIT_BYTES) {
		char byte;
		ssize_t got = read(channel, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_errno(err, ERROR_SYSTEM, "cannot read from the channel");
		if (byte == '\n')
			break;
		text_append_bytes(line, &byte, 1);
	}
	return 0;
}

int channel_receive(int channel, json_t **ret_command, struct error *err)
{
	auto_text struct text line = {0};
	for (;;) {
		auto_json json_t *object = NULL;
		const char *command;
		if (receive_line(channel, &line, err) < 0)
			return -1;
		if (line.length &&
		    json_parse_object(line.data, line.length, "channel", &object, NULL) == 0 &&
		    json_get_string(object, "command", "channel", &command, NULL) == 0) {
			*ret_command = json_incref(object);
			return 0;
		}
	}
}
