/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/machine/qemu.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/digest.h"
#include "sentinel/base/file.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/json.h"
#include "sentinel/base/log.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

#define EMULATOR "qemu-system-x86_64"
#define EMULATOR_PACKAGE "qemu-system-x86"
#define KVM_DEVICE "/dev/kvm"
#define PROBE_TIMEOUT_SECONDS 10.0
#define SMALL_FILE_LIMIT_BYTES ((size_t)1 << 20)
/* Quiet and without self tests: the trusted kernel's boot is nobody's measurement. */
#define TRUSTED_ARGUMENTS "console=ttyS0 quiet panic=1 cryptomgr.notests"

struct qemu_guest_setup qemu_guest_setup(const struct qemu_machine *machine, const char *folder,
					 const char *initrd)
{
	return (struct qemu_guest_setup){
		.emulator = machine->emulator,
		.folder = folder,
		.kernel = machine->kernel,
		.initrd = initrd,
		.arguments = TRUSTED_ARGUMENTS,
		.kvm = machine->kvm,
		.icount_shift = machine->icount_shift,
		.memory_mib = machine->memory_mib,
	};
}

static int find_emulator(struct qemu_machine *machine, struct error *err)
{
	if (process_find_program(EMULATOR, EMULATOR_PACKAGE, &machine->emulator, err) < 0)
		return -1;
	const char *const argv[] = {machine->emulator, "--version", NULL};
	struct process_command command = {
		.argv = argv, .capture_limit_bytes = 4096, .timeout_seconds = 60};
	auto_process_result struct process_result result = {0};
	if (process_run(&command, &result, err) < 0)
		return -1;
	char how[64];
	if (!process_succeeded(&result))
		return error_set(err, ERROR_SYSTEM, "%s --version: %s; reinstall the package %s",
				 machine->emulator, process_describe(&result, 60, how),
				 EMULATOR_PACKAGE);
	result.stdout_bytes[strcspn(result.stdout_bytes, "\n")] = '\0';
	machine->version = text_one_line(result.stdout_bytes, 200);
	return 0;
}

/* Everything that decides whether a guest runs under KVM; another value asks for a new proof. */
static int proof_identity(const struct qemu_machine *machine, struct digest *ret_identity,
			  struct error *err)
{
	struct digest kernel;
	struct utsname host;
	if (digest_file(machine->kernel, &kernel, err) < 0)
		return -1;
	if (uname(&host) < 0)
		return error_errno(err, ERROR_SYSTEM, "cannot ask for the host's kernel release");
	auto_free char *text =
		text_format("%s\n%s\n%s %s\n%lld", machine->version, kernel.hex, host.release,
			    host.version, (long long)machine->memory_mib);
	digest_text(text, ret_identity);
	return 0;
}

/* A damaged or old record counts as none: the proof is made again. */
static bool recall_proof(const char *path, const struct digest *identity, bool *ret_works)
{
	auto_free char *bytes = NULL;
	auto_json json_t *object = NULL;
	size_t length;
	const char *stored;
	if (file_read(path, SMALL_FILE_LIMIT_BYTES, &bytes, &length, NULL) < 0 ||
	    json_parse_object(bytes, length, path, &object, NULL) < 0 ||
	    json_get_string(object, "identity", path, &stored, NULL) < 0 ||
	    strcmp(stored, identity->hex) != 0 || !json_is_boolean(json_object_get(object, "kvm")))
		return false;
	*ret_works = json_is_true(json_object_get(object, "kvm"));
	return true;
}

static int store_proof(const char *path, const struct digest *identity, bool works,
		       struct error *err)
{
	auto_json json_t *object = json_pack("{s:s, s:b}", "identity", identity->hex, "kvm", works);
	auto_free char *text = json_to_text(object);
	return file_write_durable(path, text, strlen(text), err);
}

/* Boots the trusted kernel under KVM and waits for its agent. */
static int try_kvm(const struct qemu_machine *machine, const char *folder, bool *ret_works,
		   struct error *err)
{
	auto_free char *probe = text_format("%s/probe", folder);
	if (file_make_folders(probe, err) < 0)
		return -1;
	auto_qemu_guest struct qemu_guest guest = QEMU_GUEST_NONE;
	struct qemu_guest_setup setup = qemu_guest_setup(machine, probe, machine->agent_initrd);
	struct error refusal;
	enum guest_news news = GUEST_DIED;
	auto_event struct event event = {0};
	setup.kvm = true;
	log_notice("asking once whether KVM runs a guest here (at most %.0f s)",
		   PROBE_TIMEOUT_SECONDS);
	/* A QEMU that refuses to start is an answer too. */
	if (qemu_guest_start(&setup, &guest, &refusal) == 0 &&
	    qemu_guest_wait(&guest, PROBE_TIMEOUT_SECONDS, &news, &event, err) < 0)
		return -1;
	if (interrupt_check(err) < 0)
		return -1;
	*ret_works = news == GUEST_EVENT && event.kind == EVENT_TRUSTED;
	return file_remove_tree(probe, err);
}

static int prove_kvm(const struct qemu_machine *machine, const char *folder, bool *ret_works,
		     struct error *err)
{
	auto_free char *path = text_format("%s/acceleration.json", folder);
	struct digest identity;
	if (proof_identity(machine, &identity, err) < 0)
		return -1;
	if (recall_proof(path, &identity, ret_works))
		return 0;
	if (try_kvm(machine, folder, ret_works, err) < 0)
		return -1;
	return store_proof(path, &identity, *ret_works, err);
}

