/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_ERROR_H
#define SENTINEL_BASE_ERROR_H

/*
 * How a function says that the operator, the host, a peer or the stored state is at fault.
 * A kernel that does not build, boot or finish is never an error: it is data in a result.
 *
 * Functions that can fail return 0 or -1 and take "struct error *err" last. They fill it exactly
 * when they return -1; their "ret_" parameters are written only on success.
 */

enum error_kind {
	ERROR_NONE = 0,
	ERROR_USAGE,       /* the command line or a policy file: whoever wrote it must act */
	ERROR_SYSTEM,      /* this host: disk, memory, a missing program */
	ERROR_PEER,        /* somebody else's server: git remote, SMTP */
	ERROR_STATE,       /* our own stored state is damaged, too new, or contradicts itself */
	ERROR_INTERRUPTED, /* the operator stopped us; everything learned so far is stored */
};

struct error {
	enum error_kind kind;
	char message[2048]; /* one or more lines without a final newline; always terminated */
};

/* All three return -1, so that "return error_set(...)" reads well. A NULL err is allowed. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As error_set, with ": " and the text of the current errno appended. */
int error_errno(struct error *err, enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "CONTEXT: " before the message that is there; the kind stays. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit code of a program that ends with this kind: 0, 2, 3, 4, 5, or 130 for interrupted. */
int error_exit_code(enum error_kind kind);

#endif
