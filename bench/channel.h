/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_CHANNEL_H
#define SENTINEL_BENCH_CHANNEL_H

/*
 * The words that agent and host exchange over a byte stream (the second serial port): one JSON
 * object a line, ASCII only. Serial lines echo and drop: whatever is not a known object is skipped.
 *
 *   agent, trusted kernel:  {"event":"trusted","boot_id":B,"release":R}
 *   host:                   {"command":"jump","arguments":A} or {"command":"stay"}
 *   agent:                  {"event":"jumping"} or {"event":"refused","reason":TEXT}
 *   agent, suspect kernel:  {"event":"arrived","boot_id":B,"release":R,"version":V,"token":T}
 *                           {"event":"running","step":N,"iteration":N}
 *                           {"event":"sealed","length":N,"sha256":HEX} and N bytes and a newline
 */

#define CHANNEL_EVENT_TRUSTED "trusted"
#define CHANNEL_EVENT_JUMPING "jumping"
#define CHANNEL_EVENT_REFUSED "refused"
#define CHANNEL_EVENT_ARRIVED "arrived"
#define CHANNEL_EVENT_RUNNING "running"
#define CHANNEL_EVENT_SEALED "sealed"
#define CHANNEL_COMMAND_JUMP "jump"
#define CHANNEL_COMMAND_STAY "stay"

#define CHANNEL_LINE_LIMIT_BYTES 8192

/* Where things lie in the guests. */
#define AGENT_TICKET_PATH "/sentinel/ticket.json"
#define AGENT_MODULES_PATH "/sentinel/modules.load"
#define AGENT_SUSPECT_IMAGE_PATH "/sentinel/suspect/image"
#define AGENT_SUSPECT_INITRD_PATH "/sentinel/suspect/initrd"
#define AGENT_CHANNEL_DEVICE "/dev/ttyS1"
/* Name of the environment's fact that holds the SHA-256 of a program: this and argv[0]. */
#define AGENT_PROGRAM_FACT "program "
#define AGENT_TOKEN_ARGUMENT "sentinel.token="

#endif
