/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/trial_folder.h"

#include <string.h>

#include "bench/sealed_file.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/json.h"
#include "sentinel/base/text.h"

#define ARRIVAL_LIMIT_BYTES ((size_t)64 << 10)

int trial_folder_prepare(const char *folder, struct error *err)
{
	static const char *const names[] = {TRIAL_PARTS_NAME, TRIAL_ARRIVAL_NAME, TRIAL_SEALED_NAME,
					    TRIAL_CONSOLE_NAME};
	for (size_t i = 0; i < array_length(names); i++) {
		auto_free char *path = text_format("%s/%s", folder, names[i]);
		if (file_remove_tree(path, err) < 0)
			return -1;
	}
	auto_free char *parts = text_format("%s/" TRIAL_PARTS_NAME, folder);
	return file_make_folders(parts, err);
}

int trial_folder_write_arrival(const struct machine_trial *trial,
			       const struct machine_outcome *outcome, const char *version,
			       struct error *err)
{
	auto_free char *path = text_format("%s/" TRIAL_ARRIVAL_NAME, trial->folder);
	auto_json json_t *object =
		json_pack("{s:s, s:o, s:o, s:o, s:o}", "token", trial->ticket->token, "release",
			  json_foreign(trial->ticket->release, strlen(trial->ticket->release)),
			  "version", json_foreign(version, strlen(version)), "suspect_boot_id",
			  json_foreign(outcome->suspect_boot_id, strlen(outcome->suspect_boot_id)),
			  "trusted_boot_id",
			  json_foreign(outcome->trusted_boot_id, strlen(outcome->trusted_boot_id)));
	auto_free char *text = json_to_text(object);
	return file_write_durable(path, text, strlen(text), err);
}

int trial_folder_write_sealed(const char *folder, const char *bytes, size_t length,
			      struct machine_outcome *outcome, struct error *err)
{
	auto_free char *path = text_format("%s/" TRIAL_SEALED_NAME, folder);
	if (file_write_durable(path, bytes, length, err) < 0)
		return -1;
	outcome->sealed_path = take(path);
	return 0;
}

/* What the arrival mark says, where it is whole and of this trial. */
static void recover_arrival(const struct machine_trial *trial, struct machine_outcome *outcome)
{
	auto_free char *path = text_format("%s/" TRIAL_ARRIVAL_NAME, trial->folder);
	auto_free char *bytes = NULL;
	auto_json json_t *object = NULL;
	size_t length;
	const char *token;
	const char *trusted_boot_id;
	if (file_read(path, ARRIVAL_LIMIT_BYTES, &bytes, &length, NULL) == 0 &&
	    json_parse_object(bytes, length, path, &object, NULL) == 0 &&
	    json_get_string(object, "token", path, &token, NULL) == 0 &&
	    json_get_string(object, "trusted_boot_id", path, &trusted_boot_id, NULL) == 0 &&
	    strcmp(token, trial->ticket->token) == 0)
		outcome->trusted_boot_id = text_copy(trusted_boot_id);
}

static void recover_sealed(const struct machine_trial *trial, struct machine_outcome *outcome)
{
	auto_free char *path = text_format("%s/" TRIAL_SEALED_NAME, trial->folder);
	auto_free char *bytes = NULL;
	auto_sealed_file struct sealed_file sealed = {0};
	size_t length;
	if (file_read(path, SEALED_FILE_LIMIT_BYTES, &bytes, &length, NULL) < 0 ||
	    sealed_file_from_text(bytes, length, &sealed, NULL) < 0 ||
	    strcmp(sealed.token, trial->ticket->token) != 0)
		return;
	outcome->phase = PHASE_SEALED;
	outcome->cause = CAUSE_NONE;
	outcome->suspect_boot_id = text_copy(sealed.boot_id);
	outcome->sealed_path = take(path);
}

int trial_folder_recover(const struct machine_trial *trial, struct machine_outcome *ret_outcome,
			 struct error *err)
{
	auto_free char *parts = text_format("%s/" TRIAL_PARTS_NAME, trial->folder);
	if (file_remove_tree(parts, err) < 0)
		return -1;
	struct machine_outcome outcome = {.phase = PHASE_TRUSTED_BOOT,
					  .cause = CAUSE_EMULATOR_DIED};
	recover_arrival(trial, &outcome);
	recover_sealed(trial, &outcome);
	if (outcome.phase != PHASE_SEALED)
		outcome.reason = text_copy("interrupted");
	auto_free char *console = text_format("%s/" TRIAL_CONSOLE_NAME, trial->folder);
	if (file_exists(console))
		outcome.console_path = take(console);
	*ret_outcome = outcome;
	return 0;
}
