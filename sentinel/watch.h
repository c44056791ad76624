/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_WATCH_H
#define SENTINEL_WATCH_H

/*
 * What the nights so far mean for tonight, series by series: which of them tonight is compared
 * with, what is known to be worse already, and whether a step is news. Pure: nights in, decisions
 * out. Values are night values on the log scale, more is worse.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/verdict.h"

/* What a night says of a series beside its verdict. */
enum watch_event {
	WATCH_NONE,
	WATCH_GROWN,       /* an open regression, and worse by more than the threshold */
	WATCH_FIXED,       /* an open regression that is gone */
	WATCH_CREEP,       /* many small steps: compared with the pinned kernel */
	WATCH_SAME_KERNEL, /* moved, though the kernel is the last accepted one: not its doing */
};
const char *watch_event_name(enum watch_event event);

/* One finished night of one series. */
struct watch_night {
	int64_t id;
	int64_t seconds;          /* when it began, UTC */
	const char *head;         /* not owned */
	bool alike;               /* measured as tonight is: machine, command, program … */
	double value;             /* NAN: it gave no valid number */
	bool concluded;           /* it came to a verdict: one whose head fails, say, does not */
	enum verdict_state state; /* that of stage 2, or of stage 1 when that was all */
	enum watch_event event;
	double change;     /* that went with the state */
	bool acknowledged; /* the operator has accepted the level of this night */
};

#define WATCH_NO_NIGHT ((size_t)-1)

/* Members below are indices of nights, or WATCH_NO_NIGHT. */
struct watch {
	size_t newest;       /* accepted night */
	size_t window_from;  /* the accepted nights from here on are the window */
	size_t count;        /* nights in the window */
	size_t restarted;    /* the acknowledged step or improvement that the level began with */
	size_t acknowledged; /* the last night whose level the operator has accepted */
	size_t open_since;   /* the first night of a regression that is open */
	size_t open_level;   /* the night in which it had its present size */
	double open_change;  /* that size, against the accepted level */
	size_t creep_since;  /* the night in which a creep was confirmed that is open */
	size_t creep_from;   /* where the creep that is looked for may begin: the first night after
				the last answer about it */
};

/*
 * Walks through NIGHTS, the oldest first. Accepted are those of the present level: since the last
 * step that was acknowledged, or the last confirmed improvement, and without those in which the
 * series was a regression that is still open, gave no number, or was never concluded. Unlike nights
 * end everything before them. A step that was seen and not confirmed stays in. The window are the
 * newest WINDOW accepted ones.
 */
void watch_scan(const struct watch_night *nights, size_t count, size_t window, bool *ret_accepted,
		struct watch *ret_watch);

/* The values of the accepted nights from night FROM on, in order, and how many they are. */
size_t watch_values(const struct watch_night *nights, size_t count, const bool *accepted,
		    size_t from, double *ret_values);

/* How a creep is told: where the pinned level is, and from which night on it is compared. */
struct watch_pin {
	size_t from;       /* first night to be compared */
	size_t level_from; /* the pinned level is that of the nights from here up to FROM, instead
			      of the pinned kernel's; WATCH_NO_NIGHT: the pinned kernel's */
};
/*
 * A step that was accepted after PINNED_SECONDS moves the pin: the first nights of its level, at
 * least LEAST, are compared with instead. False while there are not so many, or a regression is
 * open: nothing more is to be learned then.
 */
bool watch_pin(const struct watch_night *nights, size_t count, const struct watch *watch,
	       int64_t pinned_seconds, size_t least, struct watch_pin *ret_pin);

/* What stage 1 saw tonight, and what it was compared with. */
struct watch_tonight {
	const char *head;
	double value;
	const char *accepted; /* the last accepted kernel */
};
struct watch_decision {
	enum verdict_state state;
	enum watch_event event;
	int64_t since;         /* the night since which it is known or open; 0: none */
	const char *reference; /* the kernel that stage 2 compares with; NULL: no stage 2 */
};
/*
 * Is a STEP gone, now that the series lies CHANGE above the accepted level? When that is 99 times
 * as likely as that it is still there, for a night value of this DEVIATION: one low night in a
 * hundred must not close what the next one opens again.
 */
bool watch_is_gone(double step, double change, double deviation);

/*
 * What becomes of stage 1's VERDICT, given what is open. Known: still worse and not by more than
 * the threshold beyond the night that showed it last. Fixed: watch_is_gone().
 */
void watch_decide(const struct watch_night *nights, const struct watch *watch,
		  const struct verdict *verdict, const struct watch_tonight *tonight,
		  struct watch_decision *ret_decision);

/* A week is over between two nights: the history is looked through for steps. */
bool watch_is_new_week(int64_t previous_seconds, int64_t seconds);

#endif
