/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/artifact_pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define COPY_BYTES 65536
#define DEPTH_LIMIT 50

static void cleanup_writer(struct archive **archive)
{
	if (*archive)
		archive_write_free(*archive);
}

static void cleanup_reader(struct archive **archive)
{
	if (*archive)
		archive_read_free(*archive);
}

static void cleanup_entry(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static int archive_fault(struct archive *archive, enum error_kind kind, const char *path,
			 struct error *err)
{
	auto_free char *reason = text_one_line(
		archive_error_string(archive) ? archive_error_string(archive) : "unknown reason",
		300);
	return error_set(err, kind, "%s: %s", path, reason);
}

static int pack_content(struct archive *archive, int fd, const char *path, struct error *err)
{
	char buffer[COPY_BYTES];
	ssize_t got;
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		if (archive_write_data(archive, buffer, (size_t)got) != got)
			return archive_fault(archive, ERROR_SYSTEM, path, err);
	if (got < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot read %s", path);
	return 0;
}

static int pack_folder(struct archive *archive, const char *root, const char *relative,
		       unsigned int depth, struct error *err);

static int pack_entry(struct archive *archive, const char *root, const char *relative,
		      unsigned int depth, struct error *err)
{
	auto_free char *path = text_format("%s/%s", root, relative);
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_errno(err, ERROR_STATE, "cannot pack %s", path);
	bool is_folder = S_ISDIR(status.st_mode);
	if (!is_folder && !S_ISREG(status.st_mode))
		return error_set(err, ERROR_STATE, "cannot pack %s: neither file nor folder", path);
	__attribute__((cleanup(cleanup_entry))) struct archive_entry *entry = archive_entry_new();
	archive_entry_set_pathname(entry, relative);
	archive_entry_set_filetype(entry, is_folder ? AE_IFDIR : AE_IFREG);
	archive_entry_set_perm(entry, is_folder ? 0755 : 0644);
	archive_entry_set_size(entry, is_folder ? 0 : status.st_size);
	archive_entry_set_mtime(entry, 0, 0);
	if (archive_write_header(archive, entry) != ARCHIVE_OK)
		return archive_fault(archive, ERROR_SYSTEM, path, err);
	return is_folder ? pack_folder(archive, root, relative, depth + 1, err)
			 : pack_content(archive, fd, path, err);
}

static int is_real_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Unlike alphasort, the same in every locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int pack_folder(struct archive *archive, const char *root, const char *relative,
		       unsigned int depth, struct error *err)
{
	auto_free char *path = text_format("%s/%s", root, relative);
	auto_free struct dirent **entries = NULL;
	if (depth > DEPTH_LIMIT)
		return error_set(err, ERROR_STATE, "cannot pack %s: nested too deeply", path);
	int count = scandir(path, &entries, is_real_name, compare_names);
	if (count < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot read folder %s", path);
	int status = 0;
	for (int i = 0; i < count; i++) {
		auto_free char *child =
			text_format("%s%s%s", relative, relative[0] ? "/" : "", entries[i]->d_name);
		free(entries[i]);
		if (status == 0)
			status = pack_entry(archive, root, child, depth, err);
	}
	return status;
}

/* Threads are set because unset ones give other bytes than any fixed number. */
static int open_writer(struct archive *archive, int fd)
{
	if (archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
	    archive_write_add_filter_zstd(archive) != ARCHIVE_OK ||
	    archive_write_set_filter_option(archive, "zstd", "compression-level", "3") !=
		    ARCHIVE_OK ||
	    archive_write_set_filter_option(archive, "zstd", "threads", "2") != ARCHIVE_OK)
		return -1;
	return archive_write_open_fd(archive, fd) == ARCHIVE_OK ? 0 : -1;
}

int artifact_pack(const char *folder, const char *target, struct error *err)
{
	auto_close int fd = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot create %s", target);
	__attribute__((cleanup(cleanup_writer))) struct archive *archive = archive_write_new();
	if (open_writer(archive, fd) < 0)
		return archive_fault(archive, ERROR_SYSTEM, target, err);
	if (pack_folder(archive, folder, "", 0, err) < 0)
		return -1;
	if (archive_write_close(archive) != ARCHIVE_OK)
		return archive_fault(archive, ERROR_SYSTEM, target, err);
	if (fsync(fd) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot sync %s", target);
	return 0;
}

static int check_entry(struct archive_entry *entry, const char *archive, int64_t *room_bytes,
		       struct error *err)
{
	const char *name = archive_entry_pathname(entry);
	mode_t type = archive_entry_filetype(entry);
	auto_free char *shown = text_one_line(name ? name : "", 200);
	if (!name || (type != AE_IFREG && type != AE_IFDIR) || archive_entry_hardlink(entry))
		return error_set(err, ERROR_STATE, "%s: entry \"%s\" is neither file nor folder",
				 archive, shown);
	*room_bytes -= archive_entry_size(entry);
	if (archive_entry_size(entry) < 0 || *room_bytes < 0)
		return error_set(err, ERROR_STATE, "%s: unpacks to more than %lld bytes", archive,
				 (long long)ARTIFACT_LIMIT_BYTES);
	archive_entry_set_perm(entry, type == AE_IFDIR ? 0755 : 0644);
	return 0;
}

static int copy_blocks(struct archive *reader, struct archive *writer, const char *archive,
		       struct error *err)
{
	const void *block;
	size_t length;
	la_int64_t offset;
	int code;
	while ((code = archive_read_data_block(reader, &block, &length, &offset)) == ARCHIVE_OK)
		if (archive_write_data_block(writer, block, length, offset) < ARCHIVE_OK)
			return archive_fault(writer, ERROR_SYSTEM, archive, err);
	if (code != ARCHIVE_EOF)
		return archive_fault(reader, ERROR_STATE, archive, err);
	return 0;
}

static int unpack_entries(struct archive *reader, struct archive *writer, const char *archive,
			  struct error *err)
{
	struct archive_entry *entry;
	int64_t room_bytes = ARTIFACT_LIMIT_BYTES;
	int code;
	while ((code = archive_read_next_header(reader, &entry)) == ARCHIVE_OK) {
		if (check_entry(entry, archive, &room_bytes, err) < 0)
			return -1;
		if (archive_write_header(writer, entry) != ARCHIVE_OK)
			return archive_fault(writer, ERROR_STATE, archive, err);
		if (copy_blocks(reader, writer, archive, err) < 0)
			return -1;
		if (archive_write_finish_entry(writer) != ARCHIVE_OK)
			return archive_fault(writer, ERROR_SYSTEM, archive, err);
	}
	if (code != ARCHIVE_EOF)
		return archive_fault(reader, ERROR_STATE, archive, err);
	return 0;
}

static int unpack_here(const char *archive, struct error *err)
{
	__attribute__((cleanup(cleanup_reader))) struct archive *reader = archive_read_new();
	__attribute__((cleanup(cleanup_writer))) struct archive *writer = archive_write_disk_new();
	archive_write_disk_set_options(writer, ARCHIVE_EXTRACT_SECURE_NODOTDOT |
						       ARCHIVE_EXTRACT_SECURE_SYMLINKS |
						       ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS |
						       ARCHIVE_EXTRACT_NO_OVERWRITE);
	if (archive_read_support_format_tar(reader) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(reader) != ARCHIVE_OK ||
	    archive_read_open_filename(reader, archive, COPY_BYTES) != ARCHIVE_OK)
		return archive_fault(reader, ERROR_STATE, archive, err);
	return unpack_entries(reader, writer, archive, err);
}

/* libarchive's checks hold only for names relative to the working directory. */
int artifact_unpack(const char *archive, const char *folder, struct error *err)
{
	auto_free char *absolute = realpath(archive, NULL);
	if (!absolute)
		return error_errno(err, ERROR_SYSTEM, "cannot find %s", archive);
	if (mkdir(folder, 0755) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot create folder %s", folder);
	auto_close int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (home < 0 || chdir(folder) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot enter %s", folder);
	int status = unpack_here(absolute, err);
	if (fchdir(home) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot leave %s", folder);
	return status;
}
