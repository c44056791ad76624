/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policies/policy.h"

#include <dirent.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "policies/policy_check.h"
#include "policies/policy_file.h"
#include "policies/policy_keys.h"
#include "policies/policy_values.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

static const size_t item_limit = 256;

/* Where a key was set last: again in the same file is a fault, in a later file an override. */
struct assignment {
	const struct policy_key *key;
	size_t item;
	size_t file_number;
	unsigned int include_depth;
};

struct loader {
	struct policy *policy;
	struct policy_folders folders;
	size_t file_number;
	const char *shipped_name; /* the benchmark of the shipped file being read; NULL: user's */
	struct assignment *assignments;
	size_t assignment_count;
};

static void cleanup_loader(struct loader *loader)
{
	free(loader->assignments);
}

/* The table knows members by offset only, so their pointers are copied, never cast. */
static void *member_pointer(const struct policy *policy, size_t offset)
{
	void *pointer;
	memcpy(&pointer, (const char *)policy + offset, sizeof(pointer));
	return pointer;
}

static size_t item_count(const struct policy *policy, const struct policy_section *section)
{
	size_t count = 1;
	if (section->named)
		memcpy(&count, (const char *)policy + section->count_offset, sizeof(count));
	return count;
}

static void *item_at(struct policy *policy, const struct policy_section *section, size_t index)
{
	if (!section->named)
		return (char *)policy + section->offset;
	return (char *)member_pointer(policy, section->offset) + index * section->item_size;
}

static const char *item_name(const struct policy *policy, const struct policy_section *section,
			     size_t index)
{
	const char *item = member_pointer(policy, section->offset);
	const char *name;
	memcpy(&name, item + index * section->item_size, sizeof(name));
	return name;
}

static int set_defaults(const struct loader *loader, const struct policy_section *section,
			void *item, struct error *err)
{
	for (size_t i = 0; i < section->key_count; i++) {
		const struct policy_key *key = &section->keys[i];
		if (key->default_value &&
		    policy_value_store(key, key->default_value, &loader->folders, item, err) < 0)
			return error_prefix(err, "default of %s.%s", section->name, key->name);
	}
	return 0;
}

static int add_item(struct loader *loader, const struct policy_section *section, const char *name,
		    size_t *ret_index, struct error *err)
{
	struct policy *policy = loader->policy;
	size_t count = item_count(policy, section);
	if (!policy_name_is_valid(name))
		return error_set(err, ERROR_USAGE,
				 "the section's name must be 1 to 64 letters, digits and ._-, a "
				 "letter or digit first");
	if (count == item_limit)
		return error_set(err, ERROR_USAGE, "more than %zu sections [%s]", item_limit,
				 section->name);
	char *items = memory_resize(member_pointer(policy, section->offset), count + 1,
				    section->item_size);
	char *item = items + count * section->item_size;
	char *copy = text_copy(name);
	memset(item, 0, section->item_size);
	memcpy(item, &copy, sizeof(copy));
	memcpy((char *)policy + section->offset, &items, sizeof(items));
	*ret_index = count++;
	memcpy((char *)policy + section->count_offset, &count, sizeof(count));
	return set_defaults(loader, section, item, err);
}

static int find_or_add_item(struct loader *loader, const struct policy_section *section,
			    const char *name, size_t *ret_index, struct error *err)
{
	if (!section->named) {
		*ret_index = 0;
		return *name ? error_set(err, ERROR_USAGE, "the section takes no name: write [%s]",
					 section->name)
			     : 0;
	}
	for (size_t i = 0; i < item_count(loader->policy, section); i++)
		if (strcmp(item_name(loader->policy, section, i), name) == 0) {
			*ret_index = i;
			return 0;
		}
	return add_item(loader, section, name, ret_index, err);
}

static struct assignment *find_assignment(const struct loader *loader, const struct policy_key *key,
					  size_t item)
{
	for (size_t i = 0; i < loader->assignment_count; i++)
		if (loader->assignments[i].key == key && loader->assignments[i].item == item)
			return &loader->assignments[i];
	return NULL;
}

static int assign(struct loader *loader, const struct policy_section *section,
		  const struct policy_key *key, size_t item, const struct policy_entry *entry,
		  struct error *err)
{
	struct assignment *last = find_assignment(loader, key, item);
	bool again = last && last->file_number == loader->file_number;
	if (again && !policy_key_is_many(key) && last->include_depth == entry->include_depth)
		return error_set(err, ERROR_USAGE, "the key was set before in this file");
	if (!last) {
		loader->assignments =
			memory_resize(loader->assignments, loader->assignment_count + 1,
				      sizeof(*loader->assignments));
		last = &loader->assignments[loader->assignment_count++];
	}
	*last = (struct assignment){key, item, loader->file_number, entry->include_depth};
	void *target = item_at(loader->policy, section, item);
	if (!again && policy_key_is_many(key))
		policy_value_clear(key, target);
	return policy_value_store(key, entry->value, &loader->folders, target, err);
}

