/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/toolchain.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define VERSION_LIMIT_BYTES 4096
#define QUERY_TIMEOUT_SECONDS 30.0

static const struct {
	const char *program;
	const char *package;
} required[] = {
	{"gcc", "gcc"},     {"ld", "binutils"}, {"make", "make"},   {"flex", "flex"},
	{"bison", "bison"}, {"bc", "bc"},       {"depmod", "kmod"},
};

static int find_programs(struct error *err)
{
	auto_text struct text programs = {0};
	auto_text struct text packages = {0};
	for (size_t i = 0; i < array_length(required); i++) {
		auto_free char *path = NULL;
		if (process_find_program(required[i].program, required[i].package, &path, NULL) ==
		    0)
			continue;
		text_printf(&programs, "%s%s", programs.length ? ", " : "", required[i].program);
		text_printf(&packages, " %s", required[i].package);
	}
	if (!programs.length)
		return 0;
	return error_set(err, ERROR_SYSTEM,
			 "cannot build kernels, not found: %s; install with: apt-get install%s",
			 programs.data, packages.data);
}

/* The first line that PROGRAM OPTION writes. */
static int ask(const char *program, const char *option, char **ret_line, struct error *err)
{
	const char *const argv[] = {program, option, NULL};
	struct process_command command = {.argv = argv,
					  .capture_limit_bytes = VERSION_LIMIT_BYTES,
					  .timeout_seconds = QUERY_TIMEOUT_SECONDS};
	auto_process_result struct process_result result = {0};
	if (process_run(&command, &result, err) < 0)
		return -1;
	result.stdout_bytes[strcspn(result.stdout_bytes, "\n")] = '\0';
	if (!process_succeeded(&result) || !result.stdout_bytes[0])
		return error_set(err, ERROR_SYSTEM,
				 "\"%s %s\" says nothing: is it installed whole?", program, option);
	*ret_line = text_one_line(result.stdout_bytes, 200);
	return 0;
}

int toolchain_detect(struct toolchain *ret_toolchain, struct error *err)
{
	auto_free char *compiler = NULL;
	auto_free char *compiler_version = NULL;
	auto_free char *machine = NULL;
	auto_free char *linker = NULL;
	auto_free char *depmod = NULL;
	auto_free char *ccache = NULL;
	if (find_programs(err) < 0 || ask("gcc", "--version", &compiler, err) < 0 ||
	    ask("gcc", "-dumpfullversion", &compiler_version, err) < 0 ||
	    ask("gcc", "-dumpmachine", &machine, err) < 0 ||
	    ask("ld", "--version", &linker, err) < 0 ||
	    process_find_program("depmod", "kmod", &depmod, err) < 0)
		return -1;
	if (!text_starts_with(machine, "x86_64"))
		return error_set(err, ERROR_SYSTEM,
				 "gcc makes code for %s; only x86-64 kernels can be built",
				 machine);
	const char *linker_version = strrchr(linker, ' ');
	bool cached = process_find_program("ccache", "ccache", &ccache, NULL) == 0;
	*ret_toolchain = (struct toolchain){
		.text = text_format("gcc %s, ld %s", compiler_version,
				    linker_version ? linker_version + 1 : linker),
		.identity = text_format("%s; %s; %s", machine, compiler, linker),
		.compiler = text_copy(cached ? "ccache gcc" : "gcc"),
		.depmod = take(depmod),
	};
	return 0;
}

void toolchain_free(struct toolchain *toolchain)
{
	free(toolchain->text);
	free(toolchain->identity);
	free(toolchain->compiler);
	free(toolchain->depmod);
	*toolchain = (struct toolchain){0};
}
