/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_POLICIES_POLICY_KEYS_H
#define SENTINEL_POLICIES_POLICY_KEYS_H

/*
 * The one table of sections and keys. The loader, the example file and the manual are driven by it:
 * a new key is a member in policy.h and a row in policy_keys.c, nothing else.
 */

#include <stdbool.h>
#include <stddef.h>

/* What a value looks like in the file, and which member it fills: first the texts, then numbers,
   then the types of many values. */
enum policy_key_type {
	POLICY_KEY_TEXT,       /* char * */
	POLICY_KEY_PATH,       /* char *: absolute after loading */
	POLICY_KEY_LOCATION,   /* char *: a URL, or a path made absolute */
	POLICY_KEY_TARGET,     /* char *: a make target "…config", or a path made absolute */
	POLICY_KEY_CHOICE,     /* char *: one of the choices */
	POLICY_KEY_BETTER,     /* enum policy_better: one of the choices, by position */
	POLICY_KEY_INTEGER,    /* int64_t, in the key's unit */
	POLICY_KEY_REAL,       /* double, in the key's unit */
	POLICY_KEY_WORDS,      /* string_list: values split at blanks */
	POLICY_KEY_PATHS,      /* string_list: values split at blanks, absolute after loading */
	POLICY_KEY_TEXTS,      /* string_list: one whole value a key */
	POLICY_KEY_PARAMETERS, /* policy_parameter array, its count at count_offset */
	POLICY_KEY_WEIGHTS,    /* policy_weight array, likewise */
};

struct policy_key {
	const char *name;
	enum policy_key_type type;
	bool required;
	size_t offset;       /* of the member in the section's struct */
	size_t count_offset; /* POLICY_KEY_PARAMETERS and POLICY_KEY_WEIGHTS only */
	double minimum;      /* numbers and weights only, in the unit */
	double maximum;
	const char *unit;          /* must be written behind a number; NULL: a plain number */
	const char *choices;       /* names separated by blanks */
	const char *default_value; /* as written in a file; NULL: none */
	const char *example;       /* for the example file; NULL: the default is shown */
	const char *help;          /* one sentence */
};

struct policy_section {
	const char *name;
	bool named;    /* [tree "NAME"], any number of them; else one [night] */
	bool optional; /* commented out in the example file */
	const char *example_name;
	const char *help;
	size_t offset;       /* in struct policy: of the array's pointer, or of the struct */
	size_t count_offset; /* in struct policy: of the array's count; named sections only */
	size_t item_size;    /* of one struct; a named one starts with "char *name" */
	const struct policy_key *keys;
	size_t key_count;
};

extern const struct policy_section policy_sections[];
extern const size_t policy_section_count;

/* NULL when there is none. Names are compared as written: git-config gives them in lower case. */
const struct policy_section *policy_section_find(const char *name);
const struct policy_key *policy_key_find(const struct policy_section *section, const char *name);
/* What to write instead of a key of an earlier version; NULL when NAME never was one. */
const char *policy_key_retired(const struct policy_section *section, const char *name);
/* True for keys that may stand several times in one file. */
bool policy_key_is_many(const struct policy_key *key);

#endif
