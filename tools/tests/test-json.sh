#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What each verb prints with --json, on a wheel in user space, by the schema.  TAP.
# Usage: test-json.sh FAKE-TWHEEL FAKE-DEMO, from the folder of the tools

[ -x /usr/bin/python3 ] || {
	echo "ok 1 - what is printed with --json # SKIP there is no python3"
	echo "1..1"
	exit
}

twheel=$1
demo=$2
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT

# Beside the twheel whose --help is asked, as it will be installed.
mkdir "$dir/bin" "$dir/json"
cp "$twheel" "$dir/bin/twheel"
cp "$demo" "$dir/bin/twheel-demo"
PATH=$dir/bin:$PATH

tests/fake-proc.sh "$dir/proc"
# What comes first is an event, and last the counters: all kinds are there.
printf '%s\n' 'arm 1 350ms' 'arm 2 450ms' 'cancel 2' 'where 1' 'run 345ms' 'arm 2 9ms' 'stop' \
	>"$dir/script"
{
	twheel arm --json --every 1ms --times 2 --cookie 7 1ms >"$dir/json/arm"
	FAKE_TIMERS=20 twheel watch --fd 0 --json --interval 10ms --count 2 >"$dir/json/watch"
	FAKE_TIMERS=20 twheel list --fd 0 --json >"$dir/json/list"
	for id in 0 3 40; do
		FAKE_TIMERS=20 twheel get --fd 0 --json $id >>"$dir/json/get"
	done
	FAKE_TIMERS=20 twheel stat --fd 0 --json >"$dir/json/stat"
	FAKE_PROC=$dir/proc twheel stat --json >>"$dir/json/stat"
	twheel doctor --json >"$dir/json/doctor"
	twheel features --json >"$dir/json/features"
	twheel sim --json --as hierarchical --trace --levels 2 "$dir/script" >"$dir/json/sim"
	twheel sim --json "$dir/script" >>"$dir/json/sim"
	twheel demo --json --connections 20 --timeout 200ms >"$dir/json/demo"
} </dev/null 2>/dev/null
tests/check-json.py schema.json "$dir/json" twheel
