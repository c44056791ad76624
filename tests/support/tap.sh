# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The few words that test scripts need: "ok - …" and "not ok - …", counted.

tap_failed=0

# check NAME COMMAND...: the test passes when the command does.
check() {
	local name=$1
	shift
	if "$@"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		tap_failed=$((tap_failed + 1))
	fi
}

# skip NAME WHY
skip() {
	echo "skip - $1: $2"
}

tap_end() {
	exit $((tap_failed > 0))
}
