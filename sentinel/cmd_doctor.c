/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/mail.h"

#define WANTED_FREE_BYTES ((int64_t)4 << 30)

/* What doctor has found so far. */
struct checkup {
	struct context *context;
	json_t *findings;
	bool missing;
};

enum finding { FINDING_OK, FINDING_OPTIONAL, FINDING_MISSING };

static void tell(struct checkup *checkup, enum finding finding, const char *what,
		 const char *detail)
{
	static const char *const words[] = {"ok", "optional", "MISSING"};
	checkup->missing |= finding == FINDING_MISSING;
	if (checkup->context->json)
		json_array_append_new(checkup->findings,
				      json_pack("{s:s, s:s, s:s}", "check", what, "state",
						words[finding], "detail", detail));
	else
		printf("%-8s  %-22s  %s\n", words[finding], what, detail);
}

static const struct {
	const char *program;
	const char *package;
	enum finding when_missing;
} programs[] = {
	{"make", "make", FINDING_MISSING},
	{"gcc", "gcc", FINDING_MISSING},
	{"ld", "binutils", FINDING_MISSING},
	{"flex", "flex", FINDING_MISSING},
	{"bison", "bison", FINDING_MISSING},
	{"bc", "bc", FINDING_MISSING},
	{"depmod", "kmod", FINDING_MISSING},
	{"qemu-system-x86_64", "qemu-system-x86", FINDING_MISSING},
	{"ccache", "ccache", FINDING_OPTIONAL},
	{"git", "git", FINDING_OPTIONAL},
};

static void check_programs(struct checkup *checkup)
{
	for (size_t i = 0; i < array_length(programs); i++) {
		auto_free char *path = NULL;
		struct error err = {0};
		bool found = process_find_program(programs[i].program, programs[i].package, &path,
						  &err) == 0;
		tell(checkup, found ? FINDING_OK : programs[i].when_missing, programs[i].program,
		     found ? path : err.message);
	}
}

static void check_benchmarks(struct checkup *checkup)
{
	const struct context *context = checkup->context;
	for (size_t i = 0; i < context->benchmark_count; i++) {
		const struct policy_benchmark *benchmark = context->benchmarks[i];
		auto_free char *path = NULL;
		auto_free char *program = text_format("%.*s", (int)strcspn(benchmark->command, " "),
						      benchmark->command);
		struct error err = {0};
		bool found = process_find_program(program, benchmark->package, &path, &err) == 0;
		tell(checkup, found ? FINDING_OK : FINDING_MISSING, benchmark->name,
		     found ? path : err.message);
	}
}

static void check_files(struct checkup *checkup)
{
	struct context *context = checkup->context;
	auto_free char *agent = NULL;
	struct error err = {0};
	const char *trusted = context->machine_policy->trusted_kernel;
	bool have_agent = context_agent_path(&agent, &err) == 0;
	tell(checkup, have_agent ? FINDING_OK : FINDING_MISSING, "sentinel-agent",
	     have_agent ? agent : err.message);
	auto_free char *advice = text_format("%s cannot be read; unpack any kernel package there, "
					     "or mend machine.%s.trusted-kernel",
					     trusted, context->machine_policy->name);
	bool readable = access(trusted, R_OK) == 0;
	tell(checkup, readable ? FINDING_OK : FINDING_MISSING, "trusted kernel",
	     readable ? trusted : advice);
}

static void check_state(struct checkup *checkup)
{
	struct context *context = checkup->context;
	struct error err = {0};
	if (context_open_store(context, &err) < 0) {
		tell(checkup, FINDING_MISSING, "state folder", err.message);
		return;
	}
	tell(checkup, FINDING_OK, "state folder", context->state_folder);
	int64_t free_bytes;
	if (file_free_bytes(context->state_folder, &free_bytes, &err) < 0) {
		tell(checkup, FINDING_MISSING, "free space", err.message);
		return;
	}
	auto_free char *space =
		text_format("%.1f GiB free, %.0f GiB wanted", (double)free_bytes / (1 << 30),
			    (double)WANTED_FREE_BYTES / (1 << 30));
	tell(checkup, free_bytes >= WANTED_FREE_BYTES ? FINDING_OK : FINDING_MISSING, "free space",
	     space);
	auto_free char *url = source_tree_show_url(context->tree->url);
	if (context_open_source(context, &err) < 0)
		tell(checkup, FINDING_MISSING, "tree", err.message);
	else
		tell(checkup, FINDING_OK, "tree", url);
}

static void check_mail(struct checkup *checkup)
{
	const struct policy_mail *mail = &checkup->context->policy.mail;
	struct error err = {0};
	if (!mail->server)
		tell(checkup, FINDING_OPTIONAL, "mail server",
		     "no [mail] section: nothing is mailed");
	else if (mail_probe(mail, &err) < 0)
		tell(checkup, FINDING_MISSING, "mail server", err.message);
	else
		tell(checkup, FINDING_OK, "mail server", mail->server);
}

int cmd_doctor(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	       struct error *err)
{
	(void)arguments;
	struct checkup checkup = {.context = context, .findings = json_array()};
	struct error fault = {0};
	check_programs(&checkup);
	if (context_load_policy(context, &fault) < 0) {
		tell(&checkup, FINDING_MISSING, "configuration", fault.message);
	} else {
		tell(&checkup, FINDING_OK, "configuration", context->config_path);
		check_benchmarks(&checkup);
		check_files(&checkup);
		check_state(&checkup);
		check_mail(&checkup);
	}
	if (context->json)
		context_print_json(checkup.findings);
	else
		json_decref(checkup.findings);
	(void)err;
	*ret_exit_code = checkup.missing ? error_exit_code(ERROR_SYSTEM) : 0;
	return 0;
}
