/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builder/kernel_image.h"

#include <fcntl.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define MAGIC_OFFSET 0x202
#define POINTER_OFFSET 0x20e
#define POINTER_BASE 0x200
#define HEADER_BYTES 0x210
#define TEXT_BYTES 512
#define RELEASE_LIMIT 64

static const char release_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+~-";

static int refuse(const char *path, struct error *err)
{
	return error_set(err, ERROR_STATE, "%s is not a kernel image (bzImage)", path);
}

/* "6.1.0 (user@host) #1 SMP date" */
int kernel_image_identity(const char *path, char **ret_release, char **ret_version,
			  struct error *err)
{
	unsigned char header[HEADER_BYTES];
	char text[TEXT_BYTES + 1] = "";
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header + MAGIC_OFFSET, "HdrS", 4) != 0)
		return refuse(path, err);
	off_t offset = POINTER_BASE + header[POINTER_OFFSET] + 256 * header[POINTER_OFFSET + 1];
	if (pread(fd, text, TEXT_BYTES, offset) <= 0)
		return refuse(path, err);
	size_t length = strspn(text, release_characters);
	const char *version = strstr(text, ") #");
	if (!length || length > RELEASE_LIMIT || text[0] == '.' || text[length] != ' ' || !version)
		return refuse(path, err);
	*ret_release = text_format("%.*s", (int)length, text);
	*ret_version = text_one_line(version + 2, TEXT_BYTES);
	return 0;
}
