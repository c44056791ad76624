/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/extract.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/* Enough for any sane rule on the longest stream we keep; a runaway one ends in milliseconds. */
#define MATCH_STEPS_LIMIT 100000
#define MATCH_DEPTH_LIMIT 20000
#define MATCH_HEAP_LIMIT_KIB (32 * 1024)

#define NUMBER_LIMIT_BYTES 63
#define QUOTED_LINE_LIMIT_BYTES 160

static const char *const fault_names[] = {
	[EXTRACT_OK] = "ok",
	[EXTRACT_FAILED] = "failed",
	[EXTRACT_INTERRUPTED] = "interrupted",
	[EXTRACT_LOAD_MISMATCH] = "load-mismatch",
	[EXTRACT_INCOMPLETE] = "incomplete",
	[EXTRACT_IMPLAUSIBLE] = "implausible",
	[EXTRACT_TRUNCATED] = "truncated",
};

const char *extract_fault_name(enum extract_fault fault)
{
	return fault_names[fault];
}

/* One compiled rule and the result of its last search. */
struct matcher {
	const char *benchmark;
	const char *pattern;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static void matcher_close(struct matcher *matcher)
{
	pcre2_match_context_free(matcher->limits);
	pcre2_match_data_free(matcher->data);
	pcre2_code_free(matcher->code);
}
#define auto_matcher auto_cleanup(matcher_close)

static int pattern_error(const struct matcher *matcher, int code, struct error *err)
{
	PCRE2_UCHAR reason[256] = "";
	pcre2_get_error_message(code, reason, sizeof(reason));
	return error_set(err, code == PCRE2_ERROR_NOMEMORY ? ERROR_SYSTEM : ERROR_USAGE,
			 "benchmark \"%s\": pattern \"%s\": %s", matcher->benchmark,
			 matcher->pattern, (const char *)reason);
}

/* MATCHER borrows both texts and is to be closed even after a failure. */
static int matcher_open(struct matcher *matcher, const char *benchmark, const char *pattern,
			struct error *err)
{
	int code = 0;
	PCRE2_SIZE offset = 0;
	*matcher = (struct matcher){.benchmark = benchmark, .pattern = pattern};
	matcher->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
				      PCRE2_MULTILINE | PCRE2_NEVER_UTF, &code, &offset, NULL);
	if (!matcher->code) {
		pattern_error(matcher, code, err);
		return error_prefix(err, "at character %zu", offset + 1);
	}
	matcher->data = pcre2_match_data_create_from_pattern(matcher->code, NULL);
	matcher->limits = pcre2_match_context_create(NULL);
	if (!matcher->data || !matcher->limits)
		return pattern_error(matcher, PCRE2_ERROR_NOMEMORY, err);
	pcre2_set_match_limit(matcher->limits, MATCH_STEPS_LIMIT);
	pcre2_set_depth_limit(matcher->limits, MATCH_DEPTH_LIMIT);
	pcre2_set_heap_limit(matcher->limits, MATCH_HEAP_LIMIT_KIB);
	return 0;
}

static int matcher_find(struct matcher *matcher, const char *text, size_t offset, bool *ret_found,
			struct error *err)
{
	int code = pcre2_match(matcher->code, (PCRE2_SPTR)text, strlen(text), offset, 0,
			       matcher->data, matcher->limits);
	if (code < 0 && code != PCRE2_ERROR_NOMATCH)
		return pattern_error(matcher, code, err);
	*ret_found = code >= 0;
	return 0;
}

static size_t match_start(const struct matcher *matcher)
{
	return pcre2_get_ovector_pointer(matcher->data)[0];
}

static int find_in_streams(struct matcher *matcher, const struct run_result *run,
			   const char **ret_stream, struct error *err)
{
	const char *streams[] = {run->stdout_text, run->stderr_text};
	for (size_t i = 0; i < array_length(streams); i++) {
		bool found = false;
		if (matcher_find(matcher, streams[i], 0, &found, err))
			return -1;
		if (found) {
			*ret_stream = streams[i];
			return 0;
		}
	}
	*ret_stream = NULL;
	return 0;
}

