/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/qemu_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "bench/channel.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/json.h"
#include "sentinel/base/text.h"

#define MONITOR_TIMEOUT_SECONDS 20.0
#define CONSOLE_LINE_LIMIT_BYTES 1024
#define POLL_MILLISECONDS 100
/* How long a panicking kernel may go on printing its stack before the news is passed on. */
#define PANIC_SETTLE_SECONDS 1.0

/* argv and the texts in it. */
struct command_line {
	const char *argv[64];
	size_t argc;
	char *owned[8];
	size_t owned_count;
};

static void command_line_free(struct command_line *line)
{
	for (size_t i = 0; i < line->owned_count; i++)
		free(line->owned[i]);
}

static void add_pair(struct command_line *line, const char *option, const char *value)
{
	line->argv[line->argc++] = option;
	line->argv[line->argc++] = value;
}

static void add_owned(struct command_line *line, const char *option, char *value)
{
	line->owned[line->owned_count++] = value;
	add_pair(line, option, value);
}

static void add_acceleration(struct command_line *line, const struct qemu_guest_setup *setup)
{
	if (setup->kvm) {
		add_pair(line, "-accel", "kvm");
		add_pair(line, "-cpu", "host");
		return;
	}
	/*
	 * One vCPU in one thread whose clock counts instructions; idle time is skipped. The small
	 * translation buffer is emptied often: translations left by the kernel before make every
	 * write to their pages slow, and the next kernel is unpacked into them.
	 */
	add_pair(line, "-accel", "tcg,thread=single,tb-size=32");
	add_pair(line, "-cpu", QEMU_GUEST_TCG_CPU);
	add_owned(line, "-icount",
		  text_format("shift=%lld,sleep=off", (long long)setup->icount_shift));
}

static void build_command_line(const struct qemu_guest_setup *setup, int channel, int monitor,
			       struct command_line *line)
{
	line->argv[line->argc++] = setup->emulator;
	add_pair(line, "-machine", "pc");
	add_acceleration(line, setup);
	add_pair(line, "-smp", "1");
	add_owned(line, "-m", text_format("%lld", (long long)setup->memory_mib));
	line->argv[line->argc++] = "-nodefaults";
	line->argv[line->argc++] = "-no-user-config";
	add_pair(line, "-display", "none");
	/* A kernel that switches the machine off must not look like a dead emulator. */
	add_pair(line, "-action", "shutdown=pause");
	/* Relative to the working directory, so that no comma of a path reaches QEMU's parser. */
	add_pair(line, "-chardev", "file,id=console,path=" QEMU_GUEST_CONSOLE_NAME);
	add_pair(line, "-serial", "chardev:console");
	add_owned(line, "-chardev", text_format("socket,id=channel,fd=%d", channel));
	add_pair(line, "-serial", "chardev:channel");
	add_owned(line, "-chardev", text_format("socket,id=monitor,fd=%d", monitor));
	add_pair(line, "-mon", "chardev=monitor,mode=control");
	add_pair(line, "-kernel", setup->kernel);
	add_pair(line, "-initrd", setup->initrd);
	add_pair(line, "-append", setup->arguments);
}

/* Ours is closed on exec; the emulator's end is closed by the caller after the start. */
static int make_socket_pair(int *ret_ours, int *ret_theirs, struct error *err)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot make a socket pair");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	*ret_ours = ends[0];
	*ret_theirs = ends[1];
	return 0;
}

static int start_process(const struct qemu_guest_setup *setup, int channel, int monitor,
			 struct qemu_guest *guest, struct error *err)
{
	__attribute__((cleanup(command_line_free))) struct command_line line = {0};
	build_command_line(setup, channel, monitor, &line);
	struct process_command command = {.argv = line.argv,
					  .folder = setup->folder,
					  .stdout_path = guest->log_path,
					  .stderr_path = guest->log_path};
	return process_start(&command, &guest->process, err);
}

