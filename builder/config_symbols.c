/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text format of .config files: part of kernel_config. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "builder/kernel_config.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define MESSAGE_LIMIT_BYTES 1500
#define PREFIX "CONFIG_"
#define UNSET " is not set"

static struct config_symbol *find_symbol(const struct config_symbols *symbols, const char *name)
{
	for (size_t i = 0; i < symbols->count; i++)
		if (!strcmp(symbols->items[i].name, name))
			return &symbols->items[i];
	return NULL;
}

static void set_symbol(struct config_symbols *symbols, const char *name, const char *value,
		       const char *origin)
{
	struct config_symbol *symbol = find_symbol(symbols, name);
	if (!symbol) {
		symbols->items =
			memory_resize(symbols->items, symbols->count + 1, sizeof(*symbols->items));
		symbol = &symbols->items[symbols->count++];
		*symbol = (struct config_symbol){.name = text_copy(name)};
	}
	free(symbol->value);
	free(symbol->origin);
	symbol->value = text_copy(value);
	symbol->origin = text_copy(origin);
}

static size_t name_length(const char *line)
{
	if (!text_starts_with(line, PREFIX))
		return 0;
	size_t length = strlen(PREFIX);
	while (isalnum((unsigned char)line[length]) || line[length] == '_')
		length++;
	return length;
}

/* False when the line is none that a .config can hold. */
static bool parse_line(char *line, const char *origin, struct config_symbols *symbols)
{
	line[strcspn(line, "\r")] = '\0';
	if (line[0] == '#') {
		size_t length = text_starts_with(line, "# ") ? name_length(line + 2) : 0;
		if (!length || strcmp(line + 2 + length, UNSET) != 0)
			return true;
		line[2 + length] = '\0';
		set_symbol(symbols, line + 2, "n", origin);
		return true;
	}
	size_t length = name_length(line);
	if (!length || line[length] != '=')
		return line[strspn(line, " \t")] == '\0';
	line[length] = '\0';
	set_symbol(symbols, line, line + length + 1, origin);
	return true;
}

int config_symbols_parse(const char *text, const char *origin, struct config_symbols *symbols,
			 struct error *err)
{
	auto_free char *copy = text_copy(text);
	unsigned int number = 1;
	for (char *line = copy; line; number++) {
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		auto_free char *shown = text_one_line(line, 100);
		if (!parse_line(line, origin, symbols))
			return error_set(err, ERROR_USAGE,
					 "%s, line %u: \"%s\" is neither CONFIG_NAME=value nor "
					 "\"# CONFIG_NAME is not set\"",
					 origin, number, shown);
		line = end ? end + 1 : NULL;
	}
	return 0;
}

int config_symbols_check(const struct config_symbols *wanted, const struct config_symbols *final,
			 struct error *err)
{
	auto_text struct text list = {0};
	size_t missing = 0;
	size_t named = 0;
	for (size_t i = 0; i < wanted->count; i++) {
		const struct config_symbol *symbol = &wanted->items[i];
		const struct config_symbol *got = find_symbol(final, symbol->name);
		const char *value = got ? got->value : "n";
		if (!strcmp(symbol->value, value))
			continue;
		missing++;
		if (list.length > MESSAGE_LIMIT_BYTES)
			continue;
		text_printf(&list, "\n  %s: asked %.80s (%s), got %.80s%s", symbol->name,
			    symbol->value, symbol->origin, value, got ? "" : " (not there)");
		named++;
	}
	if (!missing)
		return 0;
	if (named < missing)
		text_printf(&list, "\n  and %zu more", missing - named);
	return error_set(err, ERROR_USAGE,
			 "%zu configuration symbol(s) did not survive; add what they depend on, or "
			 "take them out of the fragment:%s",
			 missing, list.data);
}

static int compare_symbols(const void *a, const void *b)
{
	return strcmp(((const struct config_symbol *)a)->name,
		      ((const struct config_symbol *)b)->name);
}

void config_symbols_digest(const struct config_symbols *symbols, struct digest *ret_digest)
{
	auto_text struct text text = {0};
	auto_free struct config_symbol *sorted = memory_array(symbols->count, sizeof(*sorted));
	for (size_t i = 0; i < symbols->count; i++)
		sorted[i] = symbols->items[i];
	qsort(sorted, symbols->count, sizeof(*sorted), compare_symbols);
	for (size_t i = 0; i < symbols->count; i++)
		text_printf(&text, "%s=%s\n", sorted[i].name, sorted[i].value);
	digest_bytes(text.data, text.length, ret_digest);
}

void config_symbols_free(struct config_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		free(symbols->items[i].name);
		free(symbols->items[i].value);
		free(symbols->items[i].origin);
	}
	free(symbols->items);
	*symbols = (struct config_symbols){0};
}
