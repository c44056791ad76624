/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_SEALED_FILE_H
#define SENTINEL_BENCH_SEALED_FILE_H

/*
 * What the suspect kernel leaves behind: raw outputs, timings and environment of one trial, as one
 * JSON object. Written by the agent, imported by the trusted side, never by a kernel under test
 * into the store. The SHA-256 over its bytes travels beside it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/ticket.h"
#include "sentinel/base/error.h"
#include "sentinel/base/json.h"

#define SEALED_FILE_LIMIT_BYTES ((size_t)64 << 20)
#define SEALED_STREAM_LIMIT_BYTES ((size_t)256 << 10) /* kept of each stdout and stderr */

struct run_result {
	size_t step;       /* index into the plan */
	int64_t iteration; /* 0-based; warm-up runs are negative: -1, -2 … */
	int exit_code;     /* -1 when ended by a signal */
	int signal_number;
	bool timed_out;
	bool truncated;      /* a stream was longer than the limit */
	double wall_seconds; /* guest clock */
	char *stdout_text;   /* foreign; NULs replaced */
	char *stderr_text;
};

struct sealed_file {
	char token[TOKEN_SIZE];
	char *boot_id;
	char *release; /* uname -r */
	char *version; /* uname -v */
	char *command_line;
	json_t *environment; /* {"cpu_model": "...", "clocksource": "...", …}: text or null for
				what could not be read */
	json_t *environment_after;
	struct run_result *runs;
	size_t run_count;
	char *fault; /* why the plan could not be run to its end, or NULL */
};

char *sealed_file_to_text(const struct sealed_file *sealed);
/* ERROR_STATE for a damaged or oversized file: that is the machine's fault, told by the caller. */
int sealed_file_from_text(const char *text, size_t length, struct sealed_file *ret_sealed,
			  struct error *err);
void sealed_file_free(struct sealed_file *sealed);
#define auto_sealed_file __attribute__((cleanup(sealed_file_free)))

#endif
