/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_CLOCK_H
#define SENTINEL_BASE_CLOCK_H

#include <stdint.h>

/* Seconds of CLOCK_MONOTONIC: for durations on this boot only. */
double clock_monotonic_seconds(void);
/* Whole seconds since the epoch, UTC: for records. */
int64_t clock_utc_seconds(void);
/* "2026-11-30T22:15:00Z", or "unknown date" beyond the year 9999; buffer of at least 21 bytes. */
void clock_utc_text(int64_t utc_seconds, char buffer[static 21]);

#endif
