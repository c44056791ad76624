/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_INTERRUPT_H
#define SENTINEL_BASE_INTERRUPT_H

#include <stdbool.h>

#include "sentinel/base/error.h"

/*
 * Ctrl-C, SIGTERM and SIGHUP only set a flag. Whoever waits (process_run, the machine drivers)
 * looks at it, ends what it started, and returns ERROR_INTERRUPTED. SIGPIPE is ignored.
 */
void interrupt_install(void);
bool interrupt_requested(void);
/* -1 with ERROR_INTERRUPTED when a signal came, else 0. */
int interrupt_check(struct error *err);

#endif
