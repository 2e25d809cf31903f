#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# twheel arm and the demo on a wheel in user space: needs no module.  TAP.
# Usage: test-fake.sh FAKE-TWHEEL FAKE-DEMO

twheel=$1
demo=$2
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
nr=0
failed=0

# result STATUS WHAT
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
	fi
}

# start FAKE [OPTION...]: a demo on that fake; all at once, as they mostly wait
start()
{
	fake=$1
	shift
	{
		FAKE=$fake "$demo" --connections 200 --timeout 500ms "$@" >"$dir/$fake" 2>&1
		echo $? >"$dir/$fake.status"
	} &
}

# look FAKE: what has become of it; its output is in $out, its last line in $last
look()
{
	out=$(cat "$dir/$1")
	status=$(cat "$dir/$1.status")
	last=$(tail -n 1 "$dir/$1")
}

# table ROW: the numbers in that row of the last table
table()
{
	printf '%s\n' "$out" | sed -n "s/^  $1 *//p" | tail -n 1 | tr -d ,
}

out=$("$twheel" arm 20ms 10ms | awk 'NR > 2 { print $NF }' | tr '\n' ' ')
[ "$out" = "10ms 20ms " ]
result $? "arm prints events in order of time"

out=$(FAKE=denied "$twheel" arm 1ms 2>&1)
[ $? -eq 1 ] && [ "$out" = "twheel arm: not permitted to open /dev/twheel: twheel doctor tells who may" ]
result $? "arm tells of a cgroup that does not let it open the device"

out=$("$twheel" arm --every 10ms --times 3 5ms | wc -l)
[ "$out" -eq 5 ]
result $? "arm --every --times ends by itself"

out=$("$twheel" arm --json --cookie 7 1ms | grep -c '"what":"expired".*"cookie":7.*"last":true')
[ "$out" -eq 1 ]
result $? "arm --json"

start honest
start wordless
start early
start lose
start late
start stale --no-words
wait

good='demo: [1-9][0-9]* cut, 0 early, 0 missed$'
look honest
[ "$status" -eq 0 ] && expr "$last" : "$good" >/dev/null
result $? "an honest wheel passes the demo: $last"

# With words times and calls, then without.
# shellcheck disable=SC2046 # four numbers
set -- $(table 'pushed back, on a message')
[ $# -eq 4 ] && [ "$1" -gt 1000 ] && [ "$2" -eq 0 ] && [ "$3" -gt 1000 ] && [ "$4" -eq "$3" ]
result $? "no timer is pushed back by a call with words, each without: $*"

# shellcheck disable=SC2046 # four numbers
set -- $(table 'armed, on accept')
[ $# -eq 4 ] && [ "$1" -eq 200 ] && [ "$2" -ge 4 ] && [ "$2" -lt 100 ] && [ "$4" -eq 200 ]
result $? "timers are armed by the batch with words, one by one without: $*"

look wordless
[ "$status" -eq 0 ] && expr "$last" : "$good" >/dev/null &&
	printf '%s\n' "$out" | grep -q 'as there are no words here' &&
	! printf '%s\n' "$out" | grep -q 'with words'
result $? "a kernel without words passes the demo, which says so: $last"

look early
[ "$status" -eq 1 ] && expr "$last" : 'demo: [0-9]* cut, [1-9][0-9]* early, 0 missed$' >/dev/null
result $? "a wheel that fires early is found out: $last"

look lose
[ "$status" -eq 1 ] && expr "$last" : 'demo: [0-9]* cut, 0 early, [1-9][0-9]* missed$' >/dev/null
result $? "a wheel that loses events is found out: $last"

look late
[ "$status" -eq 1 ] && expr "$last" : 'demo: [0-9]* cut, 0 early, [1-9][0-9]* missed$' >/dev/null
result $? "a wheel that fires late is found out: $last"

look stale
[ "$status" -eq 1 ] && printf '%s\n' "$out" | grep -q 'stale events *[1-9]'
result $? "stale events are found out: $last"

out=$("$demo" --fallback --connections 200 --timeout 500ms) && status=0 || status=$?
last=$(printf '%s\n' "$out" | tail -n 1)
# shellcheck disable=SC2046 # two numbers
set -- $(table 'pushed back, on a message')
[ "$status" -eq 0 ] && expr "$last" : "$good" >/dev/null &&
	[ $# -eq 2 ] && [ "$1" -gt 1000 ] && [ "$2" -eq 0 ] &&
	printf '%s\n' "$out" | grep -q 'its own process'
result $? "the demo without the device, in its own process: $last"

out=$("$demo" --json --connections 20 --timeout 200ms 2>/dev/null) &&
	printf '%s\n' "$out" | grep -Eq \
	'^\{"good":true,"runs":\[\{"good":true,"words":true,.*\},\{"good":true,"words":false,.*\}\]\}$'
result $? "the demo's --json is one object"

out=$("$demo" --quick --bound 0ms 2>&1) && status=0 || status=$?
[ "$status" -eq 2 ] && printf '%s\n' "$out" | grep -q -e '--bound 0ms: .* give at least 1ns'
result $? "a bound that each cut would miss is refused"

echo "1..$nr"
exit $failed