static void set_fault(struct extracted *extracted, enum extract_fault fault, const char *evidence)
{
	auto_free char *line = text_one_line(evidence, sizeof(extracted->evidence) - 1);
	*extracted = (struct extracted){.fault = fault};
	snprintf(extracted->evidence, sizeof(extracted->evidence), "%s", line);
}

/* The line that holds the byte at OFFSET. The caller frees it. */
static char *line_at(const char *text, size_t offset)
{
	const char *newline = memrchr(text, '\n', offset);
	const char *start = newline ? newline + 1 : text;
	size_t length = strcspn(start, "\n");
	if (length > QUOTED_LINE_LIMIT_BYTES)
		length = QUOTED_LINE_LIMIT_BYTES;
	struct text line = {0};
	text_append_bytes(&line, start, length);
	return text_take(&line);
}

/* What a program says last, on stderr if it says anything there, is mostly why it failed. */
static char *last_line(const struct run_result *run)
{
	const char *streams[] = {run->stderr_text, run->stdout_text};
	for (size_t i = 0; i < array_length(streams); i++)
		for (size_t end = strlen(streams[i]); end > 0; end--)
			if (!strchr("\r\n\t ", streams[i][end - 1]))
				return line_at(streams[i], end - 1);
	return text_copy("(no output)");
}

static void check_ending(const struct policy_benchmark *benchmark, const struct run_result *run,
			 struct extracted *extracted)
{
	auto_text struct text evidence = {0};
	if (run->timed_out)
		text_printf(&evidence,
			    "no end within %lld s: ", (long long)benchmark->timeout_seconds);
	else if (run->signal_number)
		text_printf(&evidence, "signal %d: ", run->signal_number);
	else if (run->exit_code)
		text_printf(&evidence, "exit code %d: ", run->exit_code);
	if (evidence.length) {
		auto_free char *line = last_line(run);
		text_append(&evidence, line);
		set_fault(extracted, EXTRACT_FAILED, evidence.data);
	} else if (run->truncated) {
		set_fault(extracted, EXTRACT_TRUNCATED, "output is longer than what is kept");
	}
}

static int check_rejected(const struct policy_benchmark *benchmark, const struct run_result *run,
			  struct extracted *extracted, struct error *err)
{
	for (size_t i = 0; i < benchmark->reject.count; i++) {
		auto_matcher struct matcher matcher = {0};
		const char *stream = NULL;
		if (matcher_open(&matcher, benchmark->name, benchmark->reject.items[i], err) ||
		    find_in_streams(&matcher, run, &stream, err))
			return -1;
		if (stream) {
			auto_free char *line = line_at(stream, match_start(&matcher));
			set_fault(extracted, EXTRACT_INTERRUPTED, line);
			return 0;
		}
	}
	return 0;
}

static int check_required(const struct policy_benchmark *benchmark, const struct policy_case *cell,
			  const struct run_result *run, struct extracted *extracted,
			  struct error *err)
{
	for (size_t i = 0; i < benchmark->require.count; i++) {
		auto_free char *pattern = NULL;
		auto_matcher struct matcher matcher = {0};
		const char *stream = NULL;
		if (policy_fill(benchmark->require.items[i], cell, &pattern, err) ||
		    matcher_open(&matcher, benchmark->name, pattern, err) ||
		    find_in_streams(&matcher, run, &stream, err))
			return -1;
		if (!stream) {
			auto_free char *evidence = text_format("nothing matches \"%s\"", pattern);
			set_fault(extracted, EXTRACT_LOAD_MISMATCH, evidence);
			return 0;
		}
	}
	return 0;
}

/* One unit in the last printed place of a decimal number that strtod has accepted. */
static double printed_resolution(const char *number)
{
	const char *exponent = strpbrk(number, "eE");
	const char *point = strchr(number, '.');
	long power = exponent ? strtol(exponent + 1, NULL, 10) : 0;
	if (point)
		power -= (long)strspn(point + 1, "0123456789");
	return pow(10, (double)power);
}

/*
 * Plain decimal only: strtod alone would take "nan", "inf" and hexadecimal, and read "1,5" as 1 or
 * as 1.5, depending on the locale that some library has set.
 */
