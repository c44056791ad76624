/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/qemu.h"

#include <stdarg.h>
#include <string.h>

#include "bench/channel.h"
#include "bench/machine/trial_folder.h"
#include "bench/sealed_file.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

#define SUSPECT_ARGUMENTS "console=ttyS0 panic=1 oops=panic"
/* An emulated serial line carries far more; below it the guest counts as dead. */
#define SLOWEST_BYTES_PER_SECOND 10000.0

/* A trial under way. */
struct course {
	const struct qemu_machine *machine;
	const struct machine_trial *trial;
	struct qemu_guest guest;
	struct machine_outcome outcome;
	enum trial_phase phase; /* what the guest is doing now */
	double limit_seconds;   /* of the wait under way, for messages */
	double deadline;        /* monotonic */
	bool ended;
	bool at_home; /* the trusted kernel runs */
};

static void course_free(struct course *course)
{
	qemu_guest_stop(&course->guest);
	machine_outcome_free(&course->outcome);
}

static void set_limit(struct course *course, double seconds)
{
	course->limit_seconds = seconds;
	course->deadline = clock_monotonic_seconds() + seconds;
}

static void begin_phase(struct course *course, enum trial_phase phase)
{
	course->phase = phase;
	set_limit(course, (double)course->machine->boot_timeout_seconds);
}

