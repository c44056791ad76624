/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_POLICIES_POLICY_H
#define SENTINEL_POLICIES_POLICY_H

/*
 * The rule books: git-config files, read through libgit2. One table (policy_keys.c) names every
 * section and key with type, range, default and help; loading, "sentinel init" and the manual are
 * driven by it. Rules are data here; nothing in this folder decides about kernels.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sentinel/base/error.h"

struct string_list {
	char **items; /* each owned; no terminator */
	size_t count;
};

/* [tree "NAME"]: what is watched and how it is built. */
struct policy_tree {
	char *name;
	char *url; /* path, file://, https:// or ssh:// */
	char *branch;
	char *config;                  /* make target ("tinyconfig") or an absolute file name */
	struct string_list fragments;  /* files merged on top, in order; absolute */
	struct string_list modules;    /* loaded in the guest, with their dependencies */
	struct string_list irrelevant; /* path prefixes that cannot change the image */
	int64_t build_timeout_seconds;
	int64_t jobs; /* make -j; 0: one per online CPU */
};

/* [machine "NAME"] */
struct policy_machine {
	char *name;
	char *driver;         /* "qemu" */
	char *trusted_kernel; /* image file that the machine boots by default */
	char *acceleration;   /* "auto", "kvm" or "tcg" */
	int64_t memory_mib;
	int64_t boot_timeout_seconds; /* per boot: trusted, suspect, and the way home */
	int64_t icount_shift;         /* TCG: virtual nanoseconds per instruction = 2^shift */
	char *suspect_arguments;      /* added to the suspect kernel's command line */
};

/* One value of the parameter matrix: "param = groups 1 2 4" has three values. */
struct policy_parameter {
	char *name;
	struct string_list values;
};

enum policy_better { POLICY_LOWER, POLICY_HIGHER };

/* [benchmark "NAME"]: a command, its parameters, and how a number is read out of its output. */
struct policy_benchmark {
	char *name;
	char *command; /* with {parameter} placeholders; split at spaces, no shell */
	char *package; /* Debian package that has the program */
	struct policy_parameter *parameters; /* from keys "param = NAME VALUE VALUE…" */
	size_t parameter_count;
	char *metric;
	char *pattern; /* PCRE2, multi-line; group 1 (or group "value") is the number */
	struct string_list require; /* patterns that must match, with {parameter} placeholders */
	struct string_list reject;  /* patterns that must not match stdout or stderr */
	char *unit;
	enum policy_better better;
	int64_t iterations;      /* counted ones per boot */
	int64_t warmup;          /* discarded ones before them */
	int64_t timeout_seconds; /* per iteration, of the host's clock as seen by the machine */
	double minimum_effect_percent; /* smallest step that matters in practice */
};

/* [night]: what is done every night, and when a step counts. */
struct policy_night {
	char *tree;
	char *machine;
	struct string_list benchmarks;
	int64_t boots;          /* boots of tonight's head in stage 1 */
	int64_t window;         /* accepted nights of the rolling baseline */
	int64_t baseline_boots; /* boots of "baseline set" */
	int64_t pinned_boots;   /* boots of "baseline remeasure" */
	int64_t retest_pairs;   /* interleaved fresh pairs of stage 2 */
	int64_t layout_builds;  /* builds of each kernel in stage 2; 1: the plain one only */
	double needless_retests_percent; /* of all series, a night, that chance sends to stage 2 */
	double false_alarms_per_month;   /* over all series together */
	int64_t attempts;                /* tries of a trial that failed for the host's reasons */
};

/* "kernel/sched 4": a commit that touches such a path is so many times likelier beforehand. */
struct policy_weight {
	char *prefix;
	double weight; /* > 0 */
};

/* [hunt] */
struct policy_hunt {
	double stop_probability;   /* the search ends when one commit has it */
	double report_probability; /* a culprit is named only above it */
	int64_t maximum_boots;     /* whole hunt */
	int64_t maximum_minutes;
	struct policy_weight *prior; /* from keys "prior = PATH-PREFIX WEIGHT" */
	size_t prior_count;
};

/* [mail] */
struct policy_mail {
	char *server; /* smtp://HOST:PORT; NULL: no mail is sent */
	char *from;
	struct string_list to;
	char *security; /* "none" (loopback only), "starttls" */
	int64_t timeout_seconds;
};

struct policy {
	char *path; /* of the file loaded */
	struct policy_tree *trees;
	size_t tree_count;
	struct policy_machine *machines;
	size_t machine_count;
	struct policy_benchmark *benchmarks; /* shipped catalogue, overridden key by key */
	size_t benchmark_count;
	struct policy_night night;
	struct policy_hunt hunt;
	struct policy_mail mail;
};

/*
 * Loads the shipped benchmark catalogue (SHIPPED_FOLDER/benchmarks/<name>.conf), then PATH on top,
 * key by key: a key of many values in PATH replaces all shipped values of that key. Relative file
 * names in PATH are taken relative to its folder, "shipped:NAME" to SHIPPED_FOLDER. Every fault is
 * ERROR_USAGE and names file, section, key and value, and for unknown names the nearest known one;
 * only a file that exists and cannot be read is ERROR_SYSTEM. A half-written file is a fault. All
 * names that [night] refers to exist, and policy_benchmark_cases succeeds for every benchmark. The
 * caller frees with policy_free, which accepts a zeroed policy.
 */
int policy_load(const char *path, const char *shipped_folder, struct policy *ret_policy,
		struct error *err);
void policy_free(struct policy *policy);
#define auto_policy __attribute__((cleanup(policy_free)))

/* The named one, or ERROR_USAGE naming it, the nearest known one and where to add it. */
int policy_find_tree(const struct policy *policy, const char *name,
		     const struct policy_tree **ret_tree, struct error *err);
int policy_find_machine(const struct policy *policy, const char *name,
			const struct policy_machine **ret_machine, struct error *err);
int policy_find_benchmark(const struct policy *policy, const char *name,
			  const struct policy_benchmark **ret_benchmark, struct error *err);

/* One cell of a benchmark's parameter matrix. A parameter with one value stays out of the name. */
struct policy_case {
	char *name;              /* "groups-1/loops-200", or "default" without parameters */
	struct string_list argv; /* placeholders filled */
	char *key;               /* "groups=1 loops=200": for the store */
};
/*
 * All cells in the order of the file; values of the last parameter change fastest. ERROR_USAGE: an
 * unknown placeholder, a parameter that the command does not use, or more than 1000 cells. The
 * caller frees with policy_cases_free.
 */
int policy_benchmark_cases(const struct policy_benchmark *benchmark, struct policy_case **ret_cases,
			   size_t *ret_count, struct error *err);
void policy_cases_free(struct policy_case *cases, size_t count);
/* Text with every {name} of the case replaced; an unknown name is ERROR_USAGE. Braces that do not
   hold a name, such as [0-9]{1,3}, stay. Caller frees. */
int policy_fill(const char *template, const struct policy_case *cell, char **ret_text,
		struct error *err);

/* A complete commented sentinel.conf, made from the key table. The caller frees it. */
char *policy_example(void);
/* The manual's table of keys: "section.key type default help", one a line. The caller frees it. */
char *policy_key_list(void);

void string_list_add(struct string_list *list, const char *item);
void string_list_free(struct string_list *list);

#endif
