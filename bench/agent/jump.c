/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/agent/agent.h"
#include "bench/channel.h"
#include "sentinel/base/cleanup.h"

int jump_load(const char *arguments, struct error *err)
{
	auto_close int image = open(AGENT_SUSPECT_IMAGE_PATH, O_RDONLY | O_CLOEXEC);
	auto_close int initrd = open(AGENT_SUSPECT_INITRD_PATH, O_RDONLY | O_CLOEXEC);
	if (image < 0 || initrd < 0)
		return error_errno(err, ERROR_STATE, "the suspect image or its initrd is missing");
	/* The length counts the terminating NUL. */
	if (syscall(SYS_kexec_file_load, image, initrd, strlen(arguments) + 1, arguments, 0UL) < 0)
		return error_errno(err, ERROR_STATE, "kexec_file_load refused the suspect image");
	return 0;
}

int jump_execute(struct error *err)
{
	reboot((int)LINUX_REBOOT_CMD_KEXEC);
	return error_errno(err, ERROR_STATE, "the jump into the loaded image failed");
}
