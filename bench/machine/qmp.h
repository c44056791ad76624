/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_MACHINE_QMP_H
#define SENTINEL_BENCH_MACHINE_QMP_H

/*
 * The QEMU Machine Protocol over a connected stream socket: one JSON object a line. Every wait has
 * a limit. All errors are ERROR_SYSTEM: the emulator is a program of this host.
 */

#include "sentinel/base/error.h"
#include "sentinel/base/text.h"

struct qmp {
	int fd; /* owned; -1 when closed */
	struct text received;
};

/* Takes over FD, reads the greeting and leaves negotiation mode. On failure FD stays the caller's.
 */
int qmp_open(int fd, double timeout_seconds, struct qmp *ret_qmp, struct error *err);
/* A command without arguments ("system_reset", "quit"); returns after QEMU has acknowledged it. */
int qmp_execute(struct qmp *qmp, const char *command, double timeout_seconds, struct error *err);
void qmp_close(struct qmp *qmp);

#endif