/* What is known instead of a wrong name; CANDIDATES has room for the final NULL. */
static int unknown_name(const char *what, const char *word, const char **candidates, size_t count,
			struct error *err)
{
	candidates[count] = NULL;
	const char *nearest = text_nearest(word, candidates);
	if (nearest)
		return error_set(err, ERROR_USAGE, "unknown %s; did you mean \"%s\"?", what,
				 nearest);
	auto_text struct text known = {0};
	for (size_t i = 0; i < count && known.length < 400; i++)
		text_printf(&known, "%s%s", i ? ", " : "", candidates[i]);
	return error_set(err, ERROR_USAGE, "unknown %s; known: %s.", what,
			 count ? known.data : "none");
}

static int unknown_section(const char *name, struct error *err)
{
	auto_free const char **names = memory_array(policy_section_count + 1, sizeof(*names));
	for (size_t i = 0; i < policy_section_count; i++)
		names[i] = policy_sections[i].name;
	return unknown_name("section", name, names, policy_section_count, err);
}

static int unknown_key(const struct policy_section *section, const char *name, struct error *err)
{
	const char *advice = policy_key_retired(section, name);
	if (advice)
		return error_set(err, ERROR_USAGE, "the key is no longer known: %s", advice);
	auto_free const char **names = memory_array(section->key_count + 1, sizeof(*names));
	for (size_t i = 0; i < section->key_count; i++)
		names[i] = section->keys[i].name;
	return unknown_name("key", name, names, section->key_count, err);
}

static int load_entry(const struct policy_entry *entry, void *context, struct error *err)
{
	struct loader *loader = context;
	const struct policy_section *section = policy_section_find(entry->section);
	if (!section)
		return unknown_section(entry->section, err);
	const struct policy_key *key = policy_key_find(section, entry->key);
	if (!key)
		return unknown_key(section, entry->key, err);
	if (section->named && !*entry->name)
		return error_set(err, ERROR_USAGE, "the section needs a name: write [%s \"%s\"]",
				 section->name, section->example_name);
	if (loader->shipped_name && (strcmp(section->name, "benchmark") != 0 ||
				     strcmp(entry->name, loader->shipped_name) != 0))
		return error_set(err, ERROR_USAGE,
				 "a shipped file holds only the section [benchmark \"%s\"]",
				 loader->shipped_name);
	size_t item = 0;
	if (find_or_add_item(loader, section, entry->name, &item, err) < 0)
		return -1;
	return assign(loader, section, key, item, entry, err);
}

static int check_required(const struct loader *loader, const struct policy_section *section,
			  size_t item, struct error *err)
{
	const char *name = section->named ? item_name(loader->policy, section, item) : "";
	for (size_t i = 0; i < section->key_count; i++) {
		const struct policy_key *key = &section->keys[i];
		if (key->required && !find_assignment(loader, key, item))
			return error_set(err, ERROR_USAGE, "[%s%s%s%s] %s is missing (%s)",
					 section->name, *name ? " \"" : "", name, *name ? "\"" : "",
					 key->name, key->help);
	}
	return 0;
}

static int load_shipped_file(struct loader *loader, const char *path, const char *name,
			     struct error *err)
{
	const struct policy_section *section = policy_section_find("benchmark");
	size_t before = loader->policy->benchmark_count;
	loader->file_number++;
	loader->shipped_name = name;
	int result = policy_file_read(path, load_entry, loader, err);
	loader->shipped_name = NULL;
	if (result < 0)
		return -1;
	if (loader->policy->benchmark_count == before)
		return error_set(err, ERROR_USAGE, "%s: has no section [benchmark \"%s\"]", path,
				 name);
	return check_required(loader, section, before, err) < 0 ? error_prefix(err, "%s", path) : 0;
}

static int is_policy_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".conf");
}

static int load_shipped(struct loader *loader, struct error *err)
{
	auto_free char *folder = text_format("%s/benchmarks", loader->folders.shipped);
	struct dirent **files;
	int count = scandir(folder, &files, is_policy_file, alphasort);
	if (count < 0)
		return error_errno(
			err, ERROR_USAGE,
			"cannot read the shipped benchmarks in %s; is Sentinel installed?", folder);
	int result = 0;
	for (int i = 0; i < count; i++) {
		auto_free char *path = text_format("%s/%s", folder, files[i]->d_name);
		auto_free char *name = text_copy(files[i]->d_name);
		name[strlen(name) - strlen(".conf")] = '\0';
		if (result == 0)
			result = load_shipped_file(loader, path, name, err);
		free(files[i]);
	}
	free(files);
	return result;
}