static int choose_acceleration(struct qemu_machine *machine, const struct policy_machine *policy,
			       const char *folder, struct error *err)
{
	const char *reason = "the policy asks for it";
	if (strcmp(policy->acceleration, "tcg") != 0) {
		auto_close int device = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
		if (device >= 0 && prove_kvm(machine, folder, &machine->kvm, err) < 0)
			return -1;
		reason = machine->kvm  ? "a guest came up under KVM"
			 : device >= 0 ? KVM_DEVICE " opens, but no guest came up under KVM"
				       : KVM_DEVICE " cannot be opened";
		if (!machine->kvm && strcmp(policy->acceleration, "kvm") == 0)
			return error_set(err, ERROR_SYSTEM,
					 "%s; repair it or set acceleration = auto", reason);
	}
	if (machine->kvm)
		log_notice("machine %s: KVM, real time (%s)", policy->name, reason);
	else
		log_notice("machine %s: TCG, virtual time, icount shift %lld (%s)", policy->name,
			   (long long)machine->icount_shift, reason);
	return 0;
}

/* Lines of /proc/cpuinfo that make one host's real time unlike another's. */
static void append_host_processor(struct text *text)
{
	static const char *const names[] = {"model name", "microcode"};
	auto_free char *bytes = NULL;
	if (file_read("/proc/cpuinfo", SMALL_FILE_LIMIT_BYTES, &bytes, NULL, NULL) < 0)
		return;
	for (size_t i = 0; i < array_length(names); i++) {
		const char *line = strstr(bytes, names[i]);
		if (line)
			text_printf(text, "%.*s\n", (int)strcspn(line, "\n"), line);
	}
}

static void describe(const struct qemu_machine *machine, struct machine_facts *facts)
{
	auto_text struct text text = {0};
	text_printf(&text, "driver=qemu\nversion=%s\nmemory=%lld\narguments=%s\n", machine->version,
		    (long long)machine->memory_mib, machine->suspect_arguments);
	if (machine->kvm) {
		text_append(&text, "acceleration=kvm\ncpu=host\n");
		append_host_processor(&text);
		facts->clock = text_copy("real time (KVM)");
	} else {
		text_printf(&text, "acceleration=tcg\ncpu=" QEMU_GUEST_TCG_CPU "\nicount=%lld\n",
			    (long long)machine->icount_shift);
		facts->clock = text_format("virtual time (TCG, icount shift %lld)",
					   (long long)machine->icount_shift);
	}
	struct digest identity;
	digest_text(text.data, &identity);
	facts->identity = text_copy(identity.hex);
	facts->driver = text_copy(machine_driver_qemu.name);
	facts->description = text_format("%s, CPU %s, %lld MiB", machine->version,
					 machine->kvm ? "of the host" : QEMU_GUEST_TCG_CPU,
					 (long long)machine->memory_mib);
	facts->virtual_time = !machine->kvm;
}

static void qemu_close(void *state)
{
	struct qemu_machine *machine = state;
	if (!machine)
		return;
	free(machine->emulator);
	free(machine->version);
	free(machine->kernel);
	free(machine->folder);
	free(machine->agent_initrd);
	free(machine->suspect_arguments);
	free(machine);
}

static void cleanup_machine(struct qemu_machine **machine)
{
	qemu_close(*machine);
}

static int qemu_open(const struct policy_machine *policy,
		     const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		     const char *agent_path, const char *folder, void **ret_state,
		     struct machine_facts *ret_facts, struct error *err)
{
	auto_cleanup(cleanup_machine) struct qemu_machine *machine =
		memory_array(1, sizeof(*machine));
	if (file_make_folders(folder, err) < 0)
		return -1;
	auto_free char *absolute = realpath(folder, NULL);
	machine->kernel = realpath(policy->trusted_kernel, NULL);
	if (!absolute || !machine->kernel)
		return error_errno(err, ERROR_SYSTEM, "the trusted kernel %s cannot be found",
				   policy->trusted_kernel);
	machine->suspect_arguments =
		text_copy(policy->suspect_arguments ? policy->suspect_arguments : "");
	machine->icount_shift = policy->icount_shift;
	machine->memory_mib = policy->memory_mib;
	machine->boot_timeout_seconds = policy->boot_timeout_seconds;
	machine->folder = take(absolute);
	machine->agent_initrd = text_format("%s/agent.cpio", machine->folder);
	/* Written at every opening: a program or library that was replaced is noticed. */
	if (find_emulator(machine, err) < 0 ||
	    qemu_write_agent_initrd(machine->agent_initrd, agent_path, err) < 0)
		return -1;
	for (size_t i = 0; i < benchmark_count; i++)
		if (qemu_write_program_initrd(machine, benchmarks[i], err) < 0)
			return -1;
	if (choose_acceleration(machine, policy, machine->folder, err) < 0)
		return -1;
	describe(machine, ret_facts);
	*ret_state = take(machine);
	return 0;
}

const struct machine_driver machine_driver_qemu = {
	.name = "qemu",
	.open = qemu_open,
	.close = qemu_close,
	.run_trial = qemu_run_trial,
};
