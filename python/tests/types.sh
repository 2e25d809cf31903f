#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Do the annotations agree with each other, and with what the extensions have?  TAP.

nr=0
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# check WHAT COMMAND...
check()
{
	what=$1
	shift
	nr=$((nr + 1))
	if "$@" > "$dir/log" 2>&1; then
		echo "ok $nr - $what"
	else
		sed 's/^/# /' "$dir/log"
		echo "not ok $nr - $what"
		failed=1
	fi
}

if ! command -v mypy > /dev/null || ! command -v stubtest > /dev/null; then
	echo "1..0 # SKIP there is no mypy"
	exit
fi
folder=$(/usr/bin/python3 -c 'import os, twheel; print(os.path.dirname(twheel.__file__))')
cd "$folder/.." || exit
check "mypy --strict" mypy --strict --cache-dir "$dir/cache" twheel
check "stubtest" env MYPY_CACHE_DIR="$dir/cache" stubtest twheel
echo "1..$nr"
exit $failed
