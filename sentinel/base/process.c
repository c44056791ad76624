/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

extern char **environ;

#define PROGRESS_PERIOD_SECONDS 10.0

/* One captured stream while the child runs. */
struct capture {
	int fd; /* -1 when closed */
	struct text kept;
	size_t limit;
	bool truncated;
};

/* Everything the child needs is prepared before fork: it may only call async-safe functions. */
struct child_plan {
	const struct process_command *command;
	char **environment;
	int input;
	int output;
	int error_output;
	int failure; /* write end of the pipe that reports why exec failed */
	pid_t parent;
};

static _Noreturn void fail_child(const struct child_plan *plan)
{
	int number = errno;
	if (write(plan->failure, &number, sizeof(number)) < 0)
		_exit(126);
	_exit(127);
}

static _Noreturn void run_child(const struct child_plan *plan)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != plan->parent)
		_exit(127);
	struct sigaction ordinary = {.sa_handler = SIG_DFL};
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &ordinary, NULL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(plan->input, 0) < 0 || dup2(plan->output, 1) < 0 ||
	    dup2(plan->error_output, 2) < 0)
		fail_child(plan);
	if (plan->command->folder && chdir(plan->command->folder) < 0)
		fail_child(plan);
	if (plan->command->low_priority)
		setpriority(PRIO_PROCESS, 0, 10);
	environ = plan->environment;
	execvp(plan->command->argv[0], (char *const *)(uintptr_t)plan->command->argv);
	fail_child(plan);
}

static bool same_name(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");
	return strncmp(a, b, length + 1) == 0;
}

static void environment_set(char **environment, size_t *count, const char *setting)
{
	for (size_t i = 0; i < *count; i++)
		if (same_name(environment[i], setting)) {
			environment[i] = (char *)(uintptr_t)setting;
			return;
		}
	environment[(*count)++] = (char *)(uintptr_t)setting;
}

static char **environment_build(const char *const *added)
{
	size_t ours = 0;
	size_t more = 0;
	while (environ[ours])
		ours++;
	while (added && added[more])
		more++;
	char **environment = memory_array(ours + more + 2, sizeof(*environment));
	size_t count = ours;
	memcpy(environment, environ, ours * sizeof(*environment));
	environment_set(environment, &count, "LC_ALL=C");
	for (size_t i = 0; i < more; i++)
		environment_set(environment, &count, added[i]);
	return environment;
}

static int open_output(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	return fd;
}

static int start_failure(const char *program, int number, struct error *err)
{
	errno = number;
	if (number == ENOENT)
		return error_set(
			err, ERROR_SYSTEM,
			"program %s not found; \"sentinel doctor\" says which package has it",
			program);
	return error_errno(err, ERROR_SYSTEM, "cannot run %s", program);
}

static void tell(const struct process_command *command)
{
	auto_text struct text line = {0};
	for (const char *const *word = command->argv; *word; word++)
		text_printf(&line, " %s", *word);
	log_debug("run%s", line.data);
}

