/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/command.h"

int cmd_init(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	     struct error *err)
{
	(void)ret_exit_code;
	if (argument_value(arguments, "--list")) {
		auto_free char *keys = policy_key_list();
		fputs(keys, stdout);
		return 0;
	}
	if (file_exists(context->config_path) && !argument_value(arguments, "--force"))
		return error_set(err, ERROR_USAGE,
				 "%s exists; edit it, or replace it with sentinel init --force",
				 context->config_path);
	auto_free char *example = policy_example();
	if (file_write_durable(context->config_path, example, strlen(example), err) < 0)
		return -1;
	printf("wrote %s; edit it, then run \"sentinel doctor\"\n", context->config_path);
	return 0;
}