static void parse_number(const char *bytes, size_t length, struct extracted *extracted)
{
	char number[NUMBER_LIMIT_BYTES + 1] = "";
	char *end = number;
	double value = 0;
	if (length < sizeof(number)) {
		memcpy(number, bytes, length);
		locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		value = strtod_l(number, &end, plain);
		freelocale(plain);
	}
	if (length < sizeof(number) && strspn(number, "0123456789.eE+-") == length && !*end &&
	    isfinite(value) && value > 0) {
		extracted->value = value;
		extracted->resolution = printed_resolution(number);
		return;
	}
	auto_text struct text evidence = {0};
	text_append(&evidence, "not a positive decimal number: \"");
	text_append_bytes(&evidence, bytes,
			  length < QUOTED_LINE_LIMIT_BYTES ? length : QUOTED_LINE_LIMIT_BYTES);
	text_append(&evidence, "\"");
	set_fault(extracted, EXTRACT_IMPLAUSIBLE, evidence.data);
}

static int number_group(const struct matcher *matcher, uint32_t *ret_group, struct error *err)
{
	uint32_t groups = 0;
	pcre2_pattern_info(matcher->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	int named = pcre2_substring_number_from_name(matcher->code, (PCRE2_SPTR) "value");
	if (!groups || (named < 0 && named != PCRE2_ERROR_NOSUBSTRING))
		return error_set(err, ERROR_USAGE,
				 "benchmark \"%s\": pattern \"%s\": put the number in a group, "
				 "\"(...)\" or one \"(?<value>...)\"",
				 matcher->benchmark, matcher->pattern);
	*ret_group = named > 0 ? (uint32_t)named : 1;
	return 0;
}

/* Looks behind the match that MATCHER holds in STREAM. */
static int find_second(struct matcher *matcher, const char *stream, bool *ret_found,
		       struct error *err)
{
	const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(matcher->data);
	size_t next = ovector[1] > ovector[0] ? ovector[1] : ovector[0] + 1;
	*ret_found = false;
	return next <= strlen(stream) ? matcher_find(matcher, stream, next, ret_found, err) : 0;
}

static int read_number(const struct policy_benchmark *benchmark, const struct run_result *run,
		       struct extracted *extracted, struct error *err)
{
	auto_matcher struct matcher matcher = {0};
	const char *stream = NULL;
	uint32_t group = 0;
	if (matcher_open(&matcher, benchmark->name, benchmark->pattern, err) ||
	    number_group(&matcher, &group, err) || find_in_streams(&matcher, run, &stream, err))
		return -1;
	if (!stream) {
		auto_free char *evidence =
			text_format("no number: nothing matches \"%s\"", benchmark->pattern);
		set_fault(extracted, EXTRACT_INCOMPLETE, evidence);
		return 0;
	}
	const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(matcher.data);
	PCRE2_SIZE start = ovector[2 * (size_t)group];
	PCRE2_SIZE end = ovector[2 * (size_t)group + 1];
	bool second = false;
	if (find_second(&matcher, stream, &second, err))
		return -1;
	if (second) {
		auto_free char *line = line_at(stream, match_start(&matcher));
		auto_free char *evidence = text_format("more than one number: \"%s\"", line);
		set_fault(extracted, EXTRACT_INCOMPLETE, evidence);
	} else if (start == PCRE2_UNSET) {
		set_fault(extracted, EXTRACT_INCOMPLETE, "the line is there without its number");
	} else {
		parse_number(stream + start, end - start, extracted);
	}
	return 0;
}

int extract_number(const struct policy_benchmark *benchmark, const struct policy_case *cell,
		   const struct run_result *run, struct extracted *ret_extracted, struct error *err)
{
	struct extracted extracted = {.fault = EXTRACT_OK};
	check_ending(benchmark, run, &extracted);
	if (extracted.fault == EXTRACT_OK && check_rejected(benchmark, run, &extracted, err))
		return -1;
	if (extracted.fault == EXTRACT_OK && check_required(benchmark, cell, run, &extracted, err))
		return -1;
	if (extracted.fault == EXTRACT_OK && read_number(benchmark, run, &extracted, err))
		return -1;
	*ret_extracted = extracted;
	return 0;
}
