/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_MACHINE_QEMU_H
#define SENTINEL_BENCH_MACHINE_QEMU_H

/*
 * What the parts of the QEMU driver share: qemu.c opens a machine, qemu_initrd.c writes what its
 * guests boot, qemu_trial.c carries out trials.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/machine/machine.h"
#include "bench/machine/qemu_guest.h"

struct qemu_machine {
	char *emulator;          /* program */
	char *version;           /* first line of its --version */
	char *kernel;            /* trusted kernel, absolute */
	char *folder;            /* absolute; holds program-BENCHMARK.cpio for each benchmark */
	char *agent_initrd;      /* agent alone: all that the trusted kernel needs */
	char *suspect_arguments; /* from the policy */
	bool kvm;
	int64_t icount_shift;
	int64_t memory_mib;
	int64_t boot_timeout_seconds;
};

/* A setup that boots the trusted kernel with INITRD in FOLDER; it borrows all three. */
struct qemu_guest_setup qemu_guest_setup(const struct qemu_machine *machine, const char *folder,
					 const char *initrd);
/* The agent alone. */
int qemu_write_agent_initrd(const char *path, const char *agent_path, struct error *err);
/* The benchmark's program with its libraries, in the machine's folder. ERROR_SYSTEM names the
   package of a program that is missing. */
int qemu_write_program_initrd(const struct qemu_machine *machine,
			      const struct policy_benchmark *benchmark, struct error *err);
/* The trusted kernel's initrd, which carries the suspect image and the suspect's own initrd. The
 * folder PARTS takes intermediate files. */
int qemu_write_trial_initrd(const struct qemu_machine *machine, const struct machine_trial *trial,
			    const char *parts, const char *path, struct error *err);
/* The driver's run_trial; STATE is a struct qemu_machine. */
int qemu_run_trial(void *state, const struct machine_trial *trial,
		   struct machine_outcome *ret_outcome, struct error *err);

#endif
