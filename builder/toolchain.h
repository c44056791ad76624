/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_TOOLCHAIN_H
#define SENTINEL_BUILDER_TOOLCHAIN_H

/* The programs of this host that build a kernel. */

#include "sentinel/base/error.h"

struct toolchain {
	char *text;     /* for people: "gcc 12.2.0, ld 2.40"; owned */
	char *identity; /* full version lines: part of an artifact's key; owned */
	char *compiler; /* make's CC: "ccache gcc" when ccache is there, or "gcc"; owned */
	char *depmod;   /* path; owned */
};

/* ERROR_SYSTEM names every missing program and the packages to install, or a compiler that does
   not make x86-64 code. */
int toolchain_detect(struct toolchain *ret_toolchain, struct error *err);
void toolchain_free(struct toolchain *toolchain);
#define auto_toolchain __attribute__((cleanup(toolchain_free)))

#endif
