/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_STORE_H
#define SENTINEL_STORE_H

/*
 * Everything a night learned, in one SQLite file (WAL, synchronous=FULL, STRICT tables). Each
 * function that writes is one durable transaction: when it has returned 0, a power cut does not
 * undo it. Faults: ERROR_SYSTEM (disk full, not writable), ERROR_STATE (damaged, or made by a newer
 * Sentinel). Text in records is owned by the record; free it with the record's free function.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/verdict.h"
#include "bisect/hunt.h"
#include "builder/source_tree.h"
#include "sentinel/base/error.h"
#include "sentinel/trial.h"
#include "sentinel/watch.h"

struct store; /* opaque */

/* Opens or creates PATH and migrates it to this version. */
int store_open(const char *path, struct store **ret_store, struct error *err);
void store_close(struct store **store);
#define auto_store __attribute__((cleanup(store_close)))

/* Builds: what is known about a recipe (artifact key), failed ones included. */
struct store_build {
	char *key;
	char *tree_name;
	char tree_id[OBJECT_ID_SIZE];
	bool failed;
	char *image_digest; /* NULL when failed */
	char *release;      /* NULL when failed */
	char *toolchain;
	char *config_digest;
	char *reason; /* NULL when built */
	char *log_path;
	double seconds;
};
int store_put_build(struct store *store, const struct store_build *build, struct error *err);
int store_get_build(struct store *store, const char *key, bool *ret_found,
		    struct store_build *ret_build, struct error *err);
void store_build_free(struct store_build *build);

/* Why a trial is run; with the owner's id and a sequence number it is unique: nothing is measured
   twice. Owners: baseline, night, night, hunt, hunt, none (0), and what characterise keeps. */
enum trial_purpose {
	PURPOSE_BASELINE,
	PURPOSE_NIGHT,
	PURPOSE_RETEST,
	PURPOSE_HUNT,
	PURPOSE_REVERT,
	PURPOSE_MEASURE,
	PURPOSE_CHARACTERISE,
};
const char *trial_purpose_name(enum trial_purpose purpose);

struct store_trial {
	int64_t id;
	enum trial_purpose purpose;
	int64_t owner;
	int64_t sequence;
	char commit[OBJECT_ID_SIZE];
	size_t layout; /* which build of the commit, see builder/layout.h */
	char *machine;
	char *plan; /* plan_to_text */
	enum trial_state state;
	int64_t attempts;
	char token[TOKEN_SIZE];
	char *key; /* artifact key, once built */
	char *image_digest;
	char *identity; /* what makes results comparable, once armed */
	char *clock;    /* "virtual time (…)" */
	char *phase;    /* trial_phase_name of the last attempt, or NULL */
	char *cause;
	char *reason;
	char *console_path;
	char *trusted_boot_id;
	char *suspect_boot_id;
	double seconds; /* of the last attempt */
	int64_t created_seconds;
	int64_t ended_seconds; /* 0 while not final */
};
/* Returns the trial with this purpose, owner and sequence, adding it as QUEUED when new.
   ERROR_STATE when the one that is there is of another commit, layout or machine; its plan is kept
   as it was. */
int store_queue_trial(struct store *store, enum trial_purpose purpose, int64_t owner,
		      int64_t sequence, const char *commit, size_t layout, const char *machine,
		      const char *plan, struct store_trial *ret_trial, struct error *err);
int store_get_trial(struct store *store, int64_t id, struct store_trial *ret_trial,
		    struct error *err);
/* Writes every mutable field of an existing trial: all but purpose, owner, sequence, commit,
   layout, machine, plan and created_seconds. ERROR_STATE when it is STORED already; only
   store_import makes it so. */
int store_update_trial(struct store *store, const struct store_trial *trial, struct error *err);
/* The newest trials first, at most LIMIT; owner < 0 and commit NULL mean any. */
int store_list_trials(struct store *store, int purpose_or_any, int64_t owner, const char *commit,
		      size_t limit, struct store_trial **ret_trials, size_t *ret_count,
		      struct error *err);
/*
 * What a build of this tree, and a trial on this machine, usually take: the median of the newest
 * ones that came to an end. Trials of hunts and retests come first: others run more benchmarks. 0
 * when nothing is known.
 */
int store_usual_seconds(struct store *store, const char *tree_name, const char *machine,
			double *ret_build_seconds, double *ret_trial_seconds, struct error *err);
void store_trial_free(struct store_trial *trial);
void store_trials_free(struct store_trial *trials, size_t count);
#define auto_store_trial __attribute__((cleanup(store_trial_free)))

/* Samples. VALUE must be finite when valid. A run that could not be trusted is kept with its fault
 * and without a value. */
struct store_sample {
	char *series; /* "benchmark/case/metric" */
	int64_t iteration;
	bool valid;
	double value;
	double resolution;
	char *unit;
	bool higher_is_better;
	char *command; /* as it was run, words separated by spaces, or NULL */
	char *program; /* SHA-256 of the program's file as the machine had it, or NULL */
	char *fault;   /* extract_fault_name and evidence, when not valid */
};
/* Trial becomes STORED (all mutable fields as in TRIAL), its sealed file's text and its samples go
   in, in one transaction. ERROR_STATE when it is STORED already. */
