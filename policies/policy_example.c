/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policies/policy.h"

#include <string.h>

#include "policies/policy_keys.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static const char introduction[] =
	"# Sentinel's policy: what is watched, where it is measured, and who is told.\n"
	"# This is a git-config file: \"git config -f FILE --list\" shows it, [include] path = "
	"FILE\n"
	"# brings in another one. Keys that are commented out show their default or an example.\n"
	"# Relative file names start from the folder of this file.\n";

static const char *const type_names[] = {
	[POLICY_KEY_TEXT] = "text",
	[POLICY_KEY_PATH] = "file",
	[POLICY_KEY_LOCATION] = "url-or-path",
	[POLICY_KEY_TARGET] = "target-or-file",
	[POLICY_KEY_CHOICE] = "choice",
	[POLICY_KEY_BETTER] = "choice",
	[POLICY_KEY_INTEGER] = "integer",
	[POLICY_KEY_REAL] = "number",
	[POLICY_KEY_WORDS] = "words",
	[POLICY_KEY_PATHS] = "files",
	[POLICY_KEY_TEXTS] = "text-each",
	[POLICY_KEY_PARAMETERS] = "parameter-each",
	[POLICY_KEY_WEIGHTS] = "weight-each",
};

/* Quoted when git-config would read it otherwise. */
static void append_value(struct text *text, const char *value)
{
	bool quote = !*value || strpbrk(value, "#;\"\\");
	if (quote)
		text_append(text, "\"");
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			text_append(text, "\\");
		text_append_bytes(text, value, 1);
	}
	if (quote)
		text_append(text, "\"");
}

static void append_limits(struct text *text, const struct policy_key *key)
{
	if (key->choices) {
		text_printf(text, " One of: %s.", key->choices);
	} else if (key->maximum > 0) {
		text_printf(text, " From %g to %.15g", key->minimum, key->maximum);
		text_printf(text, "%s%s.", key->unit ? " " : "", key->unit ? key->unit : "");
	}
}

/* An example of an optional key stays active where ours works for everyone. */
static bool is_active(const struct policy_section *section, const struct policy_key *key)
{
	bool ours = key->example && text_starts_with(key->example, "shipped:");
	return !section->optional && (key->required || ours);
}

static void append_key(struct text *text, const struct policy_section *section,
		       const struct policy_key *key)
{
	const char *value = key->example         ? key->example
			    : key->default_value ? key->default_value
						 : "";
	text_printf(text, "\t# %s", key->help);
	append_limits(text, key);
	text_printf(text, "\n\t%s%s = ", is_active(section, key) ? "" : "# ", key->name);
	append_value(text, value);
	text_append(text, "\n");
}

char *policy_example(void)
{
	struct text text = {0};
	text_append(&text, introduction);
	for (size_t i = 0; i < policy_section_count; i++) {
		const struct policy_section *section = &policy_sections[i];
		text_printf(&text, "\n# %s\n%s[%s", section->help, section->optional ? "# " : "",
			    section->name);
		if (section->named)
			text_printf(&text, " \"%s\"", section->example_name);
		text_append(&text, "]\n");
		for (size_t j = 0; j < section->key_count; j++)
			append_key(&text, section, &section->keys[j]);
	}
	return text_take(&text);
}

char *policy_key_list(void)
{
	struct text text = {0};
	for (size_t i = 0; i < policy_section_count; i++) {
		const struct policy_section *section = &policy_sections[i];
		for (size_t j = 0; j < section->key_count; j++) {
			const struct policy_key *key = &section->keys[j];
			text_printf(&text, "%s.%s %s ", section->name, key->name,
				    type_names[key->type]);
			if (key->required)
				text_append(&text, "required");
			else
				append_value(&text, key->default_value ? key->default_value : "");
			text_printf(&text, " %s", key->help);
			append_limits(&text, key);
			text_append(&text, "\n");
		}
	}
	return text_take(&text);
}
