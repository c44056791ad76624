/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/night.h"

int cmd_judge(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	      struct error *err)
{
	char head[OBJECT_ID_SIZE];
	auto_cleanup(store_night_free) struct store_night night = {0};
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    context_resolve(context, arguments->operands[0], head, err) < 0 ||
	    night_find_unfinished(context, "judge", &night, err) < 0)
		return -1;
	if (night.id && strcmp(night.head, head) != 0)
		store_night_free(&night);
	if (!night.id && night_begin(context, "judge", head, &night, err) < 0)
		return -1;
	if (conductor_night(context, &night, err) < 0)
		return -1;
	context_tell_time(context);
	*ret_exit_code = night_is_bad(&night) ? EXIT_REGRESSION : 0;
	return night_print(context, &night, err);
}
