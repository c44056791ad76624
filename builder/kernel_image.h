/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_KERNEL_IMAGE_H
#define SENTINEL_BUILDER_KERNEL_IMAGE_H

#include "sentinel/base/error.h"

/*
 * What a bzImage says about itself in its setup header (Documentation/arch/x86/boot.rst, field
 * kernel_version): the uname release and version. The release is safe in paths. The caller frees
 * both. ERROR_STATE when PATH is no such image.
 */
int kernel_image_identity(const char *path, char **ret_release, char **ret_version,
			  struct error *err);

#endif
