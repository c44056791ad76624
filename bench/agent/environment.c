/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <string.h>

#include "bench/agent/agent.h"
#include "bench/channel.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

#define CPUINFO_LIMIT_BYTES ((size_t)4 << 20)
#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"
#define CPU0 "/sys/devices/system/cpu/cpu0/cpufreq/"

/* One fact: the first line of a file, or with FIELD what follows "FIELD:" in it. */
static const struct {
	const char *name;
	const char *path;
	const char *field;
} facts[] = {
	{"cpu_model", "/proc/cpuinfo", "model name"},
	{"microcode", "/proc/cpuinfo", "microcode"},
	{"online_cpus", "/sys/devices/system/cpu/online", NULL},
	{"smt", "/sys/devices/system/cpu/smt/control", NULL},
	{"frequency_governor", CPU0 "scaling_governor", NULL},
	{"frequency_driver", CPU0 "scaling_driver", NULL},
	{"turbo_off", "/sys/devices/system/cpu/intel_pstate/no_turbo", NULL},
	{"memory_total", "/proc/meminfo", "MemTotal"},
	{"memory_available", "/proc/meminfo", "MemAvailable"},
	{"numa_nodes", "/sys/devices/system/node/online", NULL},
	{"transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled", NULL},
	{"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL},
	{"uptime", "/proc/uptime", NULL},
	{"load_average", "/proc/loadavg", NULL},
	{"address_randomization", "/proc/sys/kernel/randomize_va_space", NULL},
	{"scheduler_features", "/sys/kernel/debug/sched/features", NULL},
	{"scheduler_preemption", "/sys/kernel/debug/sched/preempt", NULL},
	{"scheduler_autogroup", "/proc/sys/kernel/sched_autogroup_enabled", NULL},
	{"scheduler_runtime", "/proc/sys/kernel/sched_rt_runtime_us", NULL},
	{"watchdog", "/proc/sys/kernel/watchdog", NULL},
	{"taint", "/proc/sys/kernel/tainted", NULL},
};

/* What follows "FIELD<spaces>:" at the beginning of a line; the text is cut in place. */
static char *find_field(char *bytes, const char *field)
{
	char *position = NULL;
	size_t length = strlen(field);
	for (char *line = strtok_r(bytes, "\n", &position); line;
	     line = strtok_r(NULL, "\n", &position)) {
		char *value = line + length;
		if (strncmp(line, field, length) != 0)
			continue;
		value += strspn(value, " \t");
		if (*value++ != ':')
			continue;
		return text_copy(value + strspn(value, " \t"));
	}
	return NULL;
}

static char *read_fact(const char *path, const char *field)
{
	auto_free char *bytes = NULL;
	if (file_read(path, CPUINFO_LIMIT_BYTES, &bytes, NULL, NULL) < 0)
		return NULL;
	if (field)
		return find_field(bytes, field);
	bytes[strcspn(bytes, "\n")] = '\0';
	return take(bytes);
}

char *environment_read_line(const char *path)
{
	return read_fact(path, NULL);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* "meltdown: Mitigation: PTI; spectre_v1: …", or NULL. */
static char *read_mitigations(void)
{
	struct dirent **entries = NULL;
	struct text list = {0};
	int count = scandir(VULNERABILITIES, &entries, is_visible, by_name);
	if (count < 0)
		return NULL;
	for (int i = 0; i < count; i++) {
		auto_free char *path = text_format(VULNERABILITIES "/%s", entries[i]->d_name);
		auto_free char *state = environment_read_line(path);
		text_printf(&list, "%s%s: %s", i ? "; " : "", entries[i]->d_name,
			    state ? state : "?");
		free(entries[i]);
	}
	free(entries);
	return text_take(&list);
}

/* Without the token, which differs in every boot and changes no result. */
static char *read_arguments(void)
{
	char *arguments = environment_read_line("/proc/cmdline");
	char *token = arguments ? strstr(arguments, AGENT_TOKEN_ARGUMENT) : NULL;
	if (!token)
		return arguments;
	const char *rest = token + strcspn(token, " ");
	memmove(token, rest, strlen(rest) + 1);
	return arguments;
}

static void set_fact(json_t *environment, const char *name, char *value)
{
	auto_free char *owned = value;
	json_object_set_new(environment, name,
			    owned ? json_foreign(owned, strlen(owned)) : json_null());
}

json_t *environment_read(void)
{
	json_t *environment = json_object();
	for (size_t i = 0; i < array_length(facts); i++)
		set_fact(environment, facts[i].name, read_fact(facts[i].path, facts[i].field));
	set_fact(environment, "arguments", read_arguments());
	set_fact(environment, "mitigations", read_mitigations());
	return environment;
}