static int load_users(struct loader *loader, const char *path, struct error *err)
{
	loader->file_number++;
	if (policy_file_read(path, load_entry, loader, err) < 0)
		return -1;
	for (size_t i = 0; i < policy_section_count; i++)
		for (size_t j = 0; j < item_count(loader->policy, &policy_sections[i]); j++)
			if (check_required(loader, &policy_sections[i], j, err) < 0)
				return error_prefix(err, "%s", path);
	return policy_check(loader->policy, err) < 0 ? error_prefix(err, "%s", path) : 0;
}

static int load_all(struct loader *loader, const char *path, struct error *err)
{
	for (size_t i = 0; i < policy_section_count; i++)
		if (!policy_sections[i].named &&
		    set_defaults(loader, &policy_sections[i],
				 item_at(loader->policy, &policy_sections[i], 0), err) < 0)
			return -1;
	if (load_shipped(loader, err) < 0)
		return -1;
	return load_users(loader, path, err);
}

int policy_load(const char *path, const char *shipped_folder, struct policy *ret_policy,
		struct error *err)
{
	auto_policy struct policy policy = {.path = text_copy(path)};
	auto_free char *copy = text_copy(path);
	auto_free char *folder = realpath(dirname(copy), NULL);
	auto_free char *shipped = realpath(shipped_folder, NULL);
	if (!folder || !file_exists(path))
		return error_set(err, ERROR_USAGE,
				 "%s does not exist; \"sentinel init\" writes one to start from",
				 path);
	if (!shipped)
		return error_errno(err, ERROR_USAGE, "cannot find the shipped policies in %s",
				   shipped_folder);
	__attribute__((cleanup(cleanup_loader))) struct loader loader = {
		.policy = &policy, .folders = {.file = folder, .shipped = shipped}};
	policy_file_begin();
	int result = load_all(&loader, path, err);
	policy_file_end();
	if (result < 0)
		return -1;
	*ret_policy = policy;
	policy = (struct policy){0};
	return 0;
}

void policy_free(struct policy *policy)
{
	for (size_t i = 0; i < policy_section_count; i++) {
		const struct policy_section *section = &policy_sections[i];
		for (size_t j = 0; j < item_count(policy, section); j++) {
			void *item = item_at(policy, section, j);
			for (size_t k = 0; k < section->key_count; k++)
				policy_value_clear(&section->keys[k], item);
			if (section->named)
				free(*(char **)item);
		}
		if (section->named)
			free(member_pointer(policy, section->offset));
	}
	free(policy->path);
	*policy = (struct policy){0};
}

/* Index of the item with NAME, or -1 with *err set. */
static int find_item(const struct policy *policy, const char *section_name, const char *name,
		     size_t *ret_index, struct error *err)
{
	const struct policy_section *section = policy_section_find(section_name);
	size_t count = item_count(policy, section);
	auto_free const char **names = memory_array(count + 1, sizeof(*names));
	for (size_t i = 0; i < count; i++) {
		names[i] = item_name(policy, section, i);
		if (strcmp(names[i], name) == 0) {
			*ret_index = i;
			return 0;
		}
	}
	auto_free char *shown = text_one_line(name, 100);
	auto_free char *what = text_format("%s \"%s\"", section_name, shown);
	unknown_name(what, name, names, count, err);
	auto_free char *reason = text_copy(err ? err->message : "");
	return error_set(err, ERROR_USAGE, "%s Or add a section [%s] with its keys to %s", reason,
			 what, policy->path);
}

int policy_find_tree(const struct policy *policy, const char *name,
		     const struct policy_tree **ret_tree, struct error *err)
{
	size_t index = 0;
	if (find_item(policy, "tree", name, &index, err) < 0)
		return -1;
	*ret_tree = &policy->trees[index];
	return 0;
}

int policy_find_machine(const struct policy *policy, const char *name,
			const struct policy_machine **ret_machine, struct error *err)
{
	size_t index = 0;
	if (find_item(policy, "machine", name, &index, err) < 0)
		return -1;
	*ret_machine = &policy->machines[index];
	return 0;
}

int policy_find_benchmark(const struct policy *policy, const char *name,
			  const struct policy_benchmark **ret_benchmark, struct error *err)
{
	size_t index = 0;
	if (find_item(policy, "benchmark", name, &index, err) < 0)
		return -1;
	*ret_benchmark = &policy->benchmarks[index];
	return 0;
}
