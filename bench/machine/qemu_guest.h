/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_MACHINE_QEMU_GUEST_H
#define SENTINEL_BENCH_MACHINE_QEMU_GUEST_H

/*
 * One running QEMU guest: the process (which dies with us), its console in a file, its channel to
 * the agent and its monitor, both over socket pairs, so that nothing is left in a file system.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/machine/event_stream.h"
#include "bench/machine/qmp.h"
#include "sentinel/base/error.h"
#include "sentinel/base/process.h"

#define QEMU_GUEST_CONSOLE_NAME "console.log"
#define QEMU_GUEST_LOG_NAME "emulator.log"
#define QEMU_GUEST_TCG_CPU "qemu64"

struct qemu_guest_setup {
	const char *emulator;  /* program */
	const char *folder;    /* absolute; console.log and emulator.log are made here afresh */
	const char *kernel;    /* absolute */
	const char *initrd;    /* absolute */
	const char *arguments; /* kernel command line */
	bool kvm;              /* else TCG, one thread, clock = instructions << icount_shift */
	int64_t icount_shift;
	int64_t memory_mib;
};

/* What a wait ended with. */
enum guest_news {
	GUEST_EVENT,
	GUEST_PANIC,  /* the console shows a kernel panic; reported once after a watch */
	GUEST_SILENT, /* nothing within the limit */
	GUEST_DIED,   /* the emulator ended */
};

struct qemu_guest {
	struct process process;
	int channel; /* -1 when closed */
	struct qmp monitor;
	struct event_stream events;
	int console; /* -1 when closed */
	struct text console_line;
	bool watching;
	double panic_seconds; /* monotonic time at which a panic was seen; 0: none */
	bool panic_over;      /* the kernel has said all it will say about it */
	bool panic_reported;
	char *panic_line; /* one safe line; NULL without a panic */
	char *log_path;
};

#define QEMU_GUEST_NONE ((struct qemu_guest){.channel = -1, .monitor.fd = -1, .console = -1})

/* ERROR_SYSTEM when QEMU does not start; the message holds what it said. */
int qemu_guest_start(const struct qemu_guest_setup *setup, struct qemu_guest *ret_guest,
		     struct error *err);
/* Waits for the next news; ERROR_INTERRUPTED is the only error. The caller frees *ret_event. */
int qemu_guest_wait(struct qemu_guest *guest, double timeout_seconds, enum guest_news *ret_news,
		    struct event *ret_event, struct error *err);
/* From now on a panic on the console is news. */
void qemu_guest_watch_console(struct qemu_guest *guest);
/* Sends {"command":COMMAND,"arguments":ARGUMENTS}; ARGUMENTS may be NULL. */
int qemu_guest_command(struct qemu_guest *guest, const char *command, const char *arguments,
		       struct error *err);
/* Resets the machine, as its reset button would. What the agent was saying is dropped. */
int qemu_guest_reset(struct qemu_guest *guest, struct error *err);
/* One safe line of what the emulator wrote to its log; the caller frees it. */
char *qemu_guest_complaint(const struct qemu_guest *guest);
/* Ends the emulator. May be called twice, and on QEMU_GUEST_NONE. */
void qemu_guest_stop(struct qemu_guest *guest);
#define auto_qemu_guest __attribute__((cleanup(qemu_guest_stop)))

#endif
