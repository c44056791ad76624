/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"

static void *memory_or_die(void *memory)
{
	if (!memory) {
		fputs("sentinel: out of memory\n", stderr);
		_exit(3);
	}
	return memory;
}

void *memory_array(size_t count, size_t size)
{
	return memory_or_die(calloc(count ? count : 1, size ? size : 1));
}

void *memory_resize(void *memory, size_t count, size_t size)
{
	return memory_or_die(reallocarray(memory, count ? count : 1, size ? size : 1));
}

static void text_reserve(struct text *text, size_t more)
{
	size_t needed = text->length + more + 1;
	if (needed <= text->capacity)
		return;
	size_t capacity = text->capacity ? text->capacity : 64;
	while (capacity < needed)
		capacity *= 2;
	text->data = memory_resize(text->data, capacity, 1);
	text->capacity = capacity;
}

void text_append_bytes(struct text *text, const void *bytes, size_t length)
{
	text_reserve(text, length);
	if (length)
		memcpy(text->data + text->length, bytes, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
	text_append_bytes(text, string, strlen(string));
}

static void text_vprintf(struct text *text, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		return;
	text_reserve(text, (size_t)length);
	vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
	text->length += (size_t)length;
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	text_vprintf(text, format, arguments);
	va_end(arguments);
}

char *text_take(struct text *text)
{
	text_reserve(text, 0);
	text->data[text->length] = '\0';
	char *data = text->data;
	*text = (struct text){0};
	return data;
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

char *text_format(const char *format, ...)
{
	struct text text = {0};
	va_list arguments;
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	return text_take(&text);
}

char *text_copy(const char *string)
{
	return memory_or_die(strdup(string));
}

/* Length of the valid UTF-8 sequence at BYTES, or 0. Overlong forms and surrogates are invalid. */
static size_t utf8_length(const unsigned char *bytes, size_t available)
{
	if (bytes[0] < 0x80)
		return 1;
	size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || available < length)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	if ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f) ||
	    (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return length;
}

static bool is_control(const unsigned char *bytes, size_t length)
{
	return (length == 1 && (bytes[0] < 0x20 || bytes[0] == 0x7f)) ||
	       (length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0);
}

static char *sanitise(const char *foreign, size_t length, size_t max_bytes, bool keep_newlines)
{
	struct text clean = {0};
	const unsigned char *bytes = (const unsigned char *)foreign;
	for (size_t i = 0; i < length;) {
		size_t sequence = utf8_length(bytes + i, length - i);
		const char *out = foreign + i;
		size_t out_length = sequence;
		if (!sequence) {
			out = "\xef\xbf\xbd";
			out_length = 3;
			sequence = 1;
		} else if (is_control(bytes + i, sequence) &&
			   !(keep_newlines && (bytes[i] == '\n' || bytes[i] == '\t'))) {
			out = " ";
			out_length = 1;
		}
		if (clean.length + out_length > max_bytes)
			break;
		text_append_bytes(&clean, out, out_length);
		i += sequence;
	}
	return text_take(&clean);
}

char *text_one_line(const char *foreign, size_t max_bytes)
{
	return sanitise(foreign, strlen(foreign), max_bytes, false);
}

char *text_printable(const char *foreign, size_t length, size_t max_bytes)
{
	return sanitise(foreign, length, max_bytes, true);
}

bool text_starts_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *string, const char *suffix)
{
	size_t length = strlen(string);
	size_t suffix_length = strlen(suffix);
	return length >= suffix_length && strcmp(string + length - suffix_length, suffix) == 0;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;
	return least < c ? least : c;
}

/* Levenshtein distance with one row. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t columns = strlen(b);
	auto_free size_t *row = memory_array(columns + 1, sizeof(*row));
	for (size_t j = 0; j <= columns; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t above = row[j];
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (same ? 0 : 1));
			diagonal = above;
		}
	}
	return row[columns];
}

const char *text_nearest(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	size_t limit = strnlen(word, 100) / 3 + 1;
	if (strlen(word) > 100)
		return NULL;
	for (; *candidates; candidates++) {
		size_t distance = edit_distance(word, *candidates);
		if (distance <= limit) {
			nearest = *candidates;
			limit = distance ? distance - 1 : 0;
			if (!distance)
				break;
		}
	}
	return nearest;
}
