#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad input: each a clear error with the right exit code, and nothing lost.
# usage: command-line.sh RELEASE-BUILD WORK-FOLDER
set -euo pipefail

# shellcheck source=../support/e2e.sh
. "$(dirname "$0")/../support/e2e.sh" "$@"
touch "$folder/trusted/vmlinuz"
git_demo() {
	git -C "$folder/tree.git" -c user.name=Demo -c user.email=demo@example.org "$@"
}
git init -q --bare -b main "$folder/tree.git"
empty=$(git_demo hash-object -t tree -w /dev/null)
root=$(git_demo commit-tree -m root "$empty")
left=$(git_demo commit-tree -m left -p "$root" "$empty")
right=$(git_demo commit-tree -m right -p "$root" "$empty")
git_demo update-ref refs/heads/main "$right"
git_demo update-ref refs/heads/left "$left"
demo_mail_port=9
demo_config "$folder"
cd "$folder"

# says CODE PATTERN ARGUMENTS...: exits with CODE and says PATTERN on standard error.
says() {
	local expected=$1 pattern=$2 status=0
	shift 2
	"$build/sentinel/sentinel" "$@" >out 2>err || status=$?
	if [ "$status" -eq "$expected" ] && grep -qE -- "$pattern" err; then
		return 0
	fi
	cat out err
	echo "exit code $status, expected $expected with: $pattern"
	return 1
}
conf() { # conf FILE EXPRESSION: a copy of the configuration, edited by sed
	sed "$2" sentinel.conf >"$1"
}

check 'an unknown command suggests the nearest' says 2 "did you mean 'nightly'" nighly
check 'an unknown option suggests the nearest' says 2 "did you mean '--exit-code'" nightly --exit-cod
check 'a missing operand is named' says 2 'needs REV' measure
check 'an operand too many is named' says 2 "unexpected argument 'b'" measure a b
check 'a required option is named' says 2 'needs --good REV' bisect --bad main
check 'a missing configuration says how to write one' says 2 'sentinel init' -c none.conf status
check 'init does not overwrite' says 2 'exists' init

head -c 200 sentinel.conf >half.conf
printf '[mach' >>half.conf
check 'a half-written configuration is refused' says 2 'half.conf' -c half.conf status
conf key.conf 's/branch = main/brnch = main/'
check 'an unknown key suggests the nearest' says 2 'branch' -c key.conf status
conf section.conf 's/\[night\]/[nigth]/'
check 'an unknown section suggests the nearest' says 2 'night' -c section.conf status
conf range.conf 's/boot-timeout = .*/boot-timeout = -3 s/'
check 'a value out of range names key and value' says 2 '-3' -c range.conf status
conf benchmark.conf 's/benchmarks = hackbench-pipe.*/benchmarks = hackbench-pip-process/'
check 'an unknown benchmark suggests the nearest' says 2 'hackbench-pipe-process' \
	-c benchmark.conf status

check 'a revision that does not exist is named' says 2 'mian' build mian
check 'a path that is no repository is named' bash -c '
	sed "s|url = .*|url = /etc|" sentinel.conf >path.conf
	"$0" -c path.conf --state other build main 2>err; test $? -eq 2 && grep -q /etc err' \
	"$build/sentinel/sentinel"
check 'good that is no ancestor of bad: the merge base is named' \
	says 2 "${root:0:10}" bisect --good left --bad main --series hackbench-pipe-process/groups-1/time
check 'a series that no benchmark has is named' \
	says 2 'no-such/series/time' bisect --good "$root" --bad main --series no-such/series/time
check 'a night without a baseline says what to do' says 2 'baseline set' judge main

conf fragment.conf 's|fragments = .*|fragments = no-such-file.config|'
check 'a fragment that does not exist is named' says 2 'no-such-file.config' -c fragment.conf build main
without_programs() {
	local status=0
	env PATH="$folder/empty" "$build/sentinel/sentinel" build main 2>err || status=$?
	[ "$status" -eq 3 ] && grep -q 'not found: gcc.*apt-get install gcc' err
}
check 'a missing compiler is named with its package' without_programs

without_emulator() {
	local status=0
	env PATH="$folder/empty" "$build/sentinel/sentinel" measure main 2>err || status=$?
	[ "$status" -eq 3 ] && grep -q 'qemu-system-x86_64 not found; install the package' err
}
check 'a missing emulator is named with its package' without_emulator
cat sentinel.conf - >absent.conf <<'END'
[benchmark "absent"]
	command = no-such-benchmark
	package = its-package
	metric = time
	pattern = "^(.*)$"
	unit = s
	better = lower
END
sed -i 's/benchmarks = hackbench-pipe.*/benchmarks = absent/' absent.conf
check 'a missing benchmark program is named with its package' \
	says 3 'no-such-benchmark not found; install the package its-package' -c absent.conf measure main

mkdir -p full
if mount -t tmpfs -o size=64k none full 2>/dev/null; then
	head -c 65536 /dev/zero >full/fill 2>/dev/null || true
	check 'a full disk is named' says 3 'full|No space' --state full status
	umount full
else
	skip 'a full disk is named' 'this user may not mount a small file system'
fi

check 'a state folder that is a file is refused' says 3 'not a folder|cannot create' \
	--state sentinel.conf/state status
sqlite_magic=$(printf 'this is not a database, but it is long enough to be read as one %0100d' 0)
mkdir -p damaged
printf '%s' "$sqlite_magic" >damaged/sentinel.db
check 'a damaged store is refused and left alone' says 5 'damaged/sentinel.db' --state damaged status
check 'and its bytes are untouched' test "$(cat damaged/sentinel.db)" = "$sqlite_magic"
"$build/sentinel/sentinel" --state newer status >/dev/null
/usr/bin/python3 -c '
import sqlite3
store = sqlite3.connect("newer/sentinel.db")
store.execute("PRAGMA user_version = 9999")
store.commit()'
check 'a store from a newer version is refused' says 5 'newer' --state newer status

check 'mail to a server that is down waits' says 4 'wait' mail test
check 'and is shown as queued' bash -c '"$0" mail show | grep -q queued' "$build/sentinel/sentinel"
check 'doctor names what is missing' bash -c '"$0" doctor >out; test $? -eq 3 && grep -q MISSING out' \
	"$build/sentinel/sentinel"
check 'a second worker is told who holds the lock' bash -c '
	flock state/lock -c "\"$0\" mail flush" 2>err; test $? -eq 5 && grep -q "held by" err' \
	"$build/sentinel/sentinel"
tap_end
