/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_KBUILD_H
#define SENTINEL_BUILDER_KBUILD_H

/* One call of the kernel's make, and what its log means. */

#include <stdbool.h>
#include <stdint.h>

#include "builder/toolchain.h"
#include "sentinel/base/error.h"

struct kbuild {
	const struct toolchain *toolchain;
	const char *folder;  /* holds objects; the cache sees paths relative to it */
	const char *work;    /* source tree */
	const char *objects; /* object folder */
	const char *log_path;
	const char *progress; /* label of the notices */
	const char *flags;    /* appended to the compiler's options; "" for none */
	int64_t jobs;         /* 0: one per online CPU */
	double timeout_seconds;
};

struct kbuild_result {
	bool made;
	bool timed_out;
	char *reason; /* when not made: one line; owned */
};

/*
 * Runs make with ARGUMENTS (targets and variables, ends with NULL) and appends its output to the
 * log. That the sources do not build is a result; that this host could not do its part (disk full,
 * out of memory, a compiler killed) is ERROR_SYSTEM.
 */
int kbuild_make(const struct kbuild *kbuild, const char *const *arguments,
		struct kbuild_result *ret_result, struct error *err);
void kbuild_result_free(struct kbuild_result *result);
#define auto_kbuild_result __attribute__((cleanup(kbuild_result_free)))

/*
 * The line of a log of make that says why it failed, WORK's path taken off; one line, never NULL,
 * the caller frees it. *ret_host_fault tells whether the host is to blame and not the sources.
 */
char *kbuild_reason(const char *log, const char *work, bool *ret_host_fault);

#endif