int store_import(struct store *store, const struct store_trial *trial, const char *sealed_text,
		 size_t sealed_length, const struct store_sample *samples, size_t count,
		 struct error *err);
/*
 * Boot values: per STORED trial that matches, the samples of one series in iteration order. COMMIT
 * NULL is any, SERIES NULL gives all series. Grouped by trial, trials in order of sequence.
 */
struct store_boot {
	int64_t trial;
	int64_t sequence;
	char commit[OBJECT_ID_SIZE];
	size_t layout;
	char *series;
	char *unit;
	bool higher_is_better;
	double resolution;
	char *command;
	char *program;
	double *values;
	size_t count;   /* valid ones */
	size_t invalid; /* faulty runs */
	char *identity;
	char *clock;
};
int store_boots(struct store *store, enum trial_purpose purpose, int64_t owner, const char *commit,
		const char *series, struct store_boot **ret_boots, size_t *ret_count,
		struct error *err);
/* As store_boots, for every purpose: all that was ever measured of COMMIT on MACHINE, trials in
   order of their ids. */
int store_boots_of_commit(struct store *store, const char *machine, const char *commit,
			  struct store_boot **ret_boots, size_t *ret_count, struct error *err);
/* The one boot of SERIES that a trial gave; *ret_boot with an empty series when there is none. Free
   with store_boot_free. */
int store_boot_of_trial(struct store *store, int64_t trial, const char *series,
			struct store_boot *ret_boot, struct error *err);
void store_boot_free(struct store_boot *boot);
void store_boots_free(struct store_boot *boots, size_t count);

struct store_baseline {
	int64_t id; /* 0: none */
	char *tree_name;
	char *machine;
	char commit[OBJECT_ID_SIZE];
	int64_t boots; /* wanted */
	int64_t set_seconds;
	int64_t measured_seconds; /* when its newest boots were complete; 0: never */
	bool complete;            /* the boots that make it usable are there */
	bool pending;             /* complete, and further boots are wanted */
};
int store_add_baseline(struct store *store, struct store_baseline *baseline, struct error *err);
/* All boots that were wanted are there, at SECONDS. */
int store_complete_baseline(struct store *store, int64_t id, int64_t seconds, struct error *err);
/* So many boots more are wanted. */
int store_extend_baseline(struct store *store, int64_t id, int64_t boots, struct error *err);
/* ERROR_STATE when there is none. */
int store_get_baseline_by_id(struct store *store, int64_t id, struct store_baseline *ret_baseline,
			     struct error *err);
/* The newest of this tree and machine; id 0 when there is none. */
int store_get_baseline(struct store *store, const char *tree_name, const char *machine,
		       bool complete_only, struct store_baseline *ret_baseline, struct error *err);
void store_baseline_free(struct store_baseline *baseline);

/* Nights, and judgements asked for by hand. */
enum night_state { NIGHT_MEASURING, NIGHT_RETESTING, NIGHT_HUNTING, NIGHT_REPORTING, NIGHT_DONE };
struct store_night {
	int64_t id; /* 0: none */
	char *kind; /* "nightly" or "judge" */
	char *tree_name;
	char *machine;
	char head[OBJECT_ID_SIZE];
	int64_t baseline;
	int64_t retest_pairs; /* of stage 2, as they were wanted when it began */
	int64_t layouts;      /* builds of each kernel in stage 2; likewise */
	enum night_state state;
	char *outcome; /* "no regression", "regression", "improvement", "head does not build" …,
			  NULL until judged */
	int64_t started_seconds;
	int64_t ended_seconds;
};
int store_add_night(struct store *store, struct store_night *night, struct error *err);
int store_update_night(struct store *store, const struct store_night *night, struct error *err);
/* ERROR_STATE when there is none. */
int store_get_night(struct store *store, int64_t id, struct store_night *ret_night,
		    struct error *err);
/* The newest first. Unfinished only: state is not NIGHT_DONE. */
int store_list_nights(struct store *store, const char *kind, bool unfinished_only, size_t limit,
		      struct store_night **ret_nights, size_t *ret_count, struct error *err);
void store_night_free(struct store_night *night);
void store_nights_free(struct store_night *nights, size_t count);
const char *night_state_name(enum night_state state);

struct store_verdict {
	char *series;
	int64_t stage; /* 1 or 2 */
	struct verdict verdict;
	enum watch_event event;
	int64_t since;                  /* the night since which it is known or open; 0: none */
	char reference[OBJECT_ID_SIZE]; /* the commit that it is compared with, once that is to be
					   measured again; "" before */
	double layout_deviation;        /* between builds, as verdict_layout_deviation() had it */
};
/* Replaces the night's verdicts of that stage. What is not finite comes back as NaN. */
int store_put_verdicts(struct store *store, int64_t night, int64_t stage,
		       const struct store_verdict *verdicts, size_t count, struct error *err);
int store_get_verdicts(struct store *store, int64_t night, int64_t stage,
		       struct store_verdict **ret_verdicts, size_t *ret_count, struct error *err);
