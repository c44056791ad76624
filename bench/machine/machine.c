/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/machine.h"

#include <string.h>

#include "bench/machine/trial_folder.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static const struct machine_driver *const drivers[] = {&machine_driver_qemu};

struct machine {
	const struct machine_driver *driver;
	void *state;
	struct machine_facts facts;
};

static int find_driver(const struct policy_machine *policy,
		       const struct machine_driver **ret_driver, struct error *err)
{
	const char *names[array_length(drivers) + 1] = {NULL};
	for (size_t i = 0; i < array_length(drivers); i++) {
		names[i] = drivers[i]->name;
		if (strcmp(drivers[i]->name, policy->driver) == 0) {
			*ret_driver = drivers[i];
			return 0;
		}
	}
	const char *nearest = text_nearest(policy->driver, names);
	return error_set(err, ERROR_USAGE, "machine \"%s\": unknown driver \"%s\"; %s \"%s\"",
			 policy->name, policy->driver, nearest ? "did you mean" : "there is",
			 nearest ? nearest : names[0]);
}

int machine_open(const struct policy_machine *policy,
		 const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		 const char *agent_path, const char *folder, struct machine **ret_machine,
		 struct error *err)
{
	struct machine machine = {0};
	if (find_driver(policy, &machine.driver, err) < 0)
		return -1;
	if (machine.driver->open(policy, benchmarks, benchmark_count, agent_path, folder,
				 &machine.state, &machine.facts, err) < 0)
		return error_prefix(err, "machine \"%s\"", policy->name);
	*ret_machine = memory_array(1, sizeof(**ret_machine));
	**ret_machine = machine;
	return 0;
}

void machine_close(struct machine **machine)
{
	struct machine *opened = *machine;
	*machine = NULL;
	if (!opened)
		return;
	opened->driver->close(opened->state);
	free(opened->facts.driver);
	free(opened->facts.clock);
	free(opened->facts.description);
	free(opened->facts.identity);
	free(opened);
}

const struct machine_facts *machine_facts(const struct machine *machine)
{
	return &machine->facts;
}

int machine_run_trial(struct machine *machine, const struct machine_trial *trial,
		      struct machine_outcome *ret_outcome, struct error *err)
{
	return machine->driver->run_trial(machine->state, trial, ret_outcome, err);
}

int machine_recover_trial(struct machine *machine, const struct machine_trial *trial,
			  struct machine_outcome *ret_outcome, struct error *err)
{
	(void)machine;
	return trial_folder_recover(trial, ret_outcome, err);
}

void machine_outcome_free(struct machine_outcome *outcome)
{
	free(outcome->reason);
	free(outcome->trusted_boot_id);
	free(outcome->suspect_boot_id);
	free(outcome->sealed_path);
	free(outcome->console_path);
	*outcome = (struct machine_outcome){0};
}

const char *trial_phase_name(enum trial_phase phase)
{
	static const char *const names[] = {
		[PHASE_TRUSTED_BOOT] = "trusted boot",
		[PHASE_JUMP] = "jump",
		[PHASE_SUSPECT_BOOT] = "suspect boot",
		[PHASE_BENCHMARK] = "benchmark",
		[PHASE_SEALED] = "sealed",
	};
	return names[phase];
}

const char *trial_cause_name(enum trial_cause cause)
{
	static const char *const names[] = {
		[CAUSE_NONE] = "none",
		[CAUSE_PANIC] = "panic",
		[CAUSE_HANG] = "hang",
		[CAUSE_CAME_BACK] = "came back",
		[CAUSE_REFUSED] = "refused",
		[CAUSE_WRONG_KERNEL] = "wrong kernel",
		[CAUSE_DAMAGED_SEAL] = "damaged seal",
		[CAUSE_EMULATOR_DIED] = "emulator died",
	};
	return names[cause];
}
