/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_PROGRAM_LIBRARIES_H
#define SENTINEL_BUILDER_PROGRAM_LIBRARIES_H

#include "policies/policy.h"
#include "sentinel/base/error.h"

/*
 * Adds to *LIBRARIES the absolute paths of the dynamic loader and of every shared library that the
 * ELF program at PATH needs, as its own loader finds them here. None for a static program.
 * ERROR_SYSTEM names a library that is missing, or a program that is no 64-bit ELF file.
 */
int program_libraries(const char *path, struct string_list *libraries, struct error *err);

#endif