void store_verdicts_free(struct store_verdict *verdicts, size_t count);

struct store_hunt {
	int64_t id;
	int64_t night;  /* 0: asked for by hand */
	int64_t origin; /* the first hunt, when that one saw more than one step; 0: this is it */
	char *tree_name;
	char *machine;
	char *series;
	char good[OBJECT_ID_SIZE];
	char bad[OBJECT_ID_SIZE];
	struct hunt_rule rule;   /* as it was when the hunt began */
	struct hunt_price price; /* likewise; store_seed_hunt writes it */
	int64_t retest_boots;    /* of the night's retest, taken over as reproduction; likewise */
	bool finished;
	char *kind;                   /* hunt_answer_kind_name, when finished */
	char culprit[OBJECT_ID_SIZE]; /* "" when none */
	double probability;
	double step, step_lower, step_upper;
	double layout_share;
	double confirm_odds;
	bool more_steps;
	int64_t reproduce_pairs, confirm_pairs; /* the former with those of the retest */
	int64_t boots; /* spent by the hunt itself; the next three are its parts */
	int64_t reproduce_boots, search_boots, confirm_boots;
	int64_t builds;
	char *reason;
	int64_t started_seconds;
	int64_t ended_seconds;
};
int store_add_hunt(struct store *store, struct store_hunt *hunt, struct error *err);
struct store_hunt_event;
/* What the hunt takes over before it begins: its price, retest_boots and first EVENTS, in one
   transaction. ERROR_STATE when it has events already. */
int store_seed_hunt(struct store *store, const struct store_hunt *hunt,
		    struct store_hunt_event *events, size_t count, struct error *err);
/* Writes the answer and its set of commit ids, and marks it finished; ERROR_STATE when it is. */
int store_finish_hunt(struct store *store, const struct store_hunt *hunt,
		      const char (*set)[OBJECT_ID_SIZE], size_t set_count, struct error *err);
int store_get_hunt_set(struct store *store, int64_t id, char (**ret_set)[OBJECT_ID_SIZE],
		       size_t *ret_count, struct error *err);
/* ERROR_STATE when there is none. */
int store_get_hunt(struct store *store, int64_t id, struct store_hunt *ret_hunt, struct error *err);
/* The newest first; night < 0: any; 0: asked for by hand. Hunts with an origin are listed too. */
int store_list_hunts(struct store *store, int64_t night, bool unfinished_only,
		     struct store_hunt **ret_hunts, size_t *ret_count, struct error *err);
void store_hunt_free(struct store_hunt *hunt);
void store_hunts_free(struct store_hunt *hunts, size_t count);

struct store_hunt_event {
	int64_t sequence; /* 0, 1, 2 …: filled in by store_add_hunt_event */
	enum hunt_event_kind kind;
	enum hunt_stage stage;
	char commit[OBJECT_ID_SIZE];
	size_t layout;
	char other[OBJECT_ID_SIZE]; /* "" unless HUNT_SAME_IMAGE */
	double value;
	double weight; /* > 0 when measured */
	int64_t trial; /* 0: none */
	char *reason;  /* why untestable; NULL otherwise */
};
/* Appends; the sequence number is the next one. ERROR_STATE when the hunt has an event of this
   trial already: one boot is one piece of evidence. */
int store_add_hunt_event(struct store *store, int64_t hunt, struct store_hunt_event *event,
			 struct error *err);
int store_get_hunt_events(struct store *store, int64_t hunt, struct store_hunt_event **ret_events,
			  size_t *ret_count, struct error *err);
void store_hunt_events_free(struct store_hunt_event *events, size_t count);

/* The mail queue: exactly one accepted delivery per recipient. */
enum mail_state { MAIL_QUEUED, MAIL_DELIVERED, MAIL_DEAD };
struct store_mail {
	int64_t id;
	char *message_id; /* unique: queueing the same one again changes nothing */
	int64_t hunt;     /* 0: none */
	char *subject;
	char *content; /* the whole message, CRLF */
	size_t content_length;
	int64_t created_seconds;
};
struct store_recipient {
	int64_t mail;
	char *address;
	enum mail_state state;
	int64_t attempts;
	int64_t next_try_seconds;
	int64_t code; /* last SMTP status, 0: none */
	char *text;   /* the server's words, one safe line */
};
/* Fills in mail->id. A recipient given twice is kept once. */
int store_queue_mail(struct store *store, struct store_mail *mail, const char *const *recipients,
		     size_t recipient_count, struct error *err);
int store_list_mails(struct store *store, size_t limit, struct store_mail **ret_mails,
		     size_t *ret_count, struct error *err);
int store_list_recipients(struct store *store, int64_t mail,
			  struct store_recipient **ret_recipients, size_t *ret_count,
			  struct error *err);
/* ERROR_STATE when this recipient has it already: delivered is final. */
int store_update_recipient(struct store *store, const struct store_recipient *recipient,
			   struct error *err);
void store_mail_free(struct store_mail *mail);
void store_mails_free(struct store_mail *mails, size_t count);
void store_recipients_free(struct store_recipient *recipients, size_t count);
const char *mail_state_name(enum mail_state state);

#endif
