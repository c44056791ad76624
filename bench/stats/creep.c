/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/stats/creep.h"

#include <math.h>

#define ALLOWANCE 0.5
#define CLIP 3.0
#define LIMIT 8.0

void creep_watch(const double *nights, size_t count, const struct creep_level *level,
		 double deviation, struct creep *ret_creep)
{
	double scale = deviation * sqrt(1 + 1 / level->nights);
	struct creep creep = {0};
	for (size_t i = 0; i < count; i++) {
		double z = (nights[i] - level->location) / scale;
		creep.sum = fmax(0, creep.sum + fmax(-CLIP, fmin(CLIP, z)) - ALLOWANCE);
		if (!creep.flagged && creep.sum > LIMIT) {
			creep.flagged = true;
			creep.night = i;
		}
	}
	*ret_creep = creep;
}
