/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/qmp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sentinel/base/clock.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/json.h"

#define LINE_LIMIT_BYTES ((size_t)64 << 10)

/* Adds what has come to RECEIVED; waits until DEADLINE (monotonic) for the first byte. */
static int receive(struct qmp *qmp, double deadline, struct error *err)
{
	double left = deadline - clock_monotonic_seconds();
	struct pollfd polled = {qmp->fd, POLLIN, 0};
	if (interrupt_check(err) < 0)
		return -1;
	if (left <= 0)
		return error_set(err, ERROR_SYSTEM, "QEMU did not answer on its monitor in time");
	if (poll(&polled, 1, left > 1 ? 1000 : (int)(left * 1000) + 1) <= 0)
		return 0;
	char buffer[4096];
	ssize_t got = recv(qmp->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (got <= 0)
		return error_set(err, ERROR_SYSTEM, "QEMU closed its monitor");
	if (qmp->received.length + (size_t)got > LINE_LIMIT_BYTES)
		return error_set(err, ERROR_SYSTEM, "QEMU sent an endless line on its monitor");
	text_append_bytes(&qmp->received, buffer, (size_t)got);
	return 0;
}

static int read_object(struct qmp *qmp, double deadline, json_t **ret_object, struct error *err)
{
	const char *end = NULL;
	while (!qmp->received.length ||
	       !(end = memchr(qmp->received.data, '\n', qmp->received.length)))
		if (receive(qmp, deadline, err) < 0)
			return -1;
	size_t length = (size_t)(end - qmp->received.data);
	int result =
		json_parse_object(qmp->received.data, length, "QEMU's monitor", ret_object, err);
	struct text rest = {0};
	text_append_bytes(&rest, end + 1, qmp->received.length - length - 1);
	text_free(&qmp->received);
	qmp->received = rest;
	return result;
}

int qmp_execute(struct qmp *qmp, const char *command, double timeout_seconds, struct error *err)
{
	double deadline = clock_monotonic_seconds() + timeout_seconds;
	auto_text struct text line = {0};
	text_printf(&line, "{\"execute\":\"%s\"}\n", command);
	if (send(qmp->fd, line.data, line.length, MSG_NOSIGNAL) != (ssize_t)line.length)
		return error_errno(err, ERROR_SYSTEM, "cannot send \"%s\" to QEMU's monitor",
				   command);
	for (;;) {
		auto_json json_t *object = NULL;
		if (read_object(qmp, deadline, &object, err) < 0)
			return error_prefix(err, "monitor command \"%s\"", command);
		if (json_object_get(object, "return"))
			return 0;
		const json_t *fault = json_object_get(object, "error");
		if (fault)
			return error_set(err, ERROR_SYSTEM,
					 "QEMU refused the monitor command \"%s\": %s", command,
					 json_string_value(json_object_get(fault, "desc")) ?: "?");
	}
}

int qmp_open(int fd, double timeout_seconds, struct qmp *ret_qmp, struct error *err)
{
	struct qmp qmp = {.fd = fd};
	auto_json json_t *greeting = NULL;
	double deadline = clock_monotonic_seconds() + timeout_seconds;
	int result = read_object(&qmp, deadline, &greeting, err);
	if (result == 0 && !json_object_get(greeting, "QMP"))
		result = error_set(err, ERROR_SYSTEM, "QEMU's monitor sent no greeting");
	if (result == 0)
		result = qmp_execute(&qmp, "qmp_capabilities", timeout_seconds, err);
	if (result < 0) {
		text_free(&qmp.received);
		return -1;
	}
	*ret_qmp = qmp;
	return 0;
}

void qmp_close(struct qmp *qmp)
{
	if (qmp->fd >= 0)
		close(qmp->fd);
	qmp->fd = -1;
	text_free(&qmp->received);
}
