/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "bench/agent/agent.h"
#include "bench/channel.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/json.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

/* Raw output kept of a whole trial: written as JSON a byte may take six, and the file has a limit.
 */
#define TOTAL_STREAM_BYTES (SEALED_FILE_LIMIT_BYTES / 8)

struct budget {
	size_t bytes_left;
};

/* Takes the stream over; what no longer fits into the trial's budget is cut and marked. */
static char *keep_stream(char **stream, size_t length, struct budget *budget, bool *truncated)
{
	char *text = take(*stream);
	if (length > budget->bytes_left) {
		length = budget->bytes_left;
		*truncated = true;
	}
	budget->bytes_left -= length;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[length] = '\0';
	return text;
}

static int run_once(const struct plan_step *step, struct budget *budget, struct run_result *run,
		    struct error *err)
{
	struct process_command command = {
		.argv = (const char *const *)step->argv,
		.folder = "/tmp",
		.capture_limit_bytes = SEALED_STREAM_LIMIT_BYTES,
		.timeout_seconds = (double)step->timeout_seconds,
	};
	auto_process_result struct process_result result = {0};
	int status = process_run(&command, &result, err);
	guest_sweep();
	if (status < 0)
		return -1;
	run->exit_code = result.exit_code;
	run->signal_number = result.signal_number;
	run->timed_out = result.timed_out;
	run->truncated = result.stdout_truncated || result.stderr_truncated;
	run->wall_seconds = result.wall_seconds;
	run->stdout_text =
		keep_stream(&result.stdout_bytes, result.stdout_length, budget, &run->truncated);
	run->stderr_text =
		keep_stream(&result.stderr_bytes, result.stderr_length, budget, &run->truncated);
	return 0;
}

static int report_run(int channel, size_t step, int64_t iteration, struct error *err)
{
	return channel_send(channel,
			    json_pack("{s:s, s:I, s:I}", "event", CHANNEL_EVENT_RUNNING, "step",
				      (json_int_t)step, "iteration", (json_int_t)iteration),
			    err);
}

static int run_step(const struct plan *plan, size_t index, int channel, struct budget *budget,
		    struct sealed_file *sealed, struct error *err)
{
	const struct plan_step *step = &plan->steps[index];
	for (int64_t i = -step->warmup; i < step->iterations; i++) {
		struct run_result run = {.step = index};
		/* Warm-up runs count down from -1, whatever their number. */
		run.iteration = i < 0 ? -(i + step->warmup + 1) : i;
		if (report_run(channel, index, run.iteration, err) < 0 ||
		    run_once(step, budget, &run, err) < 0)
			return error_prefix(err, "%s, %s", step->benchmark, step->cell);
		sealed->runs =
			memory_resize(sealed->runs, sealed->run_count + 1, sizeof(*sealed->runs));
		sealed->runs[sealed->run_count++] = run;
	}
	return 0;
}

/* A benchmark whose program changed measures something else. */
static void note_program(const char *program, json_t *environment)
{
	struct digest digest;
	auto_free char *path = NULL;
	auto_free char *fact = text_format(AGENT_PROGRAM_FACT "%s", program);
	if (process_find_program(program, "", &path, NULL) == 0 &&
	    digest_file(path, &digest, NULL) == 0)
		json_object_set_new(environment, fact, json_string(digest.hex));
}

void runner_run(const struct plan *plan, int channel, struct sealed_file *sealed)
{
	struct budget budget = {TOTAL_STREAM_BYTES};
	struct error fault = {0};
	for (size_t i = 0; i < plan->step_count; i++) {
		note_program(plan->steps[i].argv[0], sealed->environment);
		if (run_step(plan, i, channel, &budget, sealed, &fault) == 0)
			continue;
		sealed->fault = text_copy(fault.message);
		return;
	}
}
