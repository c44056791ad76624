/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/kbuild.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policies/policy.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

/* Of one call; the rest of a longer output is not searched for the reason. */
#define LOG_LIMIT_BYTES (8 << 20)
#define REASON_LIMIT_BYTES 400

/*
 * What could make two builds of the same sources differ is fixed, and what an operator's shell may
 * hold (flags, another compiler) is switched off.
 */
static const char *const fixed_arguments[] = {
	"ARCH=x86",
	"CROSS_COMPILE=",
	"LLVM=",
	"KAFLAGS=",
	"KCPPFLAGS=",
	"LOCALVERSION=",
	"KBUILD_BUILD_USER=sentinel",
	"KBUILD_BUILD_HOST=sentinel",
	"KBUILD_BUILD_TIMESTAMP=Sat Jan  1 00:00:00 UTC 2000",
	"KBUILD_BUILD_VERSION=1",
};

static const char *const host_faults[] = {
	"No space left on device",
	"Disk quota exceeded",
	"Read-only file system",
	"Input/output error",
	"Cannot allocate memory",
	"virtual memory exhausted",
	"out of memory allocating",
	"Killed signal terminated program",
	"internal compiler error: Killed",
	"] Killed",
	"] Error 137",
	"fork: retry: Resource temporarily unavailable",
	"Too many open files",
	": not found",
	": command not found",
	"] Error 127",
	/* Host tools of a configuration that wants signatures or objtool. */
	"openssl/opensslv.h: No such file or directory",
	"gelf.h: No such file or directory",
	"libelf.h: No such file or directory",
};

static const char *const reasons[] = {"error:", "undefined reference", "*** ", "Error "};

/* gcc shows the source below its message ("   12 | code"): that is the kernel's text, not gcc's. */
static bool is_source_excerpt(const char *line, size_t length)
{
	size_t i = 0;
	while (i < length && line[i] == ' ')
		i++;
	while (i < length && isdigit((unsigned char)line[i]))
		i++;
	return i > 0 && i + 1 < length && line[i] == ' ' && line[i + 1] == '|';
}

static const char *find_in_line(const char *line, size_t length, const char *word)
{
	return memmem(line, length, word, strlen(word));
}

/* First line with one of WORDS, or NULL. *ret_length is the line's. */
static const char *find_line(const char *log, const char *const *words, size_t count,
			     size_t *ret_length)
{
	for (const char *line = log; *line;) {
		size_t length = strcspn(line, "\n");
		for (size_t i = 0; i < count && !is_source_excerpt(line, length); i++)
			if (find_in_line(line, length, words[i])) {
				*ret_length = length;
				return line;
			}
		line += length + (line[length] == '\n');
	}
	return NULL;
}

static void cut_out(struct text *text, const char *word)
{
	char *found;
	size_t length = strlen(word);
	while ((found = strstr(text->data, word))) {
		memmove(found, found + length, strlen(found + length) + 1);
		text->length -= length;
	}
}

/* "kernel/fork.c:3: error" is the same in every state folder, with and without ccache. */
static char *present_line(const char *line, size_t length, const char *work)
{
	const char *slash = strrchr(work, '/');
	auto_free char *absolute = text_format("%s/", work);
	auto_free char *relative = text_format("../%s/", slash ? slash + 1 : work);
	auto_text struct text text = {0};
	text_append_bytes(&text, line, length);
	cut_out(&text, absolute);
	cut_out(&text, relative);
	return text_one_line(text.data, REASON_LIMIT_BYTES);
}

char *kbuild_reason(const char *log, const char *work, bool *ret_host_fault)
{
	size_t length = 0;
	const char *line = find_line(log, host_faults, array_length(host_faults), &length);
	*ret_host_fault = line != NULL;
	/* The most telling kind first: "Error 2" of an outer make says least. */
	for (size_t i = 0; !line && i < array_length(reasons); i++)
		line = find_line(log, &reasons[i], 1, &length);
	if (!line)
		return text_copy("make failed and gave no reason");
	return present_line(line, length, work);
}

static int read_log(const char *path, int64_t from, char **ret_log, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	char *log = memory_array(LOG_LIMIT_BYTES + 1, 1);
	ssize_t got = pread(fd, log, LOG_LIMIT_BYTES, from);
	if (got < 0) {
		free(log);
		return error_errno(err, ERROR_SYSTEM, "cannot read %s", path);
	}
	for (ssize_t i = 0; i < got; i++)
		if (log[i] == '\0')
			log[i] = ' ';
	*ret_log = log;
	return 0;
}

