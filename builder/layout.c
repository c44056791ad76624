/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/layout.h"

#include "sentinel/base/cleanup.h"

/* Part of an artifact's key: never change one, append. */
static const char *const flags[] = {
	"",
	"-falign-functions=32",
	"-falign-functions=64 -falign-loops=16",
	"-falign-functions=32 -falign-jumps=16 -falign-loops=32",
	"-falign-functions=64 -falign-jumps=32",
	"-falign-functions=128",
	"-falign-functions=16 -falign-jumps=16 -falign-loops=16",
	"-falign-functions=128 -falign-jumps=16 -falign-loops=32",
};
_Static_assert(array_length(flags) == LAYOUT_COUNT, "every layout has its options");

int layout_flags(size_t layout, const char **ret_flags, struct error *err)
{
	if (layout >= LAYOUT_COUNT)
		return error_set(err, ERROR_USAGE, "there is no layout %zu, only 0 to %d", layout,
				 LAYOUT_COUNT - 1);
	*ret_flags = flags[layout];
	return 0;
}
