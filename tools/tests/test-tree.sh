#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Are the programs built of what belongs to them?  In a tree without tests, benchmarks and
# documents.  TAP.
# Usage: test-tree.sh, from the folder of the tools

dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

mkdir "$dir/tree"
(cd .. && cp -r VERSION ./*.[ch] compat lib tools uapi "$dir/tree") 2>"$dir/err"
rm -rf "$dir/tree/lib/tests" "$dir/tree/tools/tests"
# Not as the programs are to run, but soon.
make -s -C "$dir/tree/tools" O="$dir/build" CFLAGS=-O0 >"$dir/out" 2>>"$dir/err" &&
	echo 'arm 1 350ms' | "$dir/build/twheel" sim >>"$dir/out" 2>>"$dir/err"
result $? "the programs are built without any tests"

echo "1..$nr"
exit "$failed"
