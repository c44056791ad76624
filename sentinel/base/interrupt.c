/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t requested;

static void remember(int signal_number)
{
	requested = signal_number;
}

void interrupt_install(void)
{
	struct sigaction action = {.sa_handler = remember};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool interrupt_requested(void)
{
	return requested != 0;
}

int interrupt_check(struct error *err)
{
	if (!requested)
		return 0;
	return error_set(err, ERROR_INTERRUPTED,
			 "interrupted by signal %d; what was learned is stored, and the same "
			 "command continues",
			 (int)requested);
}
