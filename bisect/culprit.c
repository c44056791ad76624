/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/culprit.h"

#include <stdlib.h>

static const char *const kind_names[] = {
	[HUNT_CULPRIT] = "culprit",
	[HUNT_SET] = "set",
	[HUNT_NOT_REPRODUCIBLE] = "not-reproducible",
	[HUNT_CANNOT_TELL] = "cannot-tell",
};

void hunt_answer_free(struct hunt_answer *answer)
{
	free(answer->set);
	*answer = (struct hunt_answer){0};
}

const char *hunt_answer_kind_name(enum hunt_answer_kind kind)
{
	return kind_names[kind];
}
