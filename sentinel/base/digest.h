/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_DIGEST_H
#define SENTINEL_BASE_DIGEST_H

#include <stddef.h>

#include "sentinel/base/error.h"

/* SHA-256 (FIPS 180-4) in lower-case hexadecimal, terminated. */
#define DIGEST_SIZE 65

struct digest {
	char hex[DIGEST_SIZE];
};

void digest_bytes(const void *bytes, size_t length, struct digest *ret_digest);
void digest_text(const char *text, struct digest *ret_digest);
int digest_file(const char *path, struct digest *ret_digest, struct error *err);

#endif
