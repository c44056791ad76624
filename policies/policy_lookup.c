/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "policies/policy.h"
#include "policies/policy_keys.h"
#include "sentinel/base/cleanup.h"

_Static_assert(offsetof(struct policy_tree, name) == 0 &&
		       offsetof(struct policy_machine, name) == 0 &&
		       offsetof(struct policy_benchmark, name) == 0,
	       "named sections are found by their first member");
_Static_assert(POLICY_LOWER == 0 && POLICY_HIGHER == 1, "the choices of better, in this order");

/* Keys of earlier versions, and what to write instead. */
static const struct {
	const char *section;
	const char *name;
	const char *advice;
} retired_keys[] = {
	{"night", "stage1-alpha",
	 "write needless-retests: the share of the series, in percent, that chance alone sends to "
	 "the retest (stage1-alpha = 0.01 was needless-retests = 1 %)"},
	{"night", "stage2-alpha",
	 "write false-alarms-per-month: how many wrong alarms a month are acceptable"},
};

const struct policy_section *policy_section_find(const char *name)
{
	for (size_t i = 0; i < policy_section_count; i++)
		if (strcmp(policy_sections[i].name, name) == 0)
			return &policy_sections[i];
	return NULL;
}

const struct policy_key *policy_key_find(const struct policy_section *section, const char *name)
{
	for (size_t i = 0; i < section->key_count; i++)
		if (strcmp(section->keys[i].name, name) == 0)
			return &section->keys[i];
	return NULL;
}

bool policy_key_is_many(const struct policy_key *key)
{
	return key->type >= POLICY_KEY_WORDS;
}

const char *policy_key_retired(const struct policy_section *section, const char *name)
{
	for (size_t i = 0; i < array_length(retired_keys); i++)
		if (strcmp(retired_keys[i].section, section->name) == 0 &&
		    strcmp(retired_keys[i].name, name) == 0)
			return retired_keys[i].advice;
	return NULL;
}
