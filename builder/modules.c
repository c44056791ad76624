/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/modules.h"

#include <errno.h>
#include <libkmod.h>
#include <string.h>

#include "builder/initramfs.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define DEPMOD_TIMEOUT_SECONDS 300.0
#define NAME_LIMIT_BYTES 100

/* The modules of one release and what was found out about them. */
struct module_set {
	const char *root;
	const char *release;
	struct kmod_ctx *context;
	struct string_list paths; /* in load order */
	struct string_list names;
};

/* libkmod's print_action takes no data of ours. */
static struct module_set *collecting;

static void cleanup_module(struct kmod_module **module)
{
	kmod_module_unref(*module);
}

static void cleanup_modules(struct kmod_list **list)
{
	kmod_module_unref_list(*list);
}

static bool contains(const struct string_list *list, const char *item)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], item))
			return true;
	return false;
}

static int run_depmod(const struct module_set *set, const char *depmod, struct error *err)
{
	const char *const argv[] = {depmod, "-b", set->root, set->release, NULL};
	struct process_command command = {.argv = argv,
					  .capture_limit_bytes = 10000,
					  .timeout_seconds = DEPMOD_TIMEOUT_SECONDS};
	auto_process_result struct process_result result = {0};
	char how[64];
	if (process_run(&command, &result, err) < 0)
		return -1;
	if (process_succeeded(&result))
		return 0;
	auto_free char *reason = text_one_line(result.stderr_bytes, 300);
	return error_set(err, ERROR_SYSTEM, "depmod for %s: %s: %s", set->release,
			 process_describe(&result, DEPMOD_TIMEOUT_SECONDS, how), reason);
}

/* A built-in module has no path. */
static void collect(struct kmod_module *module, bool by_command, const char *options)
{
	(void)options;
	const char *path = kmod_module_get_path(module);
	if (by_command || !path || contains(&collecting->paths, path))
		return;
	string_list_add(&collecting->paths, path);
	string_list_add(&collecting->names, kmod_module_get_name(module));
}

/* The dry run knows soft dependencies too; the host's own loaded modules must not count. */
static int add_wanted(struct module_set *set, const char *name, struct error *err)
{
	__attribute__((cleanup(cleanup_modules))) struct kmod_list *found = NULL;
	auto_free char *shown = text_one_line(name, NAME_LIMIT_BYTES);
	int code = strnlen(name, NAME_LIMIT_BYTES + 1) > NAME_LIMIT_BYTES
			   ? -EINVAL
			   : kmod_module_new_from_lookup(set->context, name, &found);
	if (code < 0 || !found)
		return error_set(
			err, ERROR_USAGE,
			"module \"%s\" is neither a module of kernel %s nor built into it; "
			"does a fragment ask for it?",
			shown, set->release);
	struct kmod_list *item;
	collecting = set;
	kmod_list_foreach (item, found) {
		__attribute__((cleanup(cleanup_module))) struct kmod_module *module =
			kmod_module_get_module(item);
		code = kmod_module_probe_insert_module(
			module, KMOD_PROBE_DRY_RUN | KMOD_PROBE_IGNORE_LOADED, NULL, NULL, NULL,
			collect);
		if (code < 0)
			break;
	}
	collecting = NULL;
	if (code < 0)
		return error_set(err, ERROR_STATE, "cannot resolve module \"%s\" of kernel %s: %s",
				 shown, set->release, strerror(-code));
	return 0;
}

/* DEPENDS is "a,b": each must be loaded before, or be built in. */
static int check_depends(const struct module_set *set, const char *depends, size_t position,
			 struct error *err)
{
	auto_free char *copy = text_copy(depends);
	char *rest = NULL;
	for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		bool before = false;
		for (size_t i = 0; i < position; i++)
			before |= strcmp(set->names.items[i], name) == 0;
		__attribute__((cleanup(cleanup_module))) struct kmod_module *module = NULL;
		if (before)
			continue;
		if (kmod_module_new_from_name(set->context, name, &module) < 0 ||
		    kmod_module_get_initstate(module) != KMOD_MODULE_BUILTIN)
			return error_set(err, ERROR_STATE,
					 "module %s needs %s, which is not loaded before it",
					 set->names.items[position], name);
	}
	return 0;
}

