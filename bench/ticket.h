/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_TICKET_H
#define SENTINEL_BENCH_TICKET_H

/*
 * What the suspect kernel is told: which trial this is, which kernel it should be, and the plan.
 * It travels as /sentinel/ticket.json in the suspect's initramfs; the token also stands in the
 * kernel command line as "sentinel.token=TOKEN". Shared by the host and the agent.
 */

#include <stddef.h>
#include <stdint.h>

#include "sentinel/base/error.h"

#define TOKEN_SIZE 33 /* 128 random bits in hexadecimal, terminated */

/* One cell of one benchmark: run "warmup" discarded and "iterations" counted times. */
struct plan_step {
	char *benchmark; /* policy name */
	char *cell;      /* case name, "groups-1" */
	char **argv;     /* ends with NULL */
	int64_t iterations;
	int64_t warmup;
	int64_t timeout_seconds; /* one iteration, on the guest's clock */
};

struct plan {
	struct plan_step *steps;
	size_t step_count;
};

struct ticket {
	char token[TOKEN_SIZE];
	char *release; /* expected uname -r */
	struct plan plan;
};

/* JSON text, owned by the caller. Equal plans give equal text. */
char *plan_to_text(const struct plan *plan);
char *ticket_to_text(const struct ticket *ticket);
/* ERROR_STATE names WHAT and the faulty member; limits: 1,000 steps, 100 arguments a step. */
int plan_from_text(const char *text, size_t length, const char *what, struct plan *ret_plan,
		   struct error *err);
int ticket_from_text(const char *text, size_t length, const char *what, struct ticket *ret_ticket,
		     struct error *err);
void plan_free(struct plan *plan);
void ticket_free(struct ticket *ticket);
#define auto_plan __attribute__((cleanup(plan_free)))
#define auto_ticket __attribute__((cleanup(ticket_free)))

/* Fresh from getrandom(2). */
int token_create(char ret_token[static TOKEN_SIZE], struct error *err);

#endif
