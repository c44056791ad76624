/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BISECT_HUNT_ANSWER_H
#define SENTINEL_BISECT_HUNT_ANSWER_H

/* From a view of the events to what is said about them. Pure. */

#include "bisect/culprit.h"
#include "bisect/hunt_view.h"

/* REASON is static text. The caller frees the answer with hunt_answer_free. */
void hunt_answer_state(const struct hunt_view *view, enum hunt_answer_kind kind, const char *reason,
		       struct hunt_answer *ret_answer);

#endif
