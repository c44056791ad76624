/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_TEXT_H
#define SENTINEL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A growing text. Zero-initialise it ("struct text t = {0};") or declare it auto_text. Memory that
 * runs out ends the program: nothing useful can be done, and the store is safe at every instant.
 */
struct text {
	char *data; /* NULL or terminated */
	size_t length;
	size_t capacity;
};

void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const void *bytes, size_t length);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The caller owns the result; the text is empty afterwards. Never NULL. */
char *text_take(struct text *text);
void text_free(struct text *text);

#define auto_text __attribute__((cleanup(text_free)))

/* printf and strdup into fresh memory that the caller frees. Never NULL. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_copy(const char *string);
/* As calloc and realloc of COUNT elements, but never NULL. */
void *memory_array(size_t count, size_t size);
void *memory_resize(void *memory, size_t count, size_t size);

/*
 * A copy of foreign text that is safe on a terminal and in a one-line field: control characters
 * (CR, LF, ESC, DEL, C1) become spaces, what is not UTF-8 becomes U+FFFD, and at most MAX_BYTES
 * bytes are kept, cut between characters. The caller frees it.
 */
char *text_one_line(const char *foreign, size_t max_bytes);
/* The same, but LF stays: for bodies of several lines. */
char *text_printable(const char *foreign, size_t length, size_t max_bytes);

bool text_starts_with(const char *string, const char *prefix);
bool text_ends_with(const char *string, const char *suffix);

/*
 * The candidate with the least edit distance to WORD (case-insensitive), or NULL when none is
 * closer than a third of the word's length plus one. CANDIDATES ends with NULL.
 */
const char *text_nearest(const char *word, const char *const *candidates);

#endif
