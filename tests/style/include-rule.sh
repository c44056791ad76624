#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A room includes only what stands to its left:
#   sentinel/base -> policies -> builder -> bench; bisect sees sentinel/base only; sentinel/ sees all,
# but sentinel/simulate, which is pure, only what it simulates.
# And each foreign library's header belongs to one room.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=../support/tap.sh
. tests/support/tap.sh

declare -A allowed=(
	[sentinel/base]='sentinel/base'
	[policies]='sentinel/base|policies'
	[builder]='sentinel/base|policies|builder'
	[bench]='sentinel/base|policies|builder|bench'
	[bisect]='sentinel/base|bisect'
	[sentinel/simulate]='sentinel/base|bench|bisect|sentinel/simulate'
)
for room in "${!allowed[@]}"; do
	wrong=$(grep -rnE '^#include "' "$room" --include='*.[ch]' |
		grep -vE "#include \"(${allowed[$room]})/[^\"]+\"" |
		grep -vE "#include \"sentinel/base/" || true)
	[ -z "$wrong" ] || echo "$wrong"
	check "$room includes only what stands to its left" test -z "$wrong"
done

# header -> the only files that may include it
while read -r header files; do
	users=$(grep -rlE "^#include <$header>" --include='*.[ch]' . --exclude-dir=build \
		--exclude-dir=demo --exclude-dir=tests | sed 's|^\./||' | sort | tr '\n' ' ')
	for user in $users; do
		check "$user may include $header" grep -qE "^($files)\$" <<<"$user"
	done
done <<'END'
git2.h policies/policy_file\.c|builder/(source_tree|commit_range|tree_difference|work_tree|mirror)[a-z_]*\.[ch]
sqlite3.h sentinel/store[a-z_]*\.[ch]
libesmtp.h sentinel/delivery\.c
gmime/gmime.h sentinel/mail\.c
libkmod.h builder/modules[a-z_]*\.c
archive.h builder/(initramfs|artifact)[a-z_]*\.c
pcre2.h bench/extract[a-z_]*\.c
Rmath.h sentinel/base/(distribution|random)\.c
jansson.h sentinel/base/json\.h
END
tap_end
