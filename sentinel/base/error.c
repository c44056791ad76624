/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int exit_codes[] = {
	[ERROR_NONE] = 0, [ERROR_USAGE] = 2, [ERROR_SYSTEM] = 3,
	[ERROR_PEER] = 4, [ERROR_STATE] = 5, [ERROR_INTERRUPTED] = 130,
};

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	if (!err)
		return -1;
	va_list arguments;
	va_start(arguments, format);
	err->kind = kind;
	vsnprintf(err->message, sizeof(err->message), format, arguments);
	va_end(arguments);
	return -1;
}

int error_errno(struct error *err, enum error_kind kind, const char *format, ...)
{
	int saved_errno = errno;
	if (!err)
		return -1;
	va_list arguments;
	va_start(arguments, format);
	err->kind = kind;
	vsnprintf(err->message, sizeof(err->message), format, arguments);
	va_end(arguments);
	size_t used = strlen(err->message);
	snprintf(err->message + used, sizeof(err->message) - used, ": %s", strerror(saved_errno));
	return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
	if (!err)
		return -1;
	char context[512];
	char message[sizeof(err->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(context, sizeof(context), format, arguments);
	va_end(arguments);
	memcpy(message, err->message, sizeof(message));
	/* A message that no longer fits loses its end, never its context. */
	int written = snprintf(err->message, sizeof(err->message), "%s: ", context);
	size_t used = (size_t)written;
	size_t room = sizeof(err->message) - used - 1;
	size_t length = strnlen(message, room);
	memcpy(err->message + used, message, length);
	err->message[used + length] = '\0';
	return -1;
}

int error_exit_code(enum error_kind kind)
{
	return exit_codes[kind];
}
