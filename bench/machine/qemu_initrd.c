/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "bench/channel.h"
#include "bench/machine/qemu.h"
#include "builder/initramfs.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static int begin_initrd(const char *path, const char *agent_path, struct initramfs **ret_initramfs,
			struct error *err)
{
	auto_initramfs struct initramfs *initramfs = NULL;
	if (initramfs_create(path, &initramfs, err) < 0 ||
	    initramfs_add_folder(initramfs, "dev", err) < 0 ||
	    initramfs_add_device(initramfs, "dev/console", 5, 1, err) < 0 ||
	    initramfs_add_file(initramfs, "init", agent_path, 0755, err) < 0)
		return -1;
	*ret_initramfs = take(initramfs);
	return 0;
}

int qemu_write_agent_initrd(const char *path, const char *agent_path, struct error *err)
{
	auto_initramfs struct initramfs *initramfs = NULL;
	if (begin_initrd(path, agent_path, &initramfs, err) < 0)
		return -1;
	return initramfs_finish(&initramfs, err);
}

static char *program_initrd(const struct qemu_machine *machine, const char *benchmark)
{
	return text_format("%s/program-%s.cpio", machine->folder, benchmark);
}

int qemu_write_program_initrd(const struct qemu_machine *machine,
			      const struct policy_benchmark *benchmark, struct error *err)
{
	auto_free char *path = program_initrd(machine, benchmark->name);
	auto_free char *program =
		text_format("%.*s", (int)strcspn(benchmark->command, " "), benchmark->command);
	auto_initramfs struct initramfs *initramfs = NULL;
	if (initramfs_create(path, &initramfs, err) < 0)
		return -1;
	if (initramfs_add_program(initramfs, program, benchmark->package, err) < 0)
		return error_prefix(err, "benchmark \"%s\"", benchmark->name);
	return initramfs_finish(&initramfs, err);
}

static int write_ticket(const struct machine_trial *trial, const char *path, struct error *err)
{
	auto_free char *ticket = ticket_to_text(trial->ticket);
	auto_initramfs struct initramfs *initramfs = NULL;
	if (initramfs_create(path, &initramfs, err) < 0 ||
	    initramfs_add_bytes(initramfs, AGENT_TICKET_PATH + 1, ticket, strlen(ticket), 0644,
				err) < 0)
		return -1;
	return initramfs_finish(&initramfs, err);
}

/* A plan's steps of one benchmark stand together. */
static bool is_first_step_of_benchmark(const struct plan *plan, size_t index)
{
	return index == 0 ||
	       strcmp(plan->steps[index].benchmark, plan->steps[index - 1].benchmark) != 0;
}

/*
 * The suspect's initrd within the trusted kernel's: agent, ticket, modules, and only the programs
 * that this plan runs: kexec hashes every byte of it twice, on a slow processor.
 */
static int write_suspect_initrd(const struct qemu_machine *machine,
				const struct machine_trial *trial, const char *parts,
				const char *path, struct error *err)
{
	const struct plan *plan = &trial->ticket->plan;
	auto_free char *ticket_path = text_format("%s/ticket.cpio", parts);
	if (write_ticket(trial, ticket_path, err) < 0)
		return -1;
	auto_free char **programs = memory_array(plan->step_count, sizeof(*programs));
	auto_free const char **archives = memory_array(plan->step_count + 3, sizeof(*archives));
	size_t program_count = 0;
	size_t count = 0;
	archives[count++] = machine->agent_initrd;
	archives[count++] = ticket_path;
	if (trial->artifact->modules_cpio_path)
		archives[count++] = trial->artifact->modules_cpio_path;
	for (size_t i = 0; i < plan->step_count; i++)
		if (is_first_step_of_benchmark(plan, i)) {
			programs[program_count] = program_initrd(machine, plan->steps[i].benchmark);
			archives[count++] = programs[program_count++];
		}
	int result = initramfs_concatenate(path, archives, count, err);
	for (size_t i = 0; i < program_count; i++)
		free(programs[i]);
	return result;
}

int qemu_write_trial_initrd(const struct qemu_machine *machine, const struct machine_trial *trial,
			    const char *parts, const char *path, struct error *err)
{
	auto_free char *suspect = text_format("%s/suspect.initrd", parts);
	auto_free char *outer = text_format("%s/trial.cpio", parts);
	auto_initramfs struct initramfs *initramfs = NULL;
	if (write_suspect_initrd(machine, trial, parts, suspect, err) < 0 ||
	    initramfs_create(outer, &initramfs, err) < 0 ||
	    initramfs_add_file(initramfs, AGENT_SUSPECT_IMAGE_PATH + 1, trial->artifact->image_path,
			       0644, err) < 0 ||
	    initramfs_add_file(initramfs, AGENT_SUSPECT_INITRD_PATH + 1, suspect, 0644, err) < 0 ||
	    initramfs_finish(&initramfs, err) < 0)
		return -1;
	const char *archives[] = {machine->agent_initrd, outer};
	return initramfs_concatenate(path, archives, array_length(archives), err);
}