static int spawn(const struct process_command *command, int output, int error_output,
		 pid_t *ret_pid, struct error *err)
{
	tell(command);
	int failure[2];
	if (pipe2(failure, O_CLOEXEC) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot make a pipe");
	auto_close int failure_read = failure[0];
	auto_close int failure_write = failure[1];
	auto_close int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	auto_free char **environment = environment_build(command->environment);
	struct child_plan plan = {command,      environment,   input,   output,
				  error_output, failure_write, getpid()};
	pid_t pid = fork();
	if (pid < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot fork for %s", command->argv[0]);
	if (pid == 0)
		run_child(&plan);
	setpgid(pid, pid);
	close(failure_write);
	failure_write = -1;
	int number = 0;
	if (read(failure_read, &number, sizeof(number)) == (ssize_t)sizeof(number)) {
		waitpid(pid, NULL, 0);
		return start_failure(command->argv[0], number, err);
	}
	*ret_pid = pid;
	return 0;
}

static void record_status(int status, struct process_result *result)
{
	result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	result->signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* By group only: once the child is reaped its number may belong to a stranger. */
static void kill_group(pid_t pid)
{
	kill(-pid, SIGKILL);
}

static void capture_read(struct capture *capture)
{
	char buffer[16384];
	ssize_t got = read(capture->fd, buffer, sizeof(buffer));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		close(capture->fd);
		capture->fd = -1;
		return;
	}
	size_t room = capture->limit - capture->kept.length;
	size_t keep = (size_t)got < room ? (size_t)got : room;
	text_append_bytes(&capture->kept, buffer, keep);
	capture->truncated |= keep < (size_t)got;
}

static void wait_for_output(struct capture captures[2], int milliseconds)
{
	struct pollfd polled[2] = {{captures[0].fd, POLLIN, 0}, {captures[1].fd, POLLIN, 0}};
	if (poll(polled, 2, milliseconds) <= 0)
		return;
	for (int i = 0; i < 2; i++)
		if (polled[i].revents)
			capture_read(&captures[i]);
}

/* Reads what is still in the pipes; a surviving grandchild may hold them open, so never blocks. */
static void drain(struct capture captures[2])
{
	for (int i = 0; i < 2; i++) {
		struct pollfd polled = {captures[i].fd, POLLIN, 0};
		while (captures[i].fd >= 0 && poll(&polled, 1, 0) > 0)
			capture_read(&captures[i]);
	}
}

static void supervise(pid_t pid, const struct process_command *command, struct capture captures[2],
		      struct process_result *result)
{
	double start = clock_monotonic_seconds();
	double next_notice = start + PROGRESS_PERIOD_SECONDS;
	int status = 0;
	int pause_milliseconds = 1;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		double now = clock_monotonic_seconds();
		if (command->timeout_seconds > 0 && now - start > command->timeout_seconds)
			result->timed_out = true;
		if (result->timed_out || interrupt_requested()) {
			kill_group(pid);
			waitpid(pid, &status, 0);
			break;
		}
		if (command->progress && now >= next_notice) {
			log_notice("%s: %.0f s", command->progress, now - start);
			next_notice += PROGRESS_PERIOD_SECONDS;
		}
		wait_for_output(captures, pause_milliseconds);
		if (pause_milliseconds < 50)
			pause_milliseconds *= 2;
	}
	kill_group(pid); /* what it left behind in its group */
	drain(captures);
	record_status(status, result);
	result->wall_seconds = clock_monotonic_seconds() - start;
}

/* Where one stream goes: a file, a pipe to us, or nowhere. *ret_read is -1 without a pipe. */
static int stream_open(const char *path, size_t limit, int *ret_write, int *ret_read,
		       struct error *err)
{
	*ret_read = -1;
	if (path || !limit) {
		*ret_write = open_output(path ? path : "/dev/null", err);
		return *ret_write < 0 ? -1 : 0;
	}
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot make a pipe");
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

int process_run(const struct process_command *command, struct process_result *ret_result,
		struct error *err)
{
	auto_close int output = -1;
	auto_close int error_output = -1;
	struct capture captures[2] = {{.fd = -1}, {.fd = -1}};
	size_t limit = command->capture_limit_bytes;
	captures[0].limit = captures[1].limit = limit;
	pid_t pid;
	if (stream_open(command->stdout_path, limit, &output, &captures[0].fd, err) < 0 ||
	    stream_open(command->stderr_path, limit, &error_output, &captures[1].fd, err) < 0 ||
	    spawn(command, output, error_output, &pid, err) < 0) {
		cleanup_close(&captures[0].fd);
		cleanup_close(&captures[1].fd);
		return -1;
	}
	close(output);
	close(error_output);
	output = error_output = -1;

	struct process_result result = {0};
	supervise(pid, command, captures, &result);
	result.stdout_length = captures[0].kept.length;
	result.stdout_truncated = captures[0].truncated;
	result.stdout_bytes = command->stdout_path ? NULL : text_take(&captures[0].kept);
	result.stderr_length = captures[1].kept.length;
	result.stderr_truncated = captures[1].truncated;
	result.stderr_bytes = command->stderr_path ? NULL : text_take(&captures[1].kept);
	cleanup_close(&captures[0].fd);
	cleanup_close(&captures[1].fd);
	if (interrupt_check(err) < 0) {
		process_result_free(&result);
		return -1;
	}
	*ret_result = result;
	return 0;
}

void process_result_free(struct process_result *result)
{
	free(result->stdout_bytes);
	free(result->stderr_bytes);
	result->stdout_bytes = result->stderr_bytes = NULL;
}

bool process_succeeded(const struct process_result *result)
{
	return result->exit_code == 0 && !result->timed_out;
}

const char *process_describe(const struct process_result *result, double timeout_seconds,
			     char buffer[static 64])
{
	if (result->timed_out)
		snprintf(buffer, 64, "no end within %.0f s", timeout_seconds);
	else if (result->signal_number)
		snprintf(buffer, 64, "signal %d", result->signal_number);
	else
		snprintf(buffer, 64, "exit code %d", result->exit_code);
	return buffer;
}

int process_find_program(const char *name, const char *package, char **ret_path, struct error *err)
{
	if (strchr(name, '/') && access(name, X_OK) == 0) {
		*ret_path = text_copy(name);
		return 0;
	}
	/* Administration tools are wanted even when an ordinary user's PATH lacks their folders. */
	auto_free char *folders = text_format("%s:/usr/local/sbin:/usr/sbin:/sbin",
					      getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char *position = NULL;
	for (char *folder = strtok_r(folders, ":", &position); folder && !strchr(name, '/');
	     folder = strtok_r(NULL, ":", &position)) {
		auto_free char *path = text_format("%s/%s", folder, name);
		if (access(path, X_OK) == 0) {
			*ret_path = take(path);
			return 0;
		}
	}
	return error_set(err, ERROR_SYSTEM, "program %s not found; install the package %s", name,
			 package);
}

int process_start(const struct process_command *command, struct process *ret_process,
		  struct error *err)
{
	auto_close int output =
		open_output(command->stdout_path ? command->stdout_path : "/dev/null", err);
	if (output < 0)
		return -1;
	auto_close int error_output =
		open_output(command->stderr_path ? command->stderr_path : "/dev/null", err);
	if (error_output < 0)
		return -1;
	return spawn(command, output, error_output, &ret_process->pid, err);
}

bool process_has_ended(struct process *process, struct process_result *ret_result)
{
	int status = 0;
	if (!process->pid)
		return true;
	if (waitpid(process->pid, &status, WNOHANG) == 0)
		return false;
	kill_group(process->pid);
	process->pid = 0;
	if (ret_result) {
		*ret_result = (struct process_result){0};
		record_status(status, ret_result);
	}
	return true;
}

void process_stop(struct process *process)
{
	if (!process->pid)
		return;
	kill_group(process->pid);
	waitpid(process->pid, NULL, 0);
	process->pid = 0;
}
