/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BENCH_MACHINE_TRIAL_FOLDER_H
#define SENTINEL_BENCH_MACHINE_TRIAL_FOLDER_H

/*
 * The files of one trial, the same for every driver. Each is written durably and whole, or is not
 * there:
 *   arrival.json  the suspect kernel was proved to run
 *   sealed.json   what it measured (bench/sealed_file.h), digest verified
 *   parts/        what the driver needs only while the trial runs; may be left by a kill
 */

#include "bench/machine/machine.h"

#define TRIAL_ARRIVAL_NAME "arrival.json"
#define TRIAL_SEALED_NAME "sealed.json"
#define TRIAL_CONSOLE_NAME "console.log"
#define TRIAL_PARTS_NAME "parts"

/* Removes what an earlier attempt left, and makes the folder and its parts folder. */
int trial_folder_prepare(const char *folder, struct error *err);
/* VERSION is the suspect's "uname -v". */
int trial_folder_write_arrival(const struct machine_trial *trial,
			       const struct machine_outcome *outcome, const char *version,
			       struct error *err);
/* Stores the sealed bytes and notes their path in *OUTCOME. */
int trial_folder_write_sealed(const char *folder, const char *bytes, size_t length,
			      struct machine_outcome *outcome, struct error *err);
/* As machine_recover_trial. */
int trial_folder_recover(const struct machine_trial *trial, struct machine_outcome *ret_outcome,
			 struct error *err);

#endif
