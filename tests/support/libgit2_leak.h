/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_TESTS_SUPPORT_LIBGIT2_LEAK_H
#define SENTINEL_TESTS_SUPPORT_LIBGIT2_LEAK_H

/* For tests that let libgit2 match patterns; read by the leak sanitizer. */

/* libgit2 1.5.1 forgets PCRE2's match data whenever a pattern does not match. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2-8";
}

#endif
