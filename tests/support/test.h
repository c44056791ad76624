/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_TESTS_SUPPORT_TEST_H
#define SENTINEL_TESTS_SUPPORT_TEST_H

/* cmocka wants these four before it; tests include this header first and not cmocka itself. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka 1.1 compares floats only. Absolute tolerance. */
#define assert_close(actual, expected, tolerance)                                                  \
	do {                                                                                       \
		double actual_value = (actual);                                                    \
		double expected_value = (expected);                                                \
		if (!(fabs(actual_value - expected_value) <= (tolerance)))                         \
			fail_msg("%s = %.12g, expected %.12g", #actual, actual_value,              \
				 expected_value);                                                  \
	} while (0)

/* A call that must succeed; shows the error's message when it does not. */
#define assert_ok(call, err)                                                                       \
	do {                                                                                       \
		if ((call) != 0)                                                                   \
			fail_msg("%s: %s", #call, (err)->message);                                 \
	} while (0)

#define assert_contains(haystack, needle)                                                          \
	do {                                                                                       \
		if (!strstr((haystack), (needle)))                                                 \
			fail_msg("\"%s\" not found in \"%s\"", (needle), (haystack));              \
	} while (0)

/* A fresh folder below $TMPDIR that make_scratch made; remove_scratch takes it away again. */
static inline char *make_scratch(void)
{
	const char *base = getenv("TMPDIR");
	char path[4096];
	snprintf(path, sizeof(path), "%s/sentinel-test-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(path))
		fail_msg("mkdtemp %s failed", path);
	return strdup(path);
}

#endif
