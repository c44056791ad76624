/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static enum log_level shown = LOG_NOTICE;

void log_set_level(enum log_level level)
{
	shown = level;
}

static void log_line(enum log_level level, const char *format, va_list arguments)
{
	if (level > shown)
		return;
	char message[4096];
	char stamp[16];
	time_t now = time(NULL);
	struct tm parts;
	localtime_r(&now, &parts);
	strftime(stamp, sizeof(stamp), "%H:%M:%S", &parts);
	vsnprintf(message, sizeof(message), format, arguments);
	fprintf(stderr, "[%s] %s\n", stamp, message);
}

void log_notice(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	log_line(LOG_NOTICE, format, arguments);
	va_end(arguments);
}

void log_debug(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	log_line(LOG_DEBUG, format, arguments);
	va_end(arguments);
}

void log_error(const struct error *err)
{
	fprintf(stderr, "sentinel: %s\n", err->message);
}
