/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/watch.h"

#include <math.h>
#include <string.h>

#define GONE_ODDS 99.0

static const char *const event_names[] = {
	[WATCH_NONE] = "none",
	[WATCH_GROWN] = "grown",
	[WATCH_FIXED] = "fixed",
	[WATCH_CREEP] = "creep",
	[WATCH_SAME_KERNEL] = "same-kernel",
};

const char *watch_event_name(enum watch_event event)
{
	return event_names[event];
}

/* What the walk knows beyond its result. */
struct walk {
	const struct watch_night *nights;
	bool *accepted;
	struct watch watch;
};

static void close_regression(struct watch *watch)
{
	watch->open_since = WATCH_NO_NIGHT;
	watch->open_level = WATCH_NO_NIGHT;
	watch->open_change = 0;
}

static void forget(struct walk *walk, size_t before)
{
	for (size_t i = 0; i < before; i++)
		walk->accepted[i] = false;
}

/* Nothing before NIGHT can be compared with what comes. */
static void begin_anew(struct walk *walk, size_t next)
{
	forget(walk, next);
	close_regression(&walk->watch);
	walk->watch.restarted = WATCH_NO_NIGHT;
	walk->watch.acknowledged = WATCH_NO_NIGHT;
	walk->watch.creep_since = WATCH_NO_NIGHT;
	walk->watch.creep_from = next;
}

static void open_regression(struct walk *walk, size_t i)
{
	const struct watch_night *night = &walk->nights[i];
	if (night->event == WATCH_CREEP) {
		walk->watch.creep_since = i;
		return;
	}
	if (walk->watch.open_since == WATCH_NO_NIGHT)
		walk->watch.open_since = i;
	walk->watch.open_level = i;
	/* A step that grew was measured against the kernel that had shown it last. */
	walk->watch.open_change += night->change;
}

static void restart_level(struct walk *walk, size_t i)
{
	forget(walk, i);
	close_regression(&walk->watch);
	walk->watch.restarted = i;
}

static void apply_conclusion(struct walk *walk, size_t i)
{
	const struct watch_night *night = &walk->nights[i];
	if (night->event == WATCH_FIXED && walk->watch.open_since == WATCH_NO_NIGHT)
		walk->watch.creep_since = WATCH_NO_NIGHT;
	else if (night->event == WATCH_FIXED)
		close_regression(&walk->watch);
	switch (night->state) {
	case VERDICT_REGRESSION:
		open_regression(walk, i);
		break;
	case VERDICT_IMPROVEMENT:
		restart_level(walk, i);
		break;
	case VERDICT_NOT_REPEATED:
		if (night->event == WATCH_CREEP)
			walk->watch.creep_from = i + 1;
		break;
	case VERDICT_UNCHANGED:
	case VERDICT_FLAGGED:
	case VERDICT_KNOWN:
	case VERDICT_NO_DATA:
		break;
	}
	if (night->acknowledged) {
		restart_level(walk, i);
		walk->watch.acknowledged = i;
		walk->watch.creep_since = WATCH_NO_NIGHT;
		walk->watch.creep_from = i;
	}
}

/* A night that ended between the stages has concluded nothing. */
static bool is_accepted(const struct walk *walk, const struct watch_night *night)
{
	/* Known, though the night that opened it is out of sight by now. */
	bool open = walk->watch.open_since != WATCH_NO_NIGHT ||
		    (night->state == VERDICT_KNOWN && night->event != WATCH_CREEP &&
		     walk->watch.acknowledged == WATCH_NO_NIGHT);
	return isfinite(night->value) && night->concluded && night->state != VERDICT_FLAGGED &&
	       !open;
}

static void choose_window(struct walk *walk, size_t count, size_t window)
{
	struct watch *watch = &walk->watch;
	watch->window_from = count;
	for (size_t i = count; i-- > 0 && watch->count < window;) {
		if (!walk->accepted[i])
			continue;
		if (watch->newest == WATCH_NO_NIGHT)
			watch->newest = i;
		watch->window_from = i;
		watch->count++;
	}
}

void watch_scan(const struct watch_night *nights, size_t count, size_t window, bool *ret_accepted,
		struct watch *ret_watch)
{
	struct walk walk = {.nights = nights, .accepted = ret_accepted};
	walk.watch.newest = WATCH_NO_NIGHT;
	begin_anew(&walk, 0);
	for (size_t i = 0; i < count; i++) {
		ret_accepted[i] = false;
		if (!nights[i].alike) {
			begin_anew(&walk, i + 1);
			continue;
		}
		apply_conclusion(&walk, i);
		ret_accepted[i] = is_accepted(&walk, &nights[i]);
	}
	choose_window(&walk, count, window);
	*ret_watch = walk.watch;
}

