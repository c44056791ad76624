/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_MACHINE_MACHINE_H
#define SENTINEL_BENCH_MACHINE_MACHINE_H

/*
 * A machine under test, behind one table of drivers (one file each). A driver carries out one trial
 * and always leaves the machine on its trusted kernel. What the suspect kernel did is data.
 */

#include <stdbool.h>
#include <stddef.h>

#include "bench/ticket.h"
#include "builder/artifact_store.h"
#include "policies/policy.h"
#include "sentinel/base/error.h"

/* How far the trial came. */
enum trial_phase {
	PHASE_TRUSTED_BOOT, /* the trusted kernel did not come up: the host's fault */
	PHASE_JUMP,         /* the suspect image was refused by kexec */
	PHASE_SUSPECT_BOOT, /* it left and never marked its arrival */
	PHASE_BENCHMARK,    /* it arrived and left no seal */
	PHASE_SEALED,       /* the sealed file is here and verified */
};

/* What was seen to end the phase. */
enum trial_cause {
	CAUSE_NONE,          /* sealed */
	CAUSE_PANIC,         /* the console shows a panic */
	CAUSE_HANG,          /* nothing within the limit */
	CAUSE_CAME_BACK,     /* the trusted kernel is back without a panic on the console */
	CAUSE_REFUSED,       /* kexec refused the image */
	CAUSE_WRONG_KERNEL,  /* arrived with another release or token, or the same boot id */
	CAUSE_DAMAGED_SEAL,  /* the digest does not match */
	CAUSE_EMULATOR_DIED, /* the host's fault */
};

struct machine_trial {
	const struct artifact *artifact;
	const struct ticket *ticket;
	const char
		*folder; /* this trial's own: console.log, arrival.json, sealed.json appear here */
};

struct machine_outcome {
	enum trial_phase phase;
	enum trial_cause cause;
	char *reason;          /* one safe line; NULL when sealed and home again */
	char *trusted_boot_id; /* NULL when never seen */
	char *suspect_boot_id; /* NULL when it never arrived */
	char *sealed_path;     /* when PHASE_SEALED; written durably */
	char *console_path;    /* captured whole, trusted kernel included */
	double seconds;        /* wall time of the trial on the host */
};

struct machine; /* an opened machine */

/* What the machine is, for a result's identity and for reports. */
struct machine_facts {
	char *driver;      /* "qemu" */
	char *clock;       /* "virtual time (TCG, icount shift 3)" or "real time (KVM)" */
	char *description; /* one line: emulator version, CPU model, memory */
	char *identity;    /* SHA-256 over all that makes results comparable on this machine */
	bool virtual_time;
};

/*
 * Opens the machine POLICY names: proves the acceleration by booting a guest once (remembered in
 * FOLDER), prepares initramfs archives with AGENT_PATH and with the programs of BENCHMARKS.
 * ERROR_SYSTEM names a missing program and its package; ERROR_USAGE an unknown driver.
 */
int machine_open(const struct policy_machine *policy,
		 const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		 const char *agent_path, const char *folder, struct machine **ret_machine,
		 struct error *err);
void machine_close(struct machine **machine);
#define auto_machine __attribute__((cleanup(machine_close)))
const struct machine_facts *machine_facts(const struct machine *machine);

/* Carries out one trial. -1 only for the host's own faults (before the guest started, or when the
   result cannot be written) and for interruption. */
int machine_run_trial(struct machine *machine, const struct machine_trial *trial,
		      struct machine_outcome *ret_outcome, struct error *err);
/*
 * After we were killed in the middle of a trial: looks into its folder. A complete sealed file with
 * this token gives PHASE_SEALED; everything else PHASE_TRUSTED_BOOT and CAUSE_EMULATOR_DIED
 * ("interrupted"): try again.
 */
int machine_recover_trial(struct machine *machine, const struct machine_trial *trial,
			  struct machine_outcome *ret_outcome, struct error *err);
void machine_outcome_free(struct machine_outcome *outcome);
#define auto_machine_outcome __attribute__((cleanup(machine_outcome_free)))

const char *trial_phase_name(enum trial_phase phase);
const char *trial_cause_name(enum trial_cause cause);

/* What a driver file offers. */
struct machine_driver {
	const char *name;
	int (*open)(const struct policy_machine *policy,
		    const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		    const char *agent_path, const char *folder, void **ret_state,
		    struct machine_facts *ret_facts, struct error *err);
	void (*close)(void *state);
	int (*run_trial)(void *state, const struct machine_trial *trial,
			 struct machine_outcome *ret_outcome, struct error *err);
};
extern const struct machine_driver machine_driver_qemu;

#endif
