/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_LOG_H
#define SENTINEL_BASE_LOG_H

#include "sentinel/base/error.h"

/*
 * What a person sees while Sentinel works: one line an event on stderr, stamped with the time of
 * day. Results go to stdout and never through here.
 */
enum log_level { LOG_ERROR, LOG_NOTICE, LOG_DEBUG };

/* -q: LOG_ERROR; default: LOG_NOTICE; -v: LOG_DEBUG. */
void log_set_level(enum log_level level);
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "sentinel: MESSAGE", shown at every level. */
void log_error(const struct error *err);

#endif
