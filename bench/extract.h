/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_EXTRACT_H
#define SENTINEL_BENCH_EXTRACT_H

/*
 * Raw output -> one number, on the trusted side, by the benchmark's policy. Exit code 0 proves
 * nothing: the load line, rejected words and the number itself are checked. A run that cannot be
 * trusted gives a fault and no number.
 */

#include "bench/sealed_file.h"
#include "policies/policy.h"
#include "sentinel/base/error.h"

enum extract_fault {
	EXTRACT_OK,
	EXTRACT_FAILED,        /* exit code, signal or time limit */
	EXTRACT_INTERRUPTED,   /* a "reject" pattern matched */
	EXTRACT_LOAD_MISMATCH, /* a "require" pattern is missing */
	EXTRACT_INCOMPLETE,    /* no number, or more than one */
	EXTRACT_IMPLAUSIBLE,   /* not finite, negative, zero, hexadecimal */
	EXTRACT_TRUNCATED,     /* longer than we keep */
};

struct extracted {
	enum extract_fault fault;
	double value;       /* 0 when there is a fault */
	double resolution;  /* one unit in the last printed place */
	char evidence[256]; /* one safe line, when there is a fault */
};

/* -1 is ERROR_USAGE for a pattern that does not compile or exceeds PCRE2's match limit. */
int extract_number(const struct policy_benchmark *benchmark, const struct policy_case *cell,
		   const struct run_result *run, struct extracted *ret_extracted,
		   struct error *err);
const char *extract_fault_name(enum extract_fault fault);

#endif
