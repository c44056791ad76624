/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_CONDUCTOR_H
#define SENTINEL_CONDUCTOR_H

/*
 * The hands of the night: builds, boots and stores what is wanted, one durable step after another.
 * Each function can be killed at any instant and called again: it looks into the store and goes on.
 * All want context_open_for_work() and context_open_bench().
 */

#include "sentinel/context.h"
#include "sentinel/store.h"
#include "sentinel/store_watch.h"

/* All that must be equal for two results to be compared, beside series, command and program: the
   machine, the configuration asked for, and the toolchain, as they are now. */
int conductor_identity(struct context *context, struct digest *ret_identity, struct error *err);

/* Builds a commit in a layout (builder/layout.h; 0 is the plain one), or takes what is known about
   it, failures included. */
int conductor_build(struct context *context, const char *commit, size_t layout,
		    struct store_build *ret_build, struct error *err);

/* Brings to a final state the trial with this purpose, owner and sequence, which is queued when it
   is new. One that had failed for the host's reasons is tried afresh. */
int conductor_trial(struct context *context, enum trial_purpose purpose, int64_t owner,
		    int64_t sequence, const char *commit, size_t layout, const char *plan,
		    struct store_trial *ret_trial, struct error *err);

/* Would its boots be measured in the same way now? */
int conductor_baseline_is_current(struct context *context, const struct store_baseline *baseline,
				  bool *ret_current, struct error *err);
/* Measures what the baseline still lacks and marks it complete. ERROR_USAGE when its commit cannot
   be built or booted. */
int conductor_baseline(struct context *context, const struct store_baseline *baseline,
		       struct error *err);

/* Measures what a characterisation still lacks and stores the noise of each series. ERROR_USAGE
   when its commit cannot be built or booted. */
int conductor_characterise(struct context *context,
			   const struct store_characterisation *characterisation,
			   struct error *err);

/* Takes a night (or a judgement) to NIGHT_DONE. */
int conductor_night(struct context *context, struct store_night *night, struct error *err);

/* Takes a hunt to its answer; one that cannot go on (the tree was rewritten, the machine changed)
   ends as "cannot tell" with the reason. CONFIRM_SERIES are measured beside the hunted one when the
   culprit is confirmed; NULL for none. When one step does not explain what was measured, the parts
   before and after the culprit are hunted as well, as hunts of their own with this one as origin.
 */
int conductor_hunt(struct context *context, struct store_hunt *hunt,
		   const char *const *confirm_series, size_t confirm_count, struct error *err);

/* Measures the bad end with and without CULPRIT in interleaved boots: the last proof. A revert that
   does not apply, build or boot is data; report_hunt() tells of it. */
int conductor_measure_revert(struct context *context, const struct store_hunt *hunt,
			     const char *culprit, const char *plan, struct error *err);

/* The kernel that a culprit was confirmed against: its parent, or the nearest that could be booted
   in its stead. The good end when nothing was confirmed. */
int conductor_rival(struct context *context, const struct store_hunt *hunt,
		    char ret_commit[static OBJECT_ID_SIZE], struct error *err);

/* Composes and queues one message to the recipients of [mail]; HUNT 0: none. The same MESSAGE_ID
   again changes nothing. */
int conductor_queue_mail(struct context *context, int64_t hunt, const char *message_id,
			 const char *subject, const char *body, struct error *err);
/* Queues the mail of a finished night's hunts. Queueing again changes nothing. */
int conductor_report(struct context *context, const struct store_night *night, struct error *err);
/* Tries every waiting recipient whose time has come, or all of them NOW. ERROR_PEER when some were
   not delivered: they wait, or are refused for good. */
int conductor_send_mail(struct context *context, bool now, struct error *err);

#endif
