/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_MODULES_H
#define SENTINEL_BUILDER_MODULES_H

/* The modules that the guest loads, found and ordered by libkmod. */

#include <stdbool.h>

#include "policies/policy.h"
#include "sentinel/base/error.h"

/* In the archive: absolute paths of the modules in load order, one a line. */
#define MODULES_LOAD_LIST "sentinel/modules.load"

/*
 * ROOT/lib/modules/RELEASE is as modules_install left it. Runs depmod, resolves WANTED with all
 * dependencies, proves that each module was built for RELEASE and that its dependencies precede it,
 * and writes an initramfs part with these modules and the load list to CPIO_PATH; *ret_written is
 * false, and there is no file, when nothing has to be loaded (all built in, or none wanted).
 * ERROR_USAGE names a wanted module that is neither a module nor built in; ERROR_STATE one that
 * does not fit.
 */
int modules_pack(const char *root, const char *release, const struct string_list *wanted,
		 const char *depmod, const char *cpio_path, bool *ret_written, struct error *err);

#endif
