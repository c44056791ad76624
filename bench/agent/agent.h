/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_AGENT_AGENT_H
#define SENTINEL_BENCH_AGENT_AGENT_H

/*
 * The agent is /init in both guests. On the trusted kernel it waits for an order and jumps; on the
 * suspect kernel (known by its token in the command line) it runs the plan. It never exits.
 */

#include <stddef.h>

#include "bench/sealed_file.h"
#include "bench/ticket.h"
#include "sentinel/base/error.h"
#include "sentinel/base/json.h"

#define SMALL_FILE_LIMIT_BYTES ((size_t)64 << 10)

/* channel.c: the line to the host. */

/* Opens the channel in raw mode; whoever speaks before that is not heard. */
int channel_open(int *ret_channel, struct error *err);
/* Sends one event and waits until it has left. OBJECT is consumed. */
int channel_send(int channel, json_t *object, struct error *err);
/* Sends bytes as they are. */
int channel_send_bytes(int channel, const char *bytes, size_t length, struct error *err);
/* Waits without limit for an object with a member "command"; everything else is skipped. */
int channel_receive(int channel, json_t **ret_command, struct error *err);

/* jump.c */

/* Loads the suspect image; ERROR_STATE says why the running kernel refused it. */
int jump_load(const char *arguments, struct error *err);
/* Enters the loaded image. Returns only on failure. */
int jump_execute(struct error *err);

/* guest.c: what makes a bare kernel a place where programs run. */

void guest_prepare(void);
/* Loads what AGENT_MODULES_PATH lists; a module that this machine does not take is named only. */
void guest_load_modules(void);
/* Kills and reaps every process but us. */
void guest_sweep(void);

/* environment.c */

/* First line of a small file; NULL when it cannot be read. The caller frees it. */
char *environment_read_line(const char *path);
/* What can move a result on this kernel: text or null for each name. */
json_t *environment_read(void);

/* runner.c */

/* Runs the plan and fills runs and fault of *SEALED, reporting each run on the channel; adds the
   digests of the programs to its environment. */
void runner_run(const struct plan *plan, int channel, struct sealed_file *sealed);

#endif
