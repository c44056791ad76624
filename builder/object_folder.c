/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/object_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"

/* A linker may hold its output open this long before it is killed. */
#define SUSPECT_SECONDS INT64_C(60)

static int64_t nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void cleanup_fts(FTS **walk)
{
	if (*walk)
		fts_close(*walk);
}

/*
 * Regular files below PATH that were written at or after SINCE are removed when REMOVE is set;
 * *ret_newest is the time of the newest one.
 */
static int visit_files(const char *path, int64_t since, bool remove_them, int64_t *ret_newest,
		       struct error *err)
{
	char *roots[] = {(char *)(uintptr_t)path, NULL};
	__attribute__((cleanup(cleanup_fts))) FTS *walk =
		fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!walk)
		return error_errno(err, ERROR_SYSTEM, "cannot read folder %s", path);
	int64_t newest = 0;
	const FTSENT *entry;
	while ((entry = fts_read(walk))) {
		if (entry->fts_info != FTS_F)
			continue;
		int64_t written = nanoseconds(entry->fts_statp->st_mtim);
		if (written > newest)
			newest = written;
		if (remove_them && written >= since && unlink(entry->fts_accpath) < 0)
			return error_errno(err, ERROR_SYSTEM, "cannot remove %s", entry->fts_path);
	}
	*ret_newest = newest;
	return 0;
}

static int repair(const struct object_folder *folder, struct error *err)
{
	struct stat mark;
	int64_t newest = 0;
	if (stat(folder->mark, &mark) < 0)
		return errno == ENOENT
			       ? 0
			       : error_errno(err, ERROR_SYSTEM, "cannot look at %s", folder->mark);
	log_notice("an earlier build was broken off; its last files are made again");
	if (visit_files(folder->path, 0, false, &newest, err) < 0)
		return -1;
	int64_t since = newest - SUSPECT_SECONDS * INT64_C(1000000000);
	if (since < nanoseconds(mark.st_mtim))
		since = nanoseconds(mark.st_mtim);
	return visit_files(folder->path, since, true, &newest, err);
}

/* Without O_CLOEXEC: the lock lives as long as the last process of the build. */
static int lock_folder(const char *path, double wait_seconds, int *ret_lock, struct error *err)
{
	auto_close int fd = open(path, O_RDWR | O_CREAT, 0644); /* NOLINT(android-cloexec-open) */
	double start = clock_monotonic_seconds();
	bool told = false;
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open lock %s", path);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		double waited = clock_monotonic_seconds() - start;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_errno(err, ERROR_SYSTEM, "cannot lock %s", path);
		if (interrupt_check(err) < 0)
			return -1;
		if (waited > wait_seconds)
			return error_set(
				err, ERROR_STATE,
				"processes of an earlier build still hold %s after %.0f s; "
				"end them",
				path, waited);
		if (!told && waited > 1)
			log_notice("waiting for the last processes of an earlier build");
		told |= waited > 1;
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	*ret_lock = fd;
	fd = -1;
	return 0;
}

int object_folder_open(const char *path, double wait_seconds, struct object_folder *ret_folder,
		       struct error *err)
{
	auto_free char *lock_path = text_format("%s.lock", path);
	auto_object_folder struct object_folder folder = {.lock = -1};
	if (file_make_folders(path, err) < 0 ||
	    lock_folder(lock_path, wait_seconds, &folder.lock, err) < 0)
		return -1;
	folder.path = text_copy(path);
	folder.mark = text_format("%s.busy", path);
	if (repair(&folder, err) < 0)
		return -1;
	*ret_folder = folder;
	folder = (struct object_folder){.lock = -1};
	return 0;
}

void object_folder_close(struct object_folder *folder)
{
	free(folder->path);
	free(folder->mark);
	cleanup_close(&folder->lock);
	*folder = (struct object_folder){.lock = -1};
}

int object_folder_begin(const struct object_folder *folder, struct error *err)
{
	return file_write_durable(folder->mark, "", 0, err);
}

int object_folder_end(const struct object_folder *folder, struct error *err)
{
	auto_close int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot sync %s", folder->path);
	if (unlink(folder->mark) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot remove %s", folder->mark);
	return 0;
}
