#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One whole night on a real kernel, killed with SIGKILL at five moments and resumed each time: the
# planted commit is named, one mail arrives. Then the same tree without the planted commit: silence.
# usage: night.sh RELEASE-BUILD WORK-FOLDER
set -euo pipefail

here=$(dirname "$0")
# shellcheck source=../support/e2e.sh
. "$here/../support/e2e.sh" "$@"
cache=${SENTINEL_CACHE:?the folder for the demo tree, the trusted kernel and compiled objects}
ln -s "$cache/trusted/vmlinuz" "$folder/trusted/vmlinuz"
# The demo tree's import is the slow part: it is shared between runs.
mkdir -p "$cache/demo"
demo_tree "$cache/demo" middle
ln -s "$cache/demo/tree.git" "$folder/tree.git"
demo_mail_server "$folder"
trap 'kill "$demo_mail_pid" 2>/dev/null || true' EXIT
demo_config "$folder"
cd "$folder"

no_emulator() {
	local pid
	for pid in $(pgrep -f 'qemu-system-x86_64.*-icount'); do
		if [[ $(readlink "/proc/$pid/cwd") == "$folder"* ]] ||
			tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF "$folder"; then
			echo "emulator $pid is still here"
			return 1
		fi
	done 2>/dev/null
}
json() { # json QUERY-EXPRESSION: evaluates it with "value" bound to standard input
	/usr/bin/python3 -c 'import json, sys
value = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

# A machine that does not come up is this host's fault, and tried afresh once it is mended: no
# kernel boots in a second here.
sed 's|boot-timeout = .*|boot-timeout = 1 s|' sentinel.conf >broken.conf
host_fault() {
	local status=0
	sentinel -c broken.conf baseline set "$demo_good" 2>fault || status=$?
	[ "$status" -eq 3 ] && grep -q 'failed-host: .*trusted' fault
}
check 'a trusted kernel that does not come up is the fault of the host' host_fault
sentinel baseline set "$demo_good"
check 'a baseline is measured' test "$(sentinel --json baseline show | json 'value["complete"]')" = True

# Moments are drawn anew each time; the seed is printed so that a failure can be repeated.
seed=${SENTINEL_TEST_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"
# On this machine one boot takes so long: the moments are spread over the night, however fast.
boot=$(sentinel --json log --limit 1 | json 'max(1, int(value["trials"][0]["seconds"]))')
command=nightly
finished=
for ((kill_count = 1; kill_count <= 5; kill_count++)); do
	sentinel "$command" >>night.out 2>&1 &
	pid=$!
	moment=$((1 + boot * (4 + RANDOM % 32) / 10))
	for ((waited = 0; waited < moment; waited++)); do
		sleep 1
		kill -0 "$pid" 2>/dev/null || break
	done
	if ! kill -9 "$pid" 2>/dev/null; then
		finished=1
	fi
	wait "$pid" 2>/dev/null || true
	echo "kill $kill_count after $waited s"
	[ -z "$finished" ] || break
	command=resume
done
check 'nothing of the emulator outlives a killed sentinel' no_emulator
sentinel resume >>night.out 2>&1
check 'the night was still running at each kill' test -z "$finished"

# A hunt for what seems left over ("origin") may find that nothing is.
hunts=$(sentinel --json nightly 2>/dev/null | json '" ".join(sorted({str(hunt["culprit"])
	for hunt in value["hunts"] if not hunt["origin"] or hunt["culprit"]}))')
check 'the planted commit is named, exactly, by every hunt' test "$hunts" = "$demo_planted"
[ "$hunts" = "$demo_planted" ] || cat night.out
check 'nightly --exit-code tells of the regression' \
	bash -c 'sentinel -q nightly --exit-code >/dev/null; test $? -eq 1'
check 'one mail has arrived' test "$(demo_mails "$folder" | wc -l)" -eq 1
check 'its subject names the commit' \
	grep -q "^Subject:.*${demo_planted:0:10}" "$(demo_mails "$folder" | head -n 1)"
log=$(sentinel log --limit 1000)
for fault in broken_build panics hangs; do
	name=demo_$fault
	check "the commit that $fault is skipped with its reason" \
		grep -q "skipped ${!name:0:10}: ." <<<"$log"
done
check 'every console shows the trusted kernel, the jump and the suspect with its token' \
	"$here/consoles" "$folder"
check 'the proof holds the revert on top of the bad end' \
	grep -q '^- reverted on top of the bad end, .*: -[0-9.]*%' "$(demo_mails "$folder" | head -n 1)"
check 'compare prints the classic table' \
	grep -qE '^hackbench-pipe-process +time .* 1\.00 \( *[0-9.]+\) +-[0-9.]+ \( *[0-9.]+\)' \
	<(sentinel compare good bad)
check 'compare --exit-code returns 1' \
	bash -c 'sentinel -q compare --exit-code good bad >/dev/null; test $? -eq 1'

# The same night without the slow commit, on the same baseline.
demo_tree "$cache/demo" none
# Two boots of a noisy series may not prove yet that what was open is gone; the clear one does.
check 'without the planted commit there is no new regression' \
	grep -qxE '(no|known) regression' <(sentinel --json nightly | json 'value["outcome"]')
check 'and the clear series is closed again' \
	grep -q 'unchanged, fixed' <(sentinel history hackbench-pipe-thread/groups-1/time)
check 'and no further mail' test "$(demo_mails "$folder" | wc -l)" -eq 1

tap_end
