/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/program_libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define LIST_LIMIT_BYTES (1 << 20)
#define LIST_TIMEOUT_SECONDS 30.0
#define SEGMENT_LIMIT 200
#define PATH_LIMIT_BYTES 4096

static bool read_exactly(int fd, void *buffer, size_t length, uint64_t offset)
{
	return pread(fd, buffer, length, (off_t)offset) == (ssize_t)length;
}

/* The loader's path from segment PT_INTERP; *ret_loader stays NULL for a static program. */
static int find_loader(const char *path, char **ret_loader, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	Elf64_Ehdr header;
	if (!read_exactly(fd, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
	    header.e_phnum > SEGMENT_LIMIT)
		return error_set(err, ERROR_SYSTEM, "%s is not a 64-bit ELF program", path);
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		char loader[PATH_LIMIT_BYTES + 1] = "";
		if (!read_exactly(fd, &segment, sizeof(segment),
				  header.e_phoff + i * sizeof(segment)))
			return error_set(err, ERROR_SYSTEM, "%s is cut off", path);
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz > PATH_LIMIT_BYTES ||
		    !read_exactly(fd, loader, segment.p_filesz, segment.p_offset) ||
		    loader[0] != '/')
			return error_set(err, ERROR_SYSTEM, "%s names no usable loader", path);
		*ret_loader = text_copy(loader);
		return 0;
	}
	return 0;
}

/* "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", "/lib64/ld.so (0x…)", "vdso (0x…)" */
static int parse_line(const char *path, char *line, struct string_list *libraries,
		      struct error *err)
{
	char *arrow = strstr(line, " => ");
	char *target = arrow ? arrow + strlen(" => ") : line + strspn(line, " \t");
	if (arrow && text_starts_with(target, "not found")) {
		*arrow = '\0';
		return error_set(err, ERROR_SYSTEM, "%s needs %s, which is not installed", path,
				 line + strspn(line, " \t"));
	}
	char *address = strstr(target, " (0x");
	if (target[0] != '/' || !address)
		return 0;
	*address = '\0';
	string_list_add(libraries, target);
	return 0;
}

int program_libraries(const char *path, struct string_list *libraries, struct error *err)
{
	auto_free char *loader = NULL;
	if (find_loader(path, &loader, err) < 0)
		return -1;
	if (!loader)
		return 0;
	/* What the guest will not have must not change what is found here. */
	static const char *const environment[] = {"LD_LIBRARY_PATH=", "LD_PRELOAD=", NULL};
	const char *const argv[] = {loader, "--list", path, NULL};
	struct process_command command = {.argv = argv,
					  .environment = environment,
					  .capture_limit_bytes = LIST_LIMIT_BYTES,
					  .timeout_seconds = LIST_TIMEOUT_SECONDS};
	auto_process_result struct process_result result = {0};
	if (process_run(&command, &result, err) < 0)
		return -1;
	string_list_add(libraries, loader);
	char *position = NULL;
	for (char *line = strtok_r(result.stdout_bytes, "\n", &position); line;
	     line = strtok_r(NULL, "\n", &position))
		if (parse_line(path, line, libraries, err) < 0)
			return -1;
	if (!process_succeeded(&result)) {
		char how[64];
		auto_free char *reason = text_one_line(result.stderr_bytes, 300);
		return error_set(err, ERROR_SYSTEM, "cannot list the libraries of %s (%s): %s",
				 path, process_describe(&result, LIST_TIMEOUT_SECONDS, how),
				 reason);
	}
	return 0;
}