__attribute__((format(printf, 3, 4))) static void end_course(struct course *course,
							     enum trial_cause cause,
							     const char *format, ...)
{
	char reason[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	course->outcome.phase = course->phase;
	course->outcome.cause = cause;
	/* Reasons quote the guest. */
	course->outcome.reason = text_one_line(reason, sizeof(reason));
	course->ended = true;
}

static void end_by_death(struct course *course)
{
	auto_free char *complaint = qemu_guest_complaint(&course->guest);
	end_course(course, CAUSE_EMULATOR_DIED, "QEMU ended by itself (%s)", complaint);
}

/* A dead emulator does not need to be told. */
static void tell_stay(struct course *course)
{
	course->at_home = true;
	qemu_guest_command(&course->guest, CHANNEL_COMMAND_STAY, NULL, NULL);
}

/* The trusted kernel reports although nobody has called it home. */
static void end_by_return(struct course *course)
{
	tell_stay(course);
	if (course->guest.panic_line)
		end_course(course, CAUSE_PANIC, "%s", course->guest.panic_line);
	else
		end_course(course, CAUSE_CAME_BACK,
			   "the trusted kernel came back, and the console shows no panic");
}

/* The next event of the guest; everything else ends the course. */
static int next_event(struct course *course, struct event *ret_event, struct error *err)
{
	enum guest_news news;
	double left = course->deadline - clock_monotonic_seconds();
	if (qemu_guest_wait(&course->guest, left, &news, ret_event, err) < 0)
		return -1;
	if (news == GUEST_PANIC)
		end_course(course, CAUSE_PANIC, "%s", course->guest.panic_line);
	else if (news == GUEST_SILENT)
		end_course(course, CAUSE_HANG, "%s: nothing heard for %.0f s",
			   trial_phase_name(course->phase), course->limit_seconds);
	else if (news == GUEST_DIED)
		end_by_death(course);
	else if (ret_event->kind == EVENT_TRUSTED && course->phase != PHASE_TRUSTED_BOOT)
		end_by_return(course);
	return 0;
}

static int await_trusted(struct course *course, struct error *err)
{
	begin_phase(course, PHASE_TRUSTED_BOOT);
	qemu_guest_watch_console(&course->guest);
	while (!course->ended && !course->outcome.trusted_boot_id) {
		auto_event struct event event = {0};
		if (next_event(course, &event, err) < 0)
			return -1;
		if (!course->ended && event.kind == EVENT_TRUSTED)
			course->outcome.trusted_boot_id = take(event.boot_id);
	}
	return 0;
}

static int jump(struct course *course, struct error *err)
{
	const char *added = course->machine->suspect_arguments;
	auto_free char *arguments =
		text_format(SUSPECT_ARGUMENTS "%s%s " AGENT_TOKEN_ARGUMENT "%s", *added ? " " : "",
			    added, course->trial->ticket->token);
	begin_phase(course, PHASE_JUMP);
	struct error fault;
	if (qemu_guest_command(&course->guest, CHANNEL_COMMAND_JUMP, arguments, &fault) < 0) {
		end_course(course, CAUSE_EMULATOR_DIED, "%s", fault.message);
		return 0;
	}
	while (!course->ended) {
		auto_event struct event event = {0};
		if (next_event(course, &event, err) < 0)
			return -1;
		if (course->ended || event.kind == EVENT_JUMPING)
			break;
		if (event.kind == EVENT_REFUSED) {
			course->at_home = true;
			end_course(course, CAUSE_REFUSED, "%s", event.reason);
		}
	}
	return 0;
}

/* What is wrong with the arrival, or NULL: boot id, token and release must all be right. */
static char *doubt(const struct course *course, const struct event *arrival)
{
	const struct ticket *ticket = course->trial->ticket;
	if (strcmp(arrival->token, ticket->token) != 0)
		return text_format("arrived with the token \"%s\" instead of \"%s\"",
				   arrival->token, ticket->token);
	if (strcmp(arrival->release, ticket->release) != 0)
		return text_format("arrived as release \"%s\" instead of \"%s\"", arrival->release,
				   ticket->release);
	if (strcmp(arrival->boot_id, course->outcome.trusted_boot_id) == 0)
		return text_copy("arrived with the boot id of the trusted kernel");
	return NULL;
}

static int take_arrival(struct course *course, struct event *arrival, struct error *err)
{
	course->outcome.suspect_boot_id = text_copy(arrival->boot_id);
	auto_free char *wrong = doubt(course, arrival);
	if (wrong) {
		end_course(course, CAUSE_WRONG_KERNEL, "%s", wrong);
		return 0;
	}
	return trial_folder_write_arrival(course->trial, &course->outcome, arrival->version, err);
}

static int await_arrival(struct course *course, struct error *err)
{
	begin_phase(course, PHASE_SUSPECT_BOOT);
	while (!course->ended && !course->outcome.suspect_boot_id) {
		auto_event struct event event = {0};
		if (next_event(course, &event, err) < 0)
			return -1;
		if (course->ended)
			break;
		if (event.kind == EVENT_ARRIVED && take_arrival(course, &event, err) < 0)
			return -1;
		if (event.kind == EVENT_REFUSED) {
			course->phase = PHASE_JUMP;
			course->at_home = true;
			end_course(course, CAUSE_REFUSED, "%s", event.reason);
		}
	}
	return 0;
}

/* The digest was right, so whatever is wrong in here the agent has written. */
static int check_seal(const struct course *course, const struct sealed_file *sealed,
		      struct error *err)
{
	const struct ticket *ticket = course->trial->ticket;
	if (strcmp(sealed->token, ticket->token) != 0 ||
	    strcmp(sealed->boot_id, course->outcome.suspect_boot_id) != 0)
		return error_set(err, ERROR_STATE,
				 "the sealed file belongs to another trial or boot");
	for (size_t i = 0; i < sealed->run_count; i++)
		if (sealed->runs[i].step >= ticket->plan.step_count)
			return error_set(err, ERROR_STATE, "the sealed file names step %zu of %zu",
					 sealed->runs[i].step, ticket->plan.step_count);
	return 0;
}

static int take_seal(struct course *course, const struct event *event, struct error *err)
{
	auto_sealed_file struct sealed_file sealed = {0};
	struct error fault;
	if (sealed_file_from_text(event->payload, event->length, &sealed, &fault) < 0 ||
	    check_seal(course, &sealed, &fault) < 0) {
		end_course(course, CAUSE_DAMAGED_SEAL, "%s", fault.message);
		return 0;
	}
	course->outcome.phase = PHASE_SEALED;
	course->outcome.cause = CAUSE_NONE;
	course->ended = true;
	return trial_folder_write_sealed(course->trial->folder, event->payload, event->length,
					 &course->outcome, err);
}

/* A live guest reports every run, so a dead one is noticed after one run's time. */
static void allow_run(struct course *course, const struct event *event, int64_t *runs_left)
{
	const struct plan *plan = &course->trial->ticket->plan;
	if (event->step < 0 || (size_t)event->step >= plan->step_count || (*runs_left)-- <= 0)
		return;
	set_limit(course, (double)(plan->steps[event->step].timeout_seconds +
				   course->machine->boot_timeout_seconds));
}

static int await_seal(struct course *course, struct error *err)
{
	const struct plan *plan = &course->trial->ticket->plan;
	int64_t runs_left = 0;
	for (size_t i = 0; i < plan->step_count; i++)
		runs_left += plan->steps[i].iterations + plan->steps[i].warmup;
	begin_phase(course, PHASE_BENCHMARK);
	while (!course->ended) {
		auto_event struct event event = {0};
		if (next_event(course, &event, err) < 0)
			return -1;
		if (course->ended)
			break;
		if (event.kind == EVENT_RUNNING)
			allow_run(course, &event, &runs_left);
		else if (event.kind == EVENT_SEALING)
			set_limit(course, (double)course->machine->boot_timeout_seconds +
						  (double)event.length / SLOWEST_BYTES_PER_SECOND);
		else if (event.kind == EVENT_SEAL_DAMAGED || event.kind == EVENT_REFUSED)
			end_course(course, CAUSE_DAMAGED_SEAL, "%s", event.reason);
		else if (event.kind == EVENT_SEALED && take_seal(course, &event, err) < 0)
			return -1;
	}
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* True when EVENT is the trusted kernel in a boot that this trial has not seen before. */
static bool is_home(const struct course *course, const struct event *event)
{
	return event->kind == EVENT_TRUSTED &&
	       !same_text(event->boot_id, course->outcome.trusted_boot_id) &&
	       !same_text(event->boot_id, course->outcome.suspect_boot_id);
}

/* Waits for home; what does not arrive is a warning, since the result is stored already. */
static int await_home(struct course *course, struct error *err)
{
	enum guest_news news = GUEST_EVENT;
	begin_phase(course, PHASE_TRUSTED_BOOT);
	qemu_guest_watch_console(&course->guest);
	while (news == GUEST_EVENT || news == GUEST_PANIC) {
		auto_event struct event event = {0};
		double left = course->deadline - clock_monotonic_seconds();
		if (qemu_guest_wait(&course->guest, left, &news, &event, err) < 0)
			return -1;
		if (news == GUEST_EVENT && is_home(course, &event)) {
			tell_stay(course);
			return 0;
		}
	}
	return 0;
}

static int go_home(struct course *course, struct error *err)
{
	struct error fault = {0};
	if (course->at_home || course->outcome.phase == PHASE_TRUSTED_BOOT ||
	    course->outcome.cause == CAUSE_EMULATOR_DIED)
		return 0;
	if (qemu_guest_reset(&course->guest, &fault) < 0 || await_home(course, &fault) < 0) {
		if (fault.kind == ERROR_INTERRUPTED) {
			*err = fault;
			return -1;
		}
	}
	if (course->at_home)
		return 0;
	auto_free char *before = take(course->outcome.reason);
	course->outcome.reason =
		text_format("%s%sthe trusted kernel was not seen again%s%s", before ? before : "",
			    before ? "; then " : "", *fault.message ? ": " : "", fault.message);
	log_notice("warning: %s", course->outcome.reason);
	return 0;
}

static int start_guest(struct course *course, const char *folder, struct error *err)
{
	auto_free char *parts = text_format("%s/" TRIAL_PARTS_NAME, folder);
	auto_free char *initrd = text_format("%s/trial.initrd", parts);
	if (qemu_write_trial_initrd(course->machine, course->trial, parts, initrd, err) < 0)
		return -1;
	struct qemu_guest_setup setup = qemu_guest_setup(course->machine, folder, initrd);
	if (qemu_guest_start(&setup, &course->guest, err) < 0)
		return -1;
	course->outcome.console_path = text_format("%s/" TRIAL_CONSOLE_NAME, folder);
	return 0;
}

static int run_course(struct course *course, struct error *err)
{
	static const struct {
		int (*run)(struct course *course, struct error *err);
		const char *name;
	} stages[] = {
		{await_trusted, "trusted kernel up"},
		{jump, "suspect image loaded"},
		{await_arrival, "suspect kernel up"},
		{await_seal, "plan run and sealed"},
	};
	for (size_t i = 0; i < array_length(stages) && !course->ended; i++) {
		double start = clock_monotonic_seconds();
		if (stages[i].run(course, err) < 0)
			return -1;
		log_debug("%s: %.2f s", stages[i].name, clock_monotonic_seconds() - start);
	}
	double start = clock_monotonic_seconds();
	if (go_home(course, err) < 0)
		return -1;
	log_debug("trusted kernel home: %.2f s", clock_monotonic_seconds() - start);
	return 0;
}

int qemu_run_trial(void *state, const struct machine_trial *trial,
		   struct machine_outcome *ret_outcome, struct error *err)
{
	double start = clock_monotonic_seconds();
	auto_cleanup(course_free) struct course course = {
		.machine = state, .trial = trial, .guest = QEMU_GUEST_NONE};
	if (trial_folder_prepare(trial->folder, err) < 0)
		return -1;
	auto_free char *folder = realpath(trial->folder, NULL);
	if (!folder)
		return error_errno(err, ERROR_SYSTEM, "cannot find the folder %s", trial->folder);
	auto_free char *parts = text_format("%s/" TRIAL_PARTS_NAME, folder);
	int result = start_guest(&course, folder, err);
	log_debug("guest started: %.2f s", clock_monotonic_seconds() - start);
	if (result == 0)
		result = run_course(&course, err);
	qemu_guest_stop(&course.guest);
	file_remove_tree(parts, NULL);
	if (result < 0)
		return -1;
	course.outcome.seconds = clock_monotonic_seconds() - start;
	*ret_outcome = course.outcome;
	course.outcome = (struct machine_outcome){0};
	return 0;
}
