/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/clock.h"

#include <string.h>
#include <time.h>

double clock_monotonic_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int64_t clock_utc_seconds(void)
{
	return (int64_t)time(NULL);
}

void clock_utc_text(int64_t utc_seconds, char buffer[static 21])
{
	time_t seconds = (time_t)utc_seconds;
	struct tm parts;
	/* Commits may claim any date at all. */
	if (!gmtime_r(&seconds, &parts) || !strftime(buffer, 21, "%Y-%m-%dT%H:%M:%SZ", &parts))
		strcpy(buffer, "unknown date");
}
