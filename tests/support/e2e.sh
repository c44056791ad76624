# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How every end-to-end script begins; sourced with its arguments, RELEASE-BUILD WORK-FOLDER: an empty
# folder, and the words of demo.sh and tap.sh.

build=$1
folder=$2
support=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=demo.sh
. "$support/demo.sh"
# shellcheck source=tap.sh
. "$support/tap.sh"

rm -rf "$folder"
mkdir -p "$folder/trusted"
folder=$(cd "$folder" && pwd)
export PATH=$build/sentinel:$PATH