static int judge(const struct kbuild *kbuild, const struct process_result *process,
		 int64_t log_start, struct kbuild_result *ret_result, struct error *err)
{
	auto_free char *log = NULL;
	auto_free char *reason = NULL;
	bool host_fault;
	char how[64];
	process_describe(process, kbuild->timeout_seconds, how);
	if (process->timed_out) {
		*ret_result = (struct kbuild_result){
			.timed_out = true, .reason = text_format("the build has %s", how)};
		return 0;
	}
	if (read_log(kbuild->log_path, log_start, &log, err) < 0)
		return -1;
	reason = kbuild_reason(log, kbuild->work, &host_fault);
	if (host_fault || process->signal_number)
		return error_set(err, ERROR_SYSTEM, "this host could not build (%s): %s; see %s",
				 how, reason, kbuild->log_path);
	*ret_result = (struct kbuild_result){.reason = take(reason)};
	return 0;
}

/* The call itself goes to the log as well, so that a person can repeat it. */
static int log_call(const struct string_list *argv, const char *path, int64_t *ret_end,
		    struct error *err)
{
	auto_fclose FILE *log = fopen(path, "ae");
	if (!log)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	fputc('+', log);
	for (size_t i = 0; i < argv->count; i++)
		fprintf(log, strchr(argv->items[i], ' ') ? " '%s'" : " %s", argv->items[i]);
	fputc('\n', log);
	if (fflush(log) != 0)
		return error_errno(err, ERROR_SYSTEM, "cannot write %s", path);
	*ret_end = file_size_bytes(path);
	return 0;
}

static void add_formatted(struct string_list *list, char *text)
{
	string_list_add(list, text);
	free(text);
}

static void compose(const struct kbuild *kbuild, const char *const *arguments,
		    struct string_list *argv)
{
	long jobs = kbuild->jobs > 0 ? (long)kbuild->jobs : sysconf(_SC_NPROCESSORS_ONLN);
	string_list_add(argv, "make");
	string_list_add(argv, "-C");
	string_list_add(argv, kbuild->work);
	add_formatted(argv, text_format("-j%ld", jobs));
	add_formatted(argv, text_format("O=%s", kbuild->objects));
	add_formatted(argv, text_format("CC=%s", kbuild->toolchain->compiler));
	add_formatted(argv, text_format("HOSTCC=%s", kbuild->toolchain->compiler));
	add_formatted(argv, text_format("KCFLAGS=%s", kbuild->flags));
	for (size_t i = 0; i < array_length(fixed_arguments); i++)
		string_list_add(argv, fixed_arguments[i]);
	for (size_t i = 0; arguments[i]; i++)
		string_list_add(argv, arguments[i]);
}

static int run(const struct kbuild *kbuild, const struct string_list *argv,
	       struct process_result *ret_process, struct error *err)
{
	auto_free const char **words = memory_array(argv->count + 1, sizeof(*words));
	for (size_t i = 0; i < argv->count; i++)
		words[i] = argv->items[i];
	/* With the base folder taken off, another state folder finds the same entries in ccache. */
	auto_free char *base = text_format("CCACHE_BASEDIR=%s", kbuild->folder);
	const char *const environment[] = {base,
					   "CCACHE_NOHASHDIR=1",
					   "MAKEFLAGS=",
					   "MFLAGS=",
					   "GNUMAKEFLAGS=",
					   "MAKELEVEL=0",
					   "KBUILD_OUTPUT=",
					   "KCONFIG_CONFIG=.config",
					   NULL};
	struct process_command command = {.argv = words,
					  .environment = environment,
					  .stdout_path = kbuild->log_path,
					  .stderr_path = kbuild->log_path,
					  .timeout_seconds = kbuild->timeout_seconds,
					  .low_priority = true,
					  .progress = kbuild->progress};
	return process_run(&command, ret_process, err);
}

int kbuild_make(const struct kbuild *kbuild, const char *const *arguments,
		struct kbuild_result *ret_result, struct error *err)
{
	struct string_list argv = {0};
	auto_process_result struct process_result process = {0};
	int64_t log_start = 0;
	compose(kbuild, arguments, &argv);
	int status = log_call(&argv, kbuild->log_path, &log_start, err);
	if (status == 0)
		status = run(kbuild, &argv, &process, err);
	string_list_free(&argv);
	if (status < 0)
		return -1;
	if (!process_succeeded(&process))
		return judge(kbuild, &process, log_start, ret_result, err);
	*ret_result = (struct kbuild_result){.made = true};
	return 0;
}

void kbuild_result_free(struct kbuild_result *result)
{
	free(result->reason);
	*result = (struct kbuild_result){0};
}