size_t watch_values(const struct watch_night *nights, size_t count, const bool *accepted,
		    size_t from, double *ret_values)
{
	size_t found = 0;
	for (size_t i = from; i < count; i++)
		if (accepted[i])
			ret_values[found++] = nights[i].value;
	return found;
}

static size_t first_since(const struct watch_night *nights, size_t count, int64_t seconds)
{
	size_t i = 0;
	while (i < count && nights[i].seconds < seconds)
		i++;
	return i;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

bool watch_pin(const struct watch_night *nights, size_t count, const struct watch *watch,
	       int64_t pinned_seconds, size_t least, struct watch_pin *ret_pin)
{
	if (watch->open_since != WATCH_NO_NIGHT)
		return false;
	struct watch_pin pin = {
		.from = larger(first_since(nights, count, pinned_seconds), watch->creep_from),
		.level_from = WATCH_NO_NIGHT,
	};
	size_t acknowledged = watch->acknowledged;
	if (acknowledged != WATCH_NO_NIGHT && nights[acknowledged].seconds >= pinned_seconds) {
		size_t found = 0;
		size_t i = acknowledged;
		for (; i < count && found < least; i++)
			found += isfinite(nights[i].value);
		if (found < least)
			return false;
		pin.level_from = acknowledged;
		pin.from = larger(i, watch->creep_from);
	}
	*ret_pin = pin;
	return true;
}

static bool is_worse(const struct verdict *verdict)
{
	return verdict->state == VERDICT_FLAGGED && verdict->change > 0;
}

/* Stage 2 is for what moved, and for kernels that differ. */
static void want_retest(const struct watch_tonight *tonight, const char *reference,
			struct watch_decision *decision)
{
	if (strcmp(reference, tonight->head) != 0) {
		decision->reference = reference;
		return;
	}
	decision->state = VERDICT_NOT_REPEATED;
	if (decision->event == WATCH_NONE)
		decision->event = WATCH_SAME_KERNEL;
}

bool watch_is_gone(double step, double change, double deviation)
{
	/* ln of the likelihood ratio of "at 0" against "at STEP", normal values. */
	return (step / 2 - change) * step >= log(GONE_ODDS) * deviation * deviation &&
	       change < step / 2;
}

/* Of one night value, whatever the verdict rests on. */
static double night_deviation(const struct verdict *verdict)
{
	return verdict->basis == VERDICT_BY_NIGHTS
		       ? verdict->deviation
		       : verdict->deviation / sqrt(fmax(1, (double)verdict->boots));
}

static void decide_open(const struct watch_night *nights, const struct watch *watch,
			const struct verdict *verdict, const struct watch_tonight *tonight,
			struct watch_decision *decision)
{
	const struct watch_night *level = &nights[watch->open_level];
	decision->since = nights[watch->open_since].id;
	if (is_worse(verdict) && tonight->value - level->value > verdict->threshold &&
	    strcmp(level->head, tonight->head) != 0) {
		decision->event = WATCH_GROWN;
		decision->reference = level->head;
	} else if (is_worse(verdict) ||
		   !watch_is_gone(watch->open_change, verdict->change, night_deviation(verdict))) {
		decision->state = VERDICT_KNOWN;
	} else {
		decision->event = WATCH_FIXED;
		if (verdict->state == VERDICT_FLAGGED)
			want_retest(tonight, tonight->accepted, decision);
	}
}

void watch_decide(const struct watch_night *nights, const struct watch *watch,
		  const struct verdict *verdict, const struct watch_tonight *tonight,
		  struct watch_decision *ret_decision)
{
	struct watch_decision decision = {.state = verdict->state};
	if (verdict->state == VERDICT_NO_DATA)
		;
	else if (watch->open_since != WATCH_NO_NIGHT)
		decide_open(nights, watch, verdict, tonight, &decision);
	else if (verdict->state == VERDICT_FLAGGED)
		want_retest(tonight, tonight->accepted, &decision);
	*ret_decision = decision;
}

#define DAY_SECONDS 86400
/* The first of January 1970 was a Thursday: weeks begin on Mondays, three days earlier. */
#define FIRST_MONDAY_DAYS 3

static int64_t week_of(int64_t seconds)
{
	return (seconds / DAY_SECONDS + FIRST_MONDAY_DAYS) / 7;
}

bool watch_is_new_week(int64_t previous_seconds, int64_t seconds)
{
	return week_of(seconds) > week_of(previous_seconds);
}
