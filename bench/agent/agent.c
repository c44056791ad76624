/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/agent/agent.h"

#include <signal.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench/channel.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

#define TICKET_LIMIT_BYTES ((size_t)16 << 20)

/* Who we are in this boot. */
struct boot {
	char *boot_id;
	char *command_line;
	struct utsname kernel;
	char token[TOKEN_SIZE]; /* empty on the trusted kernel */
};

/* Process 1 must never end: the kernel would panic and be blamed for it. */
static _Noreturn void rest(void)
{
	for (;;)
		pause();
}

static _Noreturn void refuse(int channel, const struct error *fault)
{
	printf("sentinel-agent: %s\n", fault->message);
	if (channel >= 0)
		channel_send(channel,
			     json_pack("{s:s, s:o}", "event", CHANNEL_EVENT_REFUSED, "reason",
				       json_foreign(fault->message, strlen(fault->message))),
			     NULL);
	rest();
}

static void read_token(struct boot *boot)
{
	const char *found = strstr(boot->command_line, AGENT_TOKEN_ARGUMENT);
	if (found)
		snprintf(boot->token, sizeof(boot->token), "%s",
			 found + strlen(AGENT_TOKEN_ARGUMENT));
	boot->token[strcspn(boot->token, " ")] = '\0';
}

static void read_boot(struct boot *boot)
{
	boot->boot_id = environment_read_line("/proc/sys/kernel/random/boot_id");
	boot->command_line = environment_read_line("/proc/cmdline");
	if (!boot->boot_id)
		boot->boot_id = text_copy("");
	if (!boot->command_line)
		boot->command_line = text_copy("");
	uname(&boot->kernel);
	read_token(boot);
}

static _Noreturn void serve_trusted(int channel, const struct boot *boot)
{
	struct error fault = {0};
	auto_json json_t *order = NULL;
	const char *arguments = "";
	printf("sentinel-agent: trusted kernel %s boot %s\n", boot->kernel.release, boot->boot_id);
	if (channel_send(channel,
			 json_pack("{s:s, s:s, s:s}", "event", CHANNEL_EVENT_TRUSTED, "boot_id",
				   boot->boot_id, "release", boot->kernel.release),
			 &fault) < 0 ||
	    channel_receive(channel, &order, &fault) < 0)
		refuse(channel, &fault);
	if (strcmp(json_string_value(json_object_get(order, "command")), CHANNEL_COMMAND_JUMP) != 0)
		rest();
	if (json_get_string(order, "arguments", "order", &arguments, &fault) < 0 ||
	    jump_load(arguments, &fault) < 0)
		refuse(channel, &fault);
	const char *token = strstr(arguments, AGENT_TOKEN_ARGUMENT);
	printf("sentinel-agent: jumping with token %s\n",
	       token ? token + strlen(AGENT_TOKEN_ARGUMENT) : "?");
	channel_send(channel, json_pack("{s:s}", "event", CHANNEL_EVENT_JUMPING), NULL);
	jump_execute(&fault);
	refuse(channel, &fault);
}

static int read_ticket(struct ticket *ret_ticket, struct error *err)
{
	auto_free char *bytes = NULL;
	size_t length;
	if (file_read(AGENT_TICKET_PATH, TICKET_LIMIT_BYTES, &bytes, &length, err) < 0)
		return -1;
	return ticket_from_text(bytes, length, AGENT_TICKET_PATH, ret_ticket, err);
}

static int send_sealed(int channel, const struct sealed_file *sealed, struct error *err)
{
	auto_free char *text = sealed_file_to_text(sealed);
	struct digest digest;
	if (!text)
		return error_set(err, ERROR_SYSTEM, "cannot write the sealed file as JSON");
	size_t length = strlen(text);
	digest_bytes(text, length, &digest);
	if (channel_send(channel,
			 json_pack("{s:s, s:I, s:s}", "event", CHANNEL_EVENT_SEALED, "length",
				   (json_int_t)length, "sha256", digest.hex),
			 err) < 0 ||
	    channel_send_bytes(channel, text, length, err) < 0)
		return -1;
	return channel_send_bytes(channel, "\n", 1, err);
}

static void fill_sealed(const struct boot *boot, int channel, struct sealed_file *sealed)
{
	auto_ticket struct ticket ticket = {0};
	struct error fault = {0};
	memcpy(sealed->token, boot->token, TOKEN_SIZE);
	sealed->boot_id = text_copy(boot->boot_id);
	sealed->release = text_copy(boot->kernel.release);
	sealed->version = text_copy(boot->kernel.version);
	sealed->command_line = text_copy(boot->command_line);
	sealed->environment = environment_read();
	if (read_ticket(&ticket, &fault) < 0)
		sealed->fault = text_copy(fault.message);
	else if (strcmp(ticket.token, boot->token) != 0)
		sealed->fault = text_copy("the ticket belongs to another trial");
	else
		runner_run(&ticket.plan, channel, sealed);
	sealed->environment_after = environment_read();
}

static _Noreturn void serve_suspect(int channel, const struct boot *boot)
{
	struct error fault = {0};
	printf("sentinel-agent: suspect kernel %s token %s boot %s\n", boot->kernel.release,
	       boot->token, boot->boot_id);
	guest_load_modules();
	if (channel_send(channel,
			 json_pack("{s:s, s:s, s:s, s:s, s:s}", "event", CHANNEL_EVENT_ARRIVED,
				   "boot_id", boot->boot_id, "release", boot->kernel.release,
				   "version", boot->kernel.version, "token", boot->token),
			 &fault) < 0)
		refuse(channel, &fault);
	auto_sealed_file struct sealed_file sealed = {0};
	fill_sealed(boot, channel, &sealed);
	if (send_sealed(channel, &sealed, &fault) < 0)
		refuse(channel, &fault);
	printf("sentinel-agent: sealed %zu runs\n", sealed.run_count);
	rest();
}

int main(void)
{
	struct error fault = {0};
	struct boot boot = {0};
	int channel = -1;
	if (getpid() != 1) {
		fputs("sentinel-agent: this is the first process of a machine under test; "
		      "it does nothing elsewhere\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	guest_prepare();
	read_boot(&boot);
	if (channel_open(&channel, &fault) < 0)
		refuse(channel, &fault);
	if (*boot.token)
		serve_suspect(channel, &boot);
	serve_trusted(channel, &boot);
}
