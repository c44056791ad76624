/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policies/policy_file.h"

#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include <git2.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

static const size_t file_limit_bytes = 1 << 20;
static const size_t entry_limit = 4096;

static void cleanup_config(git_config **config)
{
	git_config_free(*config);
}

static void cleanup_iterator(git_config_iterator **iterator)
{
	git_config_iterator_free(*iterator);
}

/*
 * libgit2 closes a quote that the line leaves open; git refuses it, and so do we: it is how a cut
 * file looks. Returns the line's number, or 0.
 */
static size_t open_quote_line(const char *text)
{
	bool quoted = false;
	bool comment = false;
	size_t line = 1;
	for (; *text; text++) {
		if (*text == '\n') {
			if (quoted)
				return line;
			line++;
			comment = false;
		} else if (!comment && *text == '\\' && text[1]) {
			line += *++text == '\n';
		} else if (!comment && *text == '"') {
			quoted = !quoted;
		} else if (!quoted && (*text == '#' || *text == ';')) {
			comment = true;
		}
	}
	return 0;
}

static int check_text(const char *path, const char *bytes, size_t length, struct error *err)
{
	if (memchr(bytes, '\0', length))
		return error_set(err, ERROR_USAGE, "%s holds a NUL byte: it is no text file", path);
	if (length && bytes[length - 1] != '\n')
		return error_set(
			err, ERROR_USAGE,
			"%s ends in the middle of a line: it is half-written, or lacks its "
			"last newline",
			path);
	size_t line = open_quote_line(bytes);
	if (line)
		return error_set(err, ERROR_USAGE, "%s:%zu: a quote is not closed", path, line);
	return 0;
}

static int check_file(const char *path, struct error *err)
{
	struct stat status;
	if (stat(path, &status) < 0)
		return error_errno(err,
				   errno == ENOENT || errno == ENOTDIR ? ERROR_USAGE : ERROR_SYSTEM,
				   "cannot read %s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_USAGE, "%s is not a regular file", path);
	if (status.st_size > (off_t)file_limit_bytes)
		return error_set(err, ERROR_USAGE, "%s is larger than 1 MiB", path);

	auto_free char *bytes = NULL;
	size_t length;
	if (file_read(path, file_limit_bytes, &bytes, &length, err) < 0)
		return -1;
	return check_text(path, bytes, length, err);
}

static int config_fault(const char *path, struct error *err)
{
	const git_error *last = git_error_last();
	auto_free char *reason = text_one_line(last && last->message ? last->message : "?", 500);
	return error_set(err, ERROR_USAGE, "%s is no git-config file: %s", path, reason);
}

/* libgit2 passes over a missing file as git does; here it would silently weaken the policy. */
static int check_include(const char *path, const struct policy_entry *entry, struct error *err)
{
	git_buf expanded = {0};
	if (git_config_parse_path(&expanded, entry->value) < 0)
		return config_fault(path, err);
	auto_free char *copy = text_copy(path);
	auto_free char *included = expanded.ptr[0] == '/'
					   ? text_copy(expanded.ptr)
					   : text_format("%s/%s", dirname(copy), expanded.ptr);
	git_buf_dispose(&expanded);
	return check_file(included, err);
}

static int visit_entry(const char *path, const struct policy_entry *entry, policy_visit *visit,
		       void *context, struct error *err)
{
	bool is_include = strcmp(entry->section, "include") == 0 && !*entry->name &&
			  strcmp(entry->key, "path") == 0;
	if (is_include && entry->include_depth > 0)
		return 0;
	if ((is_include ? check_include(path, entry, err) : visit(entry, context, err)) == 0)
		return 0;
	auto_free char *section = text_one_line(entry->section, 100);
	auto_free char *name = text_one_line(entry->name, 100);
	auto_free char *key = text_one_line(entry->key, 100);
	auto_free char *value = text_one_line(entry->value, 200);
	return error_prefix(err, "%s%s: [%s%s%s%s] %s = \"%s\"", path,
			    entry->include_depth ? " (in a file it includes)" : "", section,
			    *name ? " \"" : "", name, *name ? "\"" : "", key, value);
}

/* "section.name.key", where the name may have dots. */
static int take_apart(const char *path, const git_config_entry *found, policy_visit *visit,
		      void *context, struct error *err)
{
	auto_free char *section = text_copy(found->name);
	char *key = strrchr(section, '.');
	if (!key)
		return error_set(err, ERROR_USAGE, "%s: a key stands before the first section",
				 path);
	*key++ = '\0';
	char *name = strchr(section, '.');
	if (name)
		*name++ = '\0';
	if (!found->value)
		return error_set(err, ERROR_USAGE, "%s: [%s] %s: has no \"= value\"", path, section,
				 key);
	struct policy_entry entry = {.section = section,
				     .name = name ? name : "",
				     .key = key,
				     .value = found->value,
				     .include_depth = found->include_depth};
	return visit_entry(path, &entry, visit, context, err);
}

static int visit_all(const char *path, policy_visit *visit, void *context, struct error *err)
{
	__attribute__((cleanup(cleanup_config))) git_config *config = NULL;
	__attribute__((cleanup(cleanup_iterator))) git_config_iterator *iterator = NULL;
	/* A configuration of this one file: the user's and the system's git settings stay out. */
	if (git_config_open_ondisk(&config, path) < 0 ||
	    git_config_iterator_new(&iterator, config) < 0)
		return config_fault(path, err);
	git_config_entry *found;
	int state;
	for (size_t count = 0; (state = git_config_next(&found, iterator)) == 0; count++) {
		if (count == entry_limit)
			return error_set(err, ERROR_USAGE, "%s: more than %zu keys", path,
					 entry_limit);
		if (take_apart(path, found, visit, context, err) < 0)
			return -1;
	}
	return state == GIT_ITEROVER ? 0 : config_fault(path, err);
}

void policy_file_begin(void)
{
	git_libgit2_init();
}

void policy_file_end(void)
{
	git_libgit2_shutdown();
}

int policy_file_read(const char *path, policy_visit *visit, void *context, struct error *err)
{
	if (check_file(path, err) < 0)
		return -1;
	policy_file_begin();
	int result = visit_all(path, visit, context, err);
	policy_file_end();
	return result;
}