int qemu_guest_start(const struct qemu_guest_setup *setup, struct qemu_guest *ret_guest,
		     struct error *err)
{
	auto_qemu_guest struct qemu_guest guest = QEMU_GUEST_NONE;
	auto_free char *console_path = text_format("%s/" QEMU_GUEST_CONSOLE_NAME, setup->folder);
	auto_close int monitor = -1;
	auto_close int their_channel = -1;
	auto_close int their_monitor = -1;
	guest.log_path = text_format("%s/" QEMU_GUEST_LOG_NAME, setup->folder);
	unlink(guest.log_path);
	guest.console = open(console_path, O_RDONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (guest.console < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot create %s", console_path);
	if (make_socket_pair(&guest.channel, &their_channel, err) < 0 ||
	    make_socket_pair(&monitor, &their_monitor, err) < 0 ||
	    start_process(setup, their_channel, their_monitor, &guest, err) < 0)
		return -1;
	close(their_channel);
	close(their_monitor);
	their_channel = their_monitor = -1;
	if (qmp_open(monitor, MONITOR_TIMEOUT_SECONDS, &guest.monitor, err) < 0) {
		auto_free char *complaint = qemu_guest_complaint(&guest);
		return error_prefix(err, "%s did not start (%s)", setup->emulator, complaint);
	}
	monitor = -1;
	*ret_guest = guest;
	guest = QEMU_GUEST_NONE;
	return 0;
}

static void look_at_console_line(struct qemu_guest *guest)
{
	static const char *const beginnings[] = {"Kernel panic - not syncing", "Oops: ", "Oops - "};
	static const char *const ends[] = {"---[ end Kernel panic", "Rebooting in "};
	const char *line = guest->console_line.data;
	for (size_t i = 0; i < array_length(ends); i++)
		if (guest->panic_line && strstr(line, ends[i]))
			guest->panic_over = true;
	for (size_t i = 0; i < array_length(beginnings); i++) {
		const char *found = strstr(line, beginnings[i]);
		/* The panic that ends an oops says less than the oops. */
		if (!found || guest->panic_line)
			continue;
		guest->panic_line = text_one_line(found, 200);
		guest->panic_seconds = clock_monotonic_seconds();
	}
}

static void take_console_byte(struct qemu_guest *guest, char byte)
{
	if (byte == '\n' && guest->console_line.length) {
		look_at_console_line(guest);
		text_free(&guest->console_line);
	} else if (!strchr("\r\n", byte) && guest->console_line.length < CONSOLE_LINE_LIMIT_BYTES) {
		text_append_bytes(&guest->console_line, &byte, 1);
	}
}

static void read_console(struct qemu_guest *guest)
{
	char buffer[16384];
	ssize_t got;
	while (guest->watching && (got = read(guest->console, buffer, sizeof(buffer))) > 0)
		for (ssize_t i = 0; i < got; i++)
			take_console_byte(guest, buffer[i]);
}

void qemu_guest_watch_console(struct qemu_guest *guest)
{
	lseek(guest->console, 0, SEEK_END);
	guest->watching = true;
}

static bool panic_is_news(struct qemu_guest *guest)
{
	read_console(guest);
	if (!guest->panic_line || guest->panic_reported)
		return false;
	guest->panic_reported =
		guest->panic_over ||
		clock_monotonic_seconds() - guest->panic_seconds > PANIC_SETTLE_SECONDS;
	return guest->panic_reported;
}

/* Waits a moment for bytes. False when the emulator has closed the channel. */
static bool read_channel(struct qemu_guest *guest, int milliseconds)
{
	struct pollfd polled = {guest->channel, POLLIN, 0};
	char buffer[65536];
	if (poll(&polled, 1, milliseconds) <= 0)
		return true;
	ssize_t got = recv(guest->channel, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (got > 0)
		event_stream_feed(&guest->events, buffer, (size_t)got);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

int qemu_guest_wait(struct qemu_guest *guest, double timeout_seconds, enum guest_news *ret_news,
		    struct event *ret_event, struct error *err)
{
	double deadline = clock_monotonic_seconds() + timeout_seconds;
	*ret_event = (struct event){0};
	for (;;) {
		if (interrupt_check(err) < 0)
			return -1;
		if (event_stream_next(&guest->events, ret_event)) {
			*ret_news = GUEST_EVENT;
			return 0;
		}
		double left = deadline - clock_monotonic_seconds();
		if (panic_is_news(guest)) {
			*ret_news = GUEST_PANIC;
			return 0;
		}
		if (left <= 0) {
			*ret_news = GUEST_SILENT;
			return 0;
		}
		if (!read_channel(guest, left < 0.1 ? 10 : POLL_MILLISECONDS)) {
			*ret_news = GUEST_DIED;
			return 0;
		}
	}
}

int qemu_guest_command(struct qemu_guest *guest, const char *command, const char *arguments,
		       struct error *err)
{
	auto_json json_t *object = json_pack("{s:s}", "command", command);
	if (arguments)
		json_object_set_new(object, "arguments",
				    json_foreign(arguments, strlen(arguments)));
	auto_free char *json = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	auto_free char *line = text_format("%s\n", json);
	size_t length = strlen(line);
	if (length > CHANNEL_LINE_LIMIT_BYTES)
		return error_set(err, ERROR_USAGE,
				 "the suspect kernel's command line is longer than %d bytes",
				 CHANNEL_LINE_LIMIT_BYTES);
	if (send(guest->channel, line, length, MSG_NOSIGNAL) != (ssize_t)length)
		return error_errno(err, ERROR_SYSTEM, "cannot send \"%s\" to the agent", command);
	return 0;
}

int qemu_guest_reset(struct qemu_guest *guest, struct error *err)
{
	if (qmp_execute(&guest->monitor, "system_reset", MONITOR_TIMEOUT_SECONDS, err) < 0 ||
	    qmp_execute(&guest->monitor, "cont", MONITOR_TIMEOUT_SECONDS, err) < 0)
		return -1;
	struct pollfd polled = {guest->channel, POLLIN, 0};
	while (poll(&polled, 1, 0) > 0 && read_channel(guest, 0))
		;
	event_stream_restart(&guest->events);
	return 0;
}

char *qemu_guest_complaint(const struct qemu_guest *guest)
{
	auto_free char *said = NULL;
	if (file_read(guest->log_path, 65536, &said, NULL, NULL) < 0 || !*said)
		return text_copy("it said nothing");
	return text_one_line(said, 300);
}

void qemu_guest_stop(struct qemu_guest *guest)
{
	if (guest->process.pid && guest->monitor.fd >= 0 &&
	    qmp_execute(&guest->monitor, "quit", 2.0, NULL) == 0)
		for (int i = 0; i < 100 && !process_has_ended(&guest->process, NULL); i++)
			poll(NULL, 0, 10);
	process_stop(&guest->process);
	qmp_close(&guest->monitor);
	cleanup_close(&guest->channel);
	cleanup_close(&guest->console);
	guest->channel = guest->console = -1;
	event_stream_free(&guest->events);
	text_free(&guest->console_line);
	free(guest->panic_line);
	free(guest->log_path);
	guest->panic_line = guest->log_path = NULL;
}
