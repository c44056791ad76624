#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=../support/tap.sh
. tests/support/tap.sh

mapfile -t files < <(find bench bisect builder policies sentinel tests -name '*.[ch]')
check 'every source is formatted' clang-format --dry-run -Werror "${files[@]}"
for file in "${files[@]}"; do
	head -n 1 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' ||
		check "$file names its licence" false
done
mapfile -t scripts < <(grep -rlE '^#!/usr/bin/env bash|^#!/bin/bash' quickstart check .ci tests)
check 'every script parses' bash -n "${scripts[@]}"
tap_end
