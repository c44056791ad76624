/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"

static void to_hex(const unsigned char raw[32], struct digest *ret_digest)
{
	static const char digits[] = "0123456789abcdef";
	for (int i = 0; i < 32; i++) {
		ret_digest->hex[2 * i] = digits[raw[i] >> 4];
		ret_digest->hex[2 * i + 1] = digits[raw[i] & 15];
	}
	ret_digest->hex[64] = '\0';
}

void digest_bytes(const void *bytes, size_t length, struct digest *ret_digest)
{
	unsigned char raw[32] = {0};
	EVP_Digest(bytes, length, raw, NULL, EVP_sha256(), NULL);
	to_hex(raw, ret_digest);
}

void digest_text(const char *text, struct digest *ret_digest)
{
	digest_bytes(text, strlen(text), ret_digest);
}

static void cleanup_context(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}

int digest_file(const char *path, struct digest *ret_digest, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot open %s", path);
	auto_cleanup(cleanup_context) EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
		return error_set(err, ERROR_SYSTEM, "libcrypto offers no SHA-256");
	char buffer[65536];
	ssize_t got;
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		EVP_DigestUpdate(context, buffer, (size_t)got);
	if (got < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot read %s", path);
	unsigned char raw[32];
	EVP_DigestFinal_ex(context, raw, NULL);
	to_hex(raw, ret_digest);
	return 0;
}