static int check_information(const struct module_set *set, const struct kmod_list *information,
			     size_t position, struct error *err)
{
	const struct kmod_list *item;
	bool fits = false;
	size_t length = strlen(set->release);
	kmod_list_foreach (item, information) {
		const char *key = kmod_module_info_get_key(item);
		const char *value = kmod_module_info_get_value(item);
		if (!strcmp(key, "vermagic"))
			fits = !strncmp(value, set->release, length) && value[length] == ' ';
		if (!strcmp(key, "depends") && check_depends(set, value, position, err) < 0)
			return -1;
	}
	if (!fits)
		return error_set(err, ERROR_STATE, "module %s was not built for kernel %s",
				 set->paths.items[position], set->release);
	return 0;
}

static int check_module(const struct module_set *set, size_t position, struct error *err)
{
	__attribute__((cleanup(cleanup_module))) struct kmod_module *module = NULL;
	struct kmod_list *information = NULL;
	const char *path = set->paths.items[position];
	if (kmod_module_new_from_path(set->context, path, &module) < 0 ||
	    kmod_module_get_info(module, &information) < 0)
		return error_set(err, ERROR_STATE, "%s cannot be read as a module", path);
	int status = check_information(set, information, position, err);
	kmod_module_info_free_list(information);
	return status;
}

static int write_part(const struct module_set *set, const char *cpio_path, struct error *err)
{
	auto_initramfs struct initramfs *part = NULL;
	auto_text struct text list = {0};
	size_t root_length = strlen(set->root);
	if (initramfs_create(cpio_path, &part, err) < 0)
		return -1;
	for (size_t i = 0; i < set->paths.count; i++) {
		const char *path = set->paths.items[i];
		const char *inside = path + root_length;
		if (!text_starts_with(path, set->root) || inside[0] != '/')
			return error_set(err, ERROR_STATE, "module %s lies outside %s", path,
					 set->root);
		if (initramfs_add_file(part, inside + 1, path, 0644, err) < 0)
			return -1;
		text_printf(&list, "%s\n", inside);
	}
	if (initramfs_add_bytes(part, MODULES_LOAD_LIST, list.data, list.length, 0644, err) < 0)
		return -1;
	return initramfs_finish(&part, err);
}

static int resolve(struct module_set *set, const struct string_list *wanted, struct error *err)
{
	/* An empty list of configuration files: what this host blacklists is no matter here. */
	const char *const no_files = NULL;
	auto_free char *folder = text_format("%s/lib/modules/%s", set->root, set->release);
	set->context = kmod_new(folder, &no_files);
	if (!set->context || kmod_load_resources(set->context) < 0)
		return error_set(err, ERROR_STATE, "%s holds no index of modules", folder);
	for (size_t i = 0; i < wanted->count; i++)
		if (add_wanted(set, wanted->items[i], err) < 0)
			return -1;
	for (size_t i = 0; i < set->paths.count; i++)
		if (check_module(set, i, err) < 0)
			return -1;
	return 0;
}

int modules_pack(const char *root, const char *release, const struct string_list *wanted,
		 const char *depmod, const char *cpio_path, bool *ret_written, struct error *err)
{
	auto_free char *absolute = realpath(root, NULL);
	if (!absolute)
		return error_errno(err, ERROR_SYSTEM, "cannot find %s", root);
	struct module_set set = {.root = absolute, .release = release};
	int status = run_depmod(&set, depmod, err);
	if (status == 0)
		status = resolve(&set, wanted, err);
	if (status == 0 && set.paths.count)
		status = write_part(&set, cpio_path, err);
	if (status == 0)
		*ret_written = set.paths.count > 0;
	if (set.context)
		kmod_unref(set.context);
	string_list_free(&set.paths);
	string_list_free(&set.names);
	return status;
}
