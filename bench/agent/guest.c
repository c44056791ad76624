/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bench/agent/agent.h"
#include "bench/channel.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"

#define OPEN_FILES 65536

static const struct {
	const char *type;
	const char *folder;
	mode_t mode;
} mounts[] = {
	{"proc", "/proc", 0755},    {"sysfs", "/sys", 0755},
	{"devtmpfs", "/dev", 0755}, {"tmpfs", "/dev/shm", 01777},
	{"tmpfs", "/tmp", 01777},   {"debugfs", "/sys/kernel/debug", 0700},
};

/* A kernel without one of them still boots: whoever needs it will say so. */
static void mount_all(void)
{
	for (size_t i = 0; i < array_length(mounts); i++) {
		mkdir(mounts[i].folder, mounts[i].mode);
		mount(mounts[i].type, mounts[i].folder, mounts[i].type, 0, NULL);
		chmod(mounts[i].folder, mounts[i].mode);
	}
}

/* The kernel could not open a console for us before /dev was there in every case. */
static void attach_console(void)
{
	int console = open("/dev/console", O_RDWR | O_NOCTTY);
	if (console < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		dup2(console, fd);
	if (console > 2)
		close(console);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void raise_loopback(void)
{
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo"};
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return;
	request.ifr_flags |= IFF_UP;
	ioctl(fd, SIOCSIFFLAGS, &request);
}

void guest_prepare(void)
{
	mount_all();
	attach_console();
	raise_loopback();
	struct rlimit files = {OPEN_FILES, OPEN_FILES};
	setrlimit(RLIMIT_NOFILE, &files);
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/tmp", 1);
}

static void load_module(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
		printf("sentinel-agent: module %s: %s\n", path, strerror(errno));
}

void guest_load_modules(void)
{
	auto_free char *list = NULL;
	if (!file_exists(AGENT_MODULES_PATH) ||
	    file_read(AGENT_MODULES_PATH, SMALL_FILE_LIMIT_BYTES, &list, NULL, NULL) < 0)
		return;
	char *position = NULL;
	for (char *path = strtok_r(list, "\n", &position); path;
	     path = strtok_r(NULL, "\n", &position))
		load_module(path);
}

void guest_sweep(void)
{
	/* From process 1 this reaches all the others and no kernel thread. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}
