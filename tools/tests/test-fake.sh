#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# twheel arm and the demo on a wheel in user space: needs no module.  TAP.
# Usage: test-fake.sh FAKE-TWHEEL FAKE-DEMO

twheel=$1
demo=$2
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

# All good: exit status 0 and the last line is as expected.
run_demo()
{
	out=$(FAKE=$1 "$demo" --connections 200 --timeout 500ms 2>&1)
	status=$?
	last=$(printf '%s\n' "$out" | tail -n 1)
}

out=$("$twheel" arm 20ms 10ms | awk 'NR > 2 { print $NF }' | tr '\n' ' ')
[ "$out" = "10ms 20ms " ]
result $? "arm prints events in order of time"

out=$("$twheel" arm --every 10ms --times 3 5ms | wc -l)
[ "$out" -eq 5 ]
result $? "arm --every --times ends by itself"

out=$("$twheel" arm --json --cookie 7 1ms | grep -c '"what":"expired".*"cookie":7.*"last":true')
[ "$out" -eq 1 ]
result $? "arm --json"

run_demo honest
[ $status -eq 0 ] && expr "$last" : 'demo: [1-9][0-9]* cut, 0 early, 0 missed$' >/dev/null
result $? "an honest wheel passes the demo: $last"

run_demo early
[ $status -eq 1 ] && expr "$last" : 'demo: [0-9]* cut, [1-9][0-9]* early, 0 missed$' >/dev/null
result $? "a wheel that fires early is found out: $last"

run_demo lose
[ $status -eq 1 ] && expr "$last" : 'demo: [0-9]* cut, 0 early, [1-9][0-9]* missed$' >/dev/null
result $? "a wheel that loses events is found out: $last"

run_demo late
[ $status -eq 1 ] && expr "$last" : 'demo: [0-9]* cut, 0 early, [1-9][0-9]* missed$' >/dev/null
result $? "a wheel that fires late is found out: $last"

run_demo stale
[ $status -eq 1 ] && printf '%s\n' "$out" | grep -q 'stale events *[1-9]'
result $? "stale events are found out: $last"

out=$("$demo" --json --connections 20 --timeout 200ms 2>/dev/null) &&
	printf '%s\n' "$out" | grep -q '^{"good":true,.*"stats":{.*}}$'
result $? "the demo's --json is one object"

echo "1..$nr"
exit $failed
