/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

int file_read(const char *path, size_t limit_bytes, char **ret_bytes, size_t *ret_length,
	      struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	auto_text struct text content = {0};
	char buffer[65536];
	ssize_t got;
	/* Sizes are not asked for: files in /proc have none. */
	while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
		if (content.length + (size_t)got > limit_bytes)
			return error_set(err, ERROR_STATE, "%s: larger than %zu bytes", path,
					 limit_bytes);
		text_append_bytes(&content, buffer, (size_t)got);
	}
	if (got < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot read %s", path);
	if (ret_length)
		*ret_length = content.length;
	*ret_bytes = text_take(&content);
	return 0;
}

static int sync_folder_of(const char *path, struct error *err)
{
	auto_free char *copy = text_copy(path);
	const char *folder = dirname(copy);
	auto_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot sync folder %s", folder);
	return 0;
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(fd, bytes, length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

int file_write_durable(const char *path, const void *bytes, size_t length, struct error *err)
{
	auto_free char *temporary = text_format("%s.new.%d", path, (int)getpid());
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot create %s", temporary);
	if (write_all(fd, bytes, length) < 0 || fsync(fd) < 0) {
		error_errno(err, ERROR_SYSTEM, "cannot write %s", temporary);
		unlink(temporary);
		return -1;
	}
	return file_rename_durable(temporary, path, err);
}

int file_rename_durable(const char *from, const char *to, struct error *err)
{
	if (rename(from, to) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot rename %s to %s", from, to);
	if (sync_folder_of(to, err) < 0)
		return -1;
	return sync_folder_of(from, err);
}

int file_make_folders(const char *path, struct error *err)
{
	auto_free char *partial = text_copy(path);
	for (char *slash = partial + 1;; slash++) {
		char separator = *slash;
		if (separator != '/' && separator != '\0')
			continue;
		*slash = '\0';
		if (mkdir(partial, 0755) < 0 && errno != EEXIST)
			return error_errno(err, ERROR_SYSTEM, "cannot create folder %s", partial);
		if (separator == '\0')
			break;
		*slash = separator;
	}
	if (!file_is_folder(path))
		return error_set(err, ERROR_SYSTEM, "%s exists and is not a folder", path);
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status;
	(void)type;
	(void)position;
	return remove(path);
}

int file_remove_tree(const char *path, struct error *err)
{
	if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", path);
	return 0;
}

int file_copy(const char *from, const char *to, struct error *err)
{
	auto_close int source = open(from, O_RDONLY | O_CLOEXEC);
	struct stat status;
	if (source < 0 || fstat(source, &status) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", from);
	auto_free char *temporary = text_format("%s.new.%d", to, (int)getpid());
	auto_close int target =
		open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status.st_mode & 0777);
	if (target < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot create %s", temporary);
	ssize_t sent;
	while ((sent = sendfile(target, source, NULL, 1 << 24)) > 0)
		;
	if (sent < 0 || fsync(target) < 0) {
		error_errno(err, ERROR_SYSTEM, "cannot copy %s to %s", from, temporary);
		unlink(temporary);
		return -1;
	}
	return file_rename_durable(temporary, to, err);
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_is_folder(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int64_t file_size_bytes(const char *path)
{
	struct stat status;
	return stat(path, &status) < 0 ? -1 : (int64_t)status.st_size;
}

int file_free_bytes(const char *path, int64_t *ret_bytes, struct error *err)
{
	struct statvfs space;
	if (statvfs(path, &space) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot ask for the free space of %s", path);
	*ret_bytes = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
	return 0;
}

int file_lock(const char *path, int *ret_fd, struct error *err)
{
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open lock %s", path);
	char holder[32] = "";
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return error_errno(err, ERROR_SYSTEM, "cannot lock %s", path);
		if (read(fd, holder, sizeof(holder) - 1) < 0)
			holder[0] = '\0';
		return error_set(err, ERROR_STATE,
				 "%s is held by process %s; wait for it, or end it", path,
				 holder[0] ? holder : "?");
	}
	int length = snprintf(holder, sizeof(holder), "%d", (int)getpid());
	if (ftruncate(fd, 0) < 0 || pwrite(fd, holder, (size_t)length, 0) != length)
		return error_errno(err, ERROR_SYSTEM, "cannot write lock %s", path);
	*ret_fd = fd;
	fd = -1;
	return 0;
}
