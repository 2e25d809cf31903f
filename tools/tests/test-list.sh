#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Which timers twheel list shows, and in which order, of a wheel that does not change; and what
# twheel get tells of one.  TAP.
# Usage: test-list.sh FAKE-TWHEEL, from the folder of the tools

twheel=$1
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

# list TIMERS OPTION...: of a wheel with so many
list()
{
	timers=$1
	shift
	FAKE_TIMERS=$timers "$twheel" list --fd 0 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# shows IDS SUM OPTION...: of 20 timers these, and the last line says so
shows()
{
	ids=$1
	sum=$2
	shift 2
	list 20 "$@"
	[ $status -eq 0 ] && [ "$(sed '1d;$d' "$dir/out" | awk '{ print $1 }' | xargs)" = "$ids" ] &&
		[ "$(tail -n 1 "$dir/out")" = "$sum" ]
	result $? "list $*: $ids"
}

# refused PATTERN OPTION...: with one line
refused()
{
	pattern=$1
	shift
	list 20 "$@"
	[ $status -eq 2 ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -q "$pattern" "$dir/err"
	result $? "refused: list $*"
}

all=$(seq 0 19 | xargs)
shows "$all" '18 pending, 2 expired'
shows '3 13' '0 pending, 2 expired' --state expired
shows '4 5 6' '3 pending, 0 expired' --id 4-6
shows '19' '1 pending, 0 expired' --id 19
shows '' '0 pending, 0 expired' --id 20-30
shows '0 5 10 15' '4 pending, 0 expired' --periodic
# What has expired is due within any time.
shows '0 3 13' '1 pending, 2 expired' --within 1ms
shows '0' '1 pending, 0 expired' --within 1ms --state pending
shows '0 1 2 3' '3 pending, 1 expired' --limit 4
shows '13 3' '0 pending, 2 expired' --sort cookie --state expired
shows '3 13 0 6' '2 pending, 2 expired' --sort remaining --limit 4
shows '17 14 11' '3 pending, 0 expired' --sort remaining --reverse --limit 3 --id 6-19
# Of equal ones by id, and the other way round.
shows '0 4 8 12 16' '5 pending, 0 expired' --sort overruns --limit 5
shows '19 15 11 7 3' '4 pending, 1 expired' --sort overruns --reverse --limit 5
shows '19 18' '2 pending, 0 expired' --reverse --limit 2

refused 'is pending or expired' --state idle
refused 'give a number' --id x
refused 'from 9 to' --id 9-3
refused 'needs a unit' --within 5
refused 'use id, remaining' --sort size
refused 'give a number from 1' --limit 0

# get ARGUMENT...: of a wheel with 300 timers
get()
{
	FAKE_TIMERS=300 "$twheel" get --fd 0 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# tells PATTERN WHAT: the last command has succeeded, with such a line
tells()
{
	[ $status -eq 0 ] && grep -Eq -- "$1" "$dir/out"
	result $? "$2"
}

get 10
tells '^  state +pending$' 'get: state'
tells '^  remaining +71ms$' 'get: remaining'
tells '^  interval +1s$' 'get: interval'
tells '^  left +for ever  expirations$' 'get: expirations left'
tells '^  overruns +2$' 'get: overruns'
tells '^  generation +1  of' 'get: generation'
tells '^  cookie +290$' 'get: cookie'
get 400
tells '^  state +idle$' 'get: one that is not armed'
! grep -q cookie "$dir/out"
result $? 'get: of that nothing else is told'
get --json 13
tells '^\{"id":13,.*"overruns":1\}$' 'get --json'

# get_refused STATUS PATTERN ARGUMENT...: with one line
get_refused()
{
	want=$1
	pattern=$2
	shift 2
	get "$@"
	[ $status -eq "$want" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -q "$pattern" "$dir/err"
	result $? "refused: get $*"
}
get_refused 2 'say which'
get_refused 2 'one timer at a time' 1 2
get_refused 2 'give a number' x
get_refused 1 'timer 70000: a number is out of its range' 70000

# More than one call asks for, and more than a buffer holds.
list 3000
[ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 3002 ] &&
	[ "$(awk 'NR > 1 && NF > 5 && $1 != NR - 2' "$dir/out")" = '' ]
result $? "list 3,000 timers"
list 3000 --json --sort remaining
[ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 3000 ] &&
	[ "$(sed 's/.*"remaining_ns":\([0-9]*\).*/\1/' "$dir/out" | sort -nc 2>&1)" = '' ]
result $? "list 3,000 timers, sorted, as JSON"
FAKE_TIMERS=3000 "$twheel" list --fd 0 --json >/dev/full 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'not all could be written' "$dir/err"
result $? "a full disk is told of"

echo "1..$nr"
exit "$failed"
