#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# twheel watch: what becomes of it when something goes wrong, or when it was stopped.  TAP.
# Usage: test-watch.sh FAKE-TWHEEL

twheel=$(realpath "$1")
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"
export FAKE_TIMERS=20
: >"$dir/out"

# lines N: that many have come; it waits for them, for 10 s at most
lines()
{
	tries=100
	until [ "$(wc -l <"$dir/out")" -ge "$1" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

"$twheel" watch --fd 0 --json --interval 50ms </dev/null >"$dir/out" 2>"$dir/err" &
lines 1
prlimit --pid $! --nofile=3
wait $!
[ $? -eq 1 ] && [ "$(cat "$dir/err")" = 'twheel watch: file descriptor 0: Too many open files' ]
result $? "why it can't go on is told, unless the wheel was closed"

"$twheel" watch --fd 0 --interval 50ms --count 0 </dev/null >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && grep -q -- '--count' "$dir/err"
result $? "no line at all is refused"

"$twheel" watch --fd 0 --json --interval 50ms --count 20 </dev/null >"$dir/out" 2>"$dir/err" &
lines 2
kill -STOP $!
sleep 1
kill -CONT $!
wait $!
status=$?
sed 's/.*"interval_ns":\([0-9]*\),.*/\1/' "$dir/out" >"$dir/intervals"
[ $status -eq 0 ] && [ "$(wc -l <"$dir/intervals")" -eq 20 ] &&
	[ "$(awk '$1 >= 900000000 { n++ } END { print n }' "$dir/intervals")" -eq 1 ] &&
	[ "$(awk '$1 < 10000000 { n++ } END { print n + 0 }' "$dir/intervals")" -le 1 ]
result $? "who was stopped goes on, and does not make up for the lines that were missed"

echo "1..$nr"
exit "$failed"
