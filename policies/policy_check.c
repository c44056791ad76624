/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policies/policy_check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "policies/policy_values.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static int check_benchmark(const struct policy_benchmark *benchmark, struct error *err)
{
	struct policy_case *cases = NULL;
	size_t count = 0;
	if (!benchmark->command[strspn(benchmark->command, " ")])
		return error_set(err, ERROR_USAGE, "[benchmark \"%s\"] command is blank",
				 benchmark->name);
	/* It stands in the names of series. */
	if (!policy_name_is_valid(benchmark->metric))
		return error_set(err, ERROR_USAGE,
				 "[benchmark \"%s\"] metric = \"%.80s\": must be 1 to 64 letters, "
				 "digits and ._-",
				 benchmark->name, benchmark->metric);
	if (policy_benchmark_cases(benchmark, &cases, &count, err) < 0)
		return -1;
	/* All cells have the same parameters, so the first one stands for all. */
	int result = 0;
	for (size_t i = 0; i < benchmark->require.count && result == 0; i++) {
		auto_free char *pattern = NULL;
		result = policy_fill(benchmark->require.items[i], &cases[0], &pattern, err);
	}
	policy_cases_free(cases, count);
	return result < 0 ? error_prefix(err, "benchmark %s: require", benchmark->name) : 0;
}

static int check_night_benchmarks(const struct policy *policy, struct error *err)
{
	const struct string_list *names = &policy->night.benchmarks;
	if (!names->count)
		return error_set(err, ERROR_USAGE, "[night] benchmarks: names none");
	for (size_t i = 0; i < names->count; i++) {
		const struct policy_benchmark *benchmark;
		if (policy_find_benchmark(policy, names->items[i], &benchmark, err) < 0)
			return error_prefix(err, "[night] benchmarks");
		for (size_t j = 0; j < i; j++)
			if (strcmp(names->items[j], names->items[i]) == 0)
				return error_set(err, ERROR_USAGE,
						 "[night] benchmarks: %s stands twice",
						 names->items[i]);
	}
	return 0;
}

static int check_night(const struct policy *policy, struct error *err)
{
	const struct policy_tree *tree;
	const struct policy_machine *machine;
	if (policy_find_tree(policy, policy->night.tree, &tree, err) < 0)
		return error_prefix(err, "[night] tree");
	if (policy_find_machine(policy, policy->night.machine, &machine, err) < 0)
		return error_prefix(err, "[night] machine");
	return check_night_benchmarks(policy, err);
}

/* "smtp://HOST:PORT"; the host only, as libesmtp cannot be given an IPv6 address. */
static int parse_server(const char *server, char ret_host[static 256], struct error *err)
{
	static const char scheme[] = "smtp://";
	const char *host = text_starts_with(server, scheme) ? server + strlen(scheme) : "";
	size_t length = 0;
	while (isalnum((unsigned char)host[length]) || host[length] == '.' || host[length] == '-')
		length++;
	const char *port = host + length + 1;
	bool whole = length > 0 && length < 256 && host[length] == ':' &&
		     strspn(port, "0123456789") == strlen(port) && strlen(port) <= 5;
	long number = whole ? strtol(port, NULL, 10) : 0;
	if (number < 1 || number > 65535)
		return error_set(err, ERROR_USAGE,
				 "[mail] server = \"%.200s\": must be smtp://HOST:PORT, the port "
				 "from 1 to 65535",
				 server);
	memcpy(ret_host, host, length);
	ret_host[length] = '\0';
	return 0;
}

static bool is_loopback(const char *host)
{
	struct in_addr address;
	return strcasecmp(host, "localhost") == 0 ||
	       (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

static int check_mail(const struct policy_mail *mail, struct error *err)
{
	char host[256];
	if (!mail->server)
		return mail->to.count == 0
			       ? 0
			       : error_set(err, ERROR_USAGE,
					   "[mail] server is missing: to = \"%.200s\" cannot be "
					   "reached without one",
					   mail->to.items[0]);
	if (parse_server(mail->server, host, err) < 0)
		return -1;
	if (!mail->to.count)
		return error_set(err, ERROR_USAGE, "[mail] to is missing: nobody would get mail");
	for (size_t i = 0; i < mail->to.count; i++)
		if (!strchr(mail->to.items[i], '@'))
			return error_set(err, ERROR_USAGE,
					 "[mail] to = \"%.200s\": is no mail address",
					 mail->to.items[i]);
	if (strcmp(mail->security, "none") == 0 && !is_loopback(host))
		return error_set(err, ERROR_USAGE,
				 "[mail] security = \"none\": %s is another host; set security = "
				 "starttls",
				 host);
	return 0;
}

int policy_check(const struct policy *policy, struct error *err)
{
	for (size_t i = 0; i < policy->benchmark_count; i++)
		if (check_benchmark(&policy->benchmarks[i], err) < 0)
			return -1;
	if (check_night(policy, err) < 0)
		return -1;
	return check_mail(&policy->mail, err);
}
