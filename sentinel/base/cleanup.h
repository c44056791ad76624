/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_CLEANUP_H
#define SENTINEL_BASE_CLEANUP_H

/* Variables that release what they hold at the end of their scope. Initialise them always. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define auto_cleanup(function) __attribute__((cleanup(function)))

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

#define auto_free auto_cleanup(cleanup_free)
#define auto_close auto_cleanup(cleanup_close)
#define auto_fclose auto_cleanup(cleanup_fclose)
#define auto_closedir auto_cleanup(cleanup_closedir)

/* Hands a pointer over to the caller: "*ret_text = take(text);" */
#define take(pointer)                                                                              \
	({                                                                                         \
		__typeof__(pointer) taken = (pointer);                                             \
		(pointer) = NULL;                                                                  \
		taken;                                                                             \
	})

#define array_length(array) (sizeof(array) / sizeof((array)[0]))

#endif
