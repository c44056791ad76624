# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What quickstart and the end-to-end tests share: a demo tree, a trusted kernel, a configuration and
# a mail server, all below one folder. Source it; then call the functions in this order.

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# demo_build FOLDER: builds the program (release) in FOLDER.
demo_build() {
	cmake -S "$source_folder" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -Wno-dev >/dev/null
	cmake --build "$1" --target sentinel sentinel-agent
}

# demo_tree FOLDER PLANT: makes the demo tree and sets good, bad, planted, … from what it prints.
demo_tree() {
	local facts
	facts=$("$source_folder/tests/demo/make-demo-tree" --plant "$2" "$1/tree.git")
	while IFS='=' read -r name value; do
		case $name in
		good | bad | planted | planted_parent | broken_build | panics | hangs)
			printf -v "demo_$name" '%s' "$value"
			;;
		esac
	done <<<"$facts"
}

# demo_mail_server FOLDER: a real SMTP server on 127.0.0.1 that stores into FOLDER/maildir. Sets
# demo_mail_port and demo_mail_pid.
demo_mail_server() {
	demo_mail_port=$(/usr/bin/python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	/usr/bin/python3 -m aiosmtpd -n -c aiosmtpd.handlers.Mailbox -l \
		"127.0.0.1:$demo_mail_port" "$1/maildir" >"$1/smtp.log" 2>&1 &
	demo_mail_pid=$!
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		if (exec 3<>"/dev/tcp/127.0.0.1/$demo_mail_port") 2>/dev/null; then
			return 0
		fi
		sleep 0.1
	done
	echo "the mail server did not start; see $1/smtp.log" >&2
	return 3
}

# demo_config FOLDER: writes FOLDER/sentinel.conf for the demo.
demo_config() {
	cat >"$1/sentinel.conf" <<-EOF
	[tree "demo"]
		url = $1/tree.git
		branch = main
		config = tinyconfig
		fragments = shipped:kernel/embedded.config
		modules = libcrc32c
		irrelevant = Documentation/ arch/arm/ arch/arm64/
	[machine "guest"]
		driver = qemu
		trusted-kernel = $1/trusted/vmlinuz
		boot-timeout = ${demo_boot_timeout:-30} s
	[night]
		tree = demo
		machine = guest
		benchmarks = hackbench-pipe-process hackbench-pipe-thread
		benchmarks = hackbench-socket-process hackbench-socket-thread perf-sched-pipe
		# This machine's clock counts instructions: where functions lie makes no difference to it.
		layout-builds = 1
		retest-pairs = 3
		attempts = 2
	[mail]
		server = smtp://127.0.0.1:$demo_mail_port
		from = Sentinel <sentinel@example.org>
		to = perf-watch@example.org
	EOF
}

# demo_mails FOLDER: the files of the mails that arrived, one a line.
demo_mails() {
	find "$1/maildir/new" -type f 2>/dev/null | sort
}
