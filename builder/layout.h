/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BUILDER_LAYOUT_H
#define SENTINEL_BUILDER_LAYOUT_H

/*
 * The same source with another placement of its functions. One binary is one sample of the space of
 * layouts, however often it is run (Curtsinger and Berger, STABILIZER, ASPLOS 2013); several
 * layouts tell a change of the code from a change of where it happens to lie.
 *
 * gcc places functions, jumps and loops by these options only where it optimizes for speed: a
 * kernel that is built for size has the same image in every layout, which is seen by its digest.
 */

#include <stddef.h>

#include "sentinel/base/error.h"

enum { LAYOUT_COUNT = 8 }; /* layout 0 is the plain build */

/* What is appended to the compiler's options, static text; "" for layout 0. ERROR_USAGE when there
   is no such layout. */
int layout_flags(size_t layout, const char **ret_flags, struct error *err);

#endif
