/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/initramfs.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "builder/program_libraries.h"
#include "policies/policy.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define COPY_BYTES 65536

struct initramfs {
	struct archive *archive;
	int fd;
	char *path;
	char *temporary;
	struct string_list written; /* paths in the archive */
};

static int archive_fault(const struct initramfs *initramfs, struct error *err)
{
	const char *reason = archive_error_string(initramfs->archive);
	return error_set(err, ERROR_SYSTEM, "cannot write %s: %s", initramfs->temporary,
			 reason ? reason : "unknown reason");
}

int initramfs_create(const char *path, struct initramfs **ret_initramfs, struct error *err)
{
	auto_initramfs struct initramfs *initramfs = memory_array(1, sizeof(*initramfs));
	initramfs->path = text_copy(path);
	initramfs->temporary = text_format("%s.new", path);
	initramfs->fd = open(initramfs->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (initramfs->fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot create %s", initramfs->temporary);
	initramfs->archive = archive_write_new();
	/* Without the last call the end would be padded to a tape block. */
	if (archive_write_set_format_cpio_newc(initramfs->archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(initramfs->archive, 1) != ARCHIVE_OK ||
	    archive_write_open_fd(initramfs->archive, initramfs->fd) != ARCHIVE_OK)
		return archive_fault(initramfs, err);
	*ret_initramfs = take(initramfs);
	return 0;
}

static bool is_written(const struct initramfs *initramfs, const char *path)
{
	for (size_t i = 0; i < initramfs->written.count; i++)
		if (!strcmp(initramfs->written.items[i], path))
			return true;
	return false;
}

static int check_path(const char *path, struct error *err)
{
	auto_free char *framed = text_format("/%s/", path);
	if (!path[0] || strstr(framed, "//") || strstr(framed, "/./") || strstr(framed, "/../"))
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is not a plain relative path for an initramfs", path);
	return 0;
}

/* libarchive wants a size on every entry, folders included. */
static int write_header(struct initramfs *initramfs, const char *path, mode_t type, mode_t mode,
			int64_t size, dev_t device, struct error *err)
{
	struct archive_entry *entry = archive_entry_new();
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, mode);
	archive_entry_set_size(entry, size);
	archive_entry_set_rdev(entry, device);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_nlink(entry, type == AE_IFDIR ? 2 : 1);
	archive_entry_set_ino64(entry, (int64_t)initramfs->written.count + 1);
	int code = archive_write_header(initramfs->archive, entry);
	archive_entry_free(entry);
	if (code != ARCHIVE_OK)
		return archive_fault(initramfs, err);
	string_list_add(&initramfs->written, path);
	return 0;
}

int initramfs_add_folder(struct initramfs *initramfs, const char *path, struct error *err)
{
	auto_free char *partial = text_copy(path);
	if (check_path(path, err) < 0)
		return -1;
	for (char *slash = partial;; slash++) {
		char separator = *slash;
		if (separator != '/' && separator != '\0')
			continue;
		*slash = '\0';
		if (!is_written(initramfs, partial) &&
		    write_header(initramfs, partial, AE_IFDIR, 0755, 0, 0, err) < 0)
			return -1;
		if (separator == '\0')
			return 0;
		*slash = separator;
	}
}

static int add_parents(struct initramfs *initramfs, const char *path, struct error *err)
{
	auto_free char *folder = text_copy(path);
	if (check_path(path, err) < 0)
		return -1;
	char *slash = strrchr(folder, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	return initramfs_add_folder(initramfs, folder, err);
}

static int write_data(struct initramfs *initramfs, const void *bytes, size_t length,
		      struct error *err)
{
	if (length && archive_write_data(initramfs->archive, bytes, length) != (ssize_t)length)
		return archive_fault(initramfs, err);
	return 0;
}

static int copy_content(struct initramfs *initramfs, int source, const char *source_path,
			int64_t size, struct error *err)
{
	char buffer[COPY_BYTES];
	while (size > 0) {
		size_t wanted = size < COPY_BYTES ? (size_t)size : COPY_BYTES;
		ssize_t got = read(source, buffer, wanted);
		if (got < 0)
			return error_errno(err, ERROR_SYSTEM, "cannot read %s", source_path);
		if (got == 0)
			return error_set(err, ERROR_SYSTEM, "%s became shorter while it was read",
					 source_path);
		if (write_data(initramfs, buffer, (size_t)got, err) < 0)
			return -1;
		size -= got;
	}
	return 0;
}

int initramfs_add_file(struct initramfs *initramfs, const char *path, const char *source,
		       mode_t mode, struct error *err)
{
	struct stat status;
	if (is_written(initramfs, path))
		return 0;
	auto_close int fd = open(source, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", source);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_SYSTEM, "%s is not a regular file", source);
	if (add_parents(initramfs, path, err) < 0 ||
	    write_header(initramfs, path, AE_IFREG, mode, status.st_size, 0, err) < 0)
		return -1;
	return copy_content(initramfs, fd, source, status.st_size, err);
}

int initramfs_add_bytes(struct initramfs *initramfs, const char *path, const void *bytes,
			size_t length, mode_t mode, struct error *err)
{
	if (is_written(initramfs, path))
		return 0;
	if (add_parents(initramfs, path, err) < 0 ||
	    write_header(initramfs, path, AE_IFREG, mode, (int64_t)length, 0, err) < 0)
		return -1;
	return write_data(initramfs, bytes, length, err);
}

int initramfs_add_device(struct initramfs *initramfs, const char *path, unsigned int major_number,
			 unsigned int minor_number, struct error *err)
{
	if (is_written(initramfs, path))
		return 0;
	if (add_parents(initramfs, path, err) < 0)
		return -1;
	return write_header(initramfs, path, AE_IFCHR, 0600, 0, makedev(major_number, minor_number),
			    err);
}

int initramfs_add_program(struct initramfs *initramfs, const char *program, const char *package,
			  struct error *err)
{
	auto_free char *path = NULL;
	if (process_find_program(program, package, &path, err) < 0)
		return -1;
	auto_free char *absolute = path[0] == '/' ? text_copy(path) : realpath(path, NULL);
	if (!absolute)
		return error_errno(err, ERROR_SYSTEM, "cannot find %s", path);
	struct string_list libraries = {0};
	int status = program_libraries(absolute, &libraries, err);
	if (status == 0)
		status = initramfs_add_file(initramfs, absolute + 1, absolute, 0755, err);
	for (size_t i = 0; status == 0 && i < libraries.count; i++)
		status = initramfs_add_file(initramfs, libraries.items[i] + 1, libraries.items[i],
					    0755, err);
	string_list_free(&libraries);
	return status;
}

int initramfs_finish(struct initramfs **handle, struct error *err)
{
	auto_initramfs struct initramfs *initramfs = take(*handle);
	if (archive_write_close(initramfs->archive) != ARCHIVE_OK)
		return archive_fault(initramfs, err);
	if (fsync(initramfs->fd) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot sync %s", initramfs->temporary);
	return file_rename_durable(initramfs->temporary, initramfs->path, err);
}

void initramfs_abandon(struct initramfs **handle)
{
	struct initramfs *initramfs = *handle;
	if (!initramfs)
		return;
	if (initramfs->archive)
		archive_write_free(initramfs->archive);
	cleanup_close(&initramfs->fd);
	if (initramfs->temporary)
		unlink(initramfs->temporary);
	string_list_free(&initramfs->written);
	free(initramfs->path);
	free(initramfs->temporary);
	free(initramfs);
	*handle = NULL;
}

static int append_part(FILE *output, const char *part, struct error *err)
{
	static const char zeros[4];
	char buffer[COPY_BYTES];
	size_t total = 0;
	size_t got;
	auto_fclose FILE *input = fopen(part, "re");
	if (!input)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", part);
	while ((got = fread(buffer, 1, sizeof(buffer), input)) > 0) {
		if (fwrite(buffer, 1, got, output) != got)
			return error_errno(err, ERROR_SYSTEM, "cannot append %s", part);
		total += got;
	}
	if (ferror(input))
		return error_errno(err, ERROR_SYSTEM, "cannot read %s", part);
	size_t padding = (4 - total % 4) % 4;
	if (fwrite(zeros, 1, padding, output) != padding)
		return error_errno(err, ERROR_SYSTEM, "cannot append %s", part);
	return 0;
}

int initramfs_concatenate(const char *path, const char *const *parts, size_t count,
			  struct error *err)
{
	auto_free char *temporary = text_format("%s.new", path);
	auto_fclose FILE *output = fopen(temporary, "we");
	if (!output)
		return error_errno(err, ERROR_SYSTEM, "cannot create %s", temporary);
	int status = 0;
	for (size_t i = 0; status == 0 && i < count; i++)
		status = append_part(output, parts[i], err);
	if (status == 0 && (fflush(output) != 0 || fsync(fileno(output)) < 0))
		status = error_errno(err, ERROR_SYSTEM, "cannot write %s", temporary);
	if (status == 0)
		return file_rename_durable(temporary, path, err);
	unlink(temporary);
	return -1;
}
