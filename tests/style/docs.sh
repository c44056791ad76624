#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: docs.sh PROGRAM
# What the docs print of the program is what the program prints.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=../support/tap.sh
. tests/support/tap.sh

keys_documented() {
	diff <(sed -n '/^```$/,/^```$/p' docs/configuration.md | grep -v '^```$') <("$1" init --list)
}
commands_documented() {
	local name
	while read -r name; do
		grep -qE "(sentinel |\`)[^\`]*\b$name\b" README.md || {
			echo "README.md lacks $name"
			return 1
		}
	done < <("$1" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
}
check 'docs/configuration.md has every key' keys_documented "$1"
check 'README.md names every command' commands_documented "$1"
tap_end
