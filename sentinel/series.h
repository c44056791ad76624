/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_SERIES_H
#define SENTINEL_SERIES_H

/* Stored boots as the values of series, and which of them may be compared at all. Pure. */

#include <stdbool.h>
#include <stddef.h>

#include "sentinel/base/error.h"
#include "bench/verdict.h"
#include "sentinel/store.h"

/* The boot values of one series, in order of sequence. */
struct series_boots {
	const char *series; /* of the first store_boot; not owned */
	const char *unit;
	bool higher_is_better;
	double *values; /* log scale, more is worse; owned */
	double *means;  /* the same boots as plain means in UNIT; owned */
	size_t count;
	bool layout[VERDICT_LAYOUTS_LIMIT]; /* is it among them? */
	double deviation_floor;             /* of one boot value: from the printed resolution */
};

/* All series in BOOTS, in the order in which they first appear. Boots without a valid sample are
   left out; boot values are made without knowledge of the series' noise. Free with series_free. */
void series_group(const struct store_boot *boots, size_t count, struct series_boots **ret_series,
		  size_t *ret_count);
void series_free(struct series_boots *series, size_t count);
/* How many builds of the commit they are from. */
size_t series_layouts(const struct series_boots *series);
const struct series_boots *series_find(const struct series_boots *series, size_t count,
				       const char *name);

/* The valid values on the log scale, more is worse; the caller frees them. */
double *series_badness(const struct store_boot *boot);
/* WITHIN: the deviation between the iterations of a boot, 0: not known. It has a valid value. */
double series_boot_value(const struct store_boot *boot, double within);
/* The least deviation of a boot value: what the coarsest of BOOTS was rounded to. */
double series_floor(const struct store_boot *boots, size_t count);

/* Numbers of one benchmark and case, which come from the same runs. */
bool series_same_case(const char *a, const char *b);

/* What keeps two boots from being compared, in words; NULL: nothing. */
const char *series_difference(const struct store_boot *a, const struct store_boot *b);
/* ERROR_USAGE when two boots have another identity, or two of one series another command line or
   program: they must not be compared. */
int series_check_alike(const struct store_boot *boots, size_t count, const char *what,
		       struct error *err);
/* The same over both sides of a comparison. */
int series_check_sides(const struct store_boot *a, size_t a_count, const struct store_boot *b,
		       size_t b_count, const char *what, struct error *err);

#endif
