/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/fano.h"

#include <math.h>

#include "bisect/search.h"

#define ERROR_SHARE 0.01
/* Beyond it a boot tells a whole bit, to the last digit. */
#define DISTANCE_LIMIT 30.0

double fano_boots(size_t commits, double distance)
{
	double surprise =
		-ERROR_SHARE * log2(ERROR_SHARE) - (1 - ERROR_SHARE) * log2(1 - ERROR_SHARE);
	double bits = (1 - ERROR_SHARE) * log2((double)commits) - surprise;
	return fmax(0, bits) / search_information(0.5, fmin(distance, DISTANCE_LIMIT));
}
