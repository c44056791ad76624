#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The short commands of the release build are clean under valgrind.
# usage: valgrind.sh RELEASE-BUILD WORK-FOLDER
set -euo pipefail

# shellcheck source=../support/e2e.sh
. "$(dirname "$0")/../support/e2e.sh" "$@"
touch "$folder/trusted/vmlinuz"
git init -q --bare -b main "$folder/tree.git"
git -C "$folder/tree.git" -c user.name=Demo -c user.email=demo@example.org commit-tree \
	-m 'first' "$(git -C "$folder/tree.git" hash-object -t tree -w /dev/null)" |
	xargs git -C "$folder/tree.git" update-ref refs/heads/main
demo_mail_port=9
demo_config "$folder"
cd "$folder"

clean() { # clean EXPECTED-EXIT ARGUMENTS...
	local expected=$1 status=0
	shift
	valgrind -q --suppressions="$source_folder/tests/support/valgrind.supp" --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
		"$build/sentinel/sentinel" "$@" >out 2>err || status=$?
	[ "$status" -eq "$expected" ] || {
		cat out err
		echo "exit code $status, expected $expected"
		return 1
	}
}
check 'valgrind: --help' clean 0 --help
check 'valgrind: --version' clean 0 --version
check 'valgrind: an unknown command' clean 2 nighly
check 'valgrind: init' clean 0 -c other.conf init
check 'valgrind: status' clean 0 status
check 'valgrind: status as JSON' clean 0 --json status
check 'valgrind: log' clean 0 log
check 'valgrind: baseline show without a baseline' clean 2 baseline show
check 'valgrind: compare of what was never measured' clean 2 compare main main
check 'valgrind: a revision that does not exist' clean 2 compare mian main
check 'valgrind: mail show' clean 0 mail show
tap_end
