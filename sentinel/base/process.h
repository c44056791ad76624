/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_PROCESS_H
#define SENTINEL_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sentinel/base/error.h"

/*
 * One child process, run to its end with a time limit. It gets its own process group, default
 * signal dispositions, /dev/null as standard input, and LC_ALL=C; it dies with us. When the limit
 * passes or the operator interrupts, the whole group is killed. Whatever the child did is data:
 * -1 is returned only when it could not be started (ERROR_SYSTEM, naming the program and what to
 * install) or on interruption.
 */
struct process_command {
	const char *const *argv;        /* ends with NULL; argv[0] is looked up in PATH */
	const char *const *environment; /* "NAME=VALUE" added to ours, or NULL */
	const char *folder;             /* working directory, or NULL */
	const char *stdout_path;        /* appended to; NULL: see capture_limit_bytes */
	const char *stderr_path;        /* appended to; equal to stdout_path: both in one; NULL */
	size_t capture_limit_bytes;     /* per stream without a path: kept up to here, rest dropped;
					   0: thrown away */
	double timeout_seconds;         /* 0: no limit */
	bool low_priority;              /* nice 10: for builds beside a measuring machine */
	const char *progress;           /* a notice with this label every 10 s, or NULL */
};

struct process_result {
	int exit_code;     /* 0..255, or -1 when it ended by a signal */
	int signal_number; /* 0 when it exited */
	bool timed_out;
	double wall_seconds;
	/* Captured streams: terminated, may hold NULs; NULL when sent to a file. */
	char *stdout_bytes;
	size_t stdout_length;
	bool stdout_truncated;
	char *stderr_bytes;
	size_t stderr_length;
	bool stderr_truncated;
};

int process_run(const struct process_command *command, struct process_result *ret_result,
		struct error *err);
void process_result_free(struct process_result *result);
#define auto_process_result __attribute__((cleanup(process_result_free)))

bool process_succeeded(const struct process_result *result);
/* "exit code 2", "signal 9", "no end within 30 s": for messages. Buffer of at least 64 bytes. */
const char *process_describe(const struct process_result *result, double timeout_seconds,
			     char buffer[static 64]);
/* Finds a program in PATH; the caller frees *ret_path. ERROR_SYSTEM names PACKAGE to install. */
int process_find_program(const char *name, const char *package, char **ret_path, struct error *err);

/*
 * A child that runs beside us (an emulator). The same guarantees as process_run; its output goes to
 * OUTPUT_PATH. Ends it and its group by process_stop, which may be called twice.
 */
struct process {
	pid_t pid; /* 0: none */
};
int process_start(const struct process_command *command, struct process *ret_process,
		  struct error *err);
/* True when it has ended; then *ret_result (may be NULL) says how. */
bool process_has_ended(struct process *process, struct process_result *ret_result);
void process_stop(struct process *process);
#define auto_process __attribute__((cleanup(process_stop)))

#endif
