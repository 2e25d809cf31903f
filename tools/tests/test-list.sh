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
refused "'': give a number" --id 5-
refused 'give a number' --id x
refused '9-3: the first is above the last' --id 9-3
refused 'needs a unit' --within 5
refused 'use id, remaining' --sort size
refused 'give a number from 1' --limit 0

# What is told of slots, of a list that takes several calls to go through.
# fake HOW TIMERS COMMAND...: of such a kernel
fake()
{
	how=$1
	timers=$2
	shift 2
	FAKE=$how FAKE_TIMERS=$timers "$twheel" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# tells PATTERN WHAT: the last command has succeeded, with such a line
tells()
{
	[ $status -eq 0 ] && grep -Eq -- "$1" "$dir/out"
	result $? "$2"
}

fake '' 300 list --fd 0 --where --id 10
tells '^ +10 .* 290 +2 +77 +5 +289$' 'list --where: 289 timers stand before it, five calls away'
tells ' COOKIE +LEVEL +SLOT +LIST +BEFORE$' 'list --where has a head for it'
fake '' 300 list --fd 0 --where --id 13
tells '^ +13 .*expired.* 287 +- +- +- +-$' 'list --where: one that has expired is in no slot'
fake moving 300 list --fd 0 --where --id 10
tells ' 290 +- +- +- +-$' 'list --where: a list that has changed meanwhile is told of as unknown'
fake '' 300 list --fd 0 --where --id 10 --json
tells '"overruns":2,"where":\{"place":"slot","level":2,"slot":77,"list":5,"before":289,"filed_ns":8000000000\}\}$' \
	'list --where --json'
fake placeless 300 list --fd 0 --where
[ $status -eq 1 ] && grep -q 'this module does not tell where a timer is' "$dir/err"
result $? 'list --where: an older module is told of'
fake moved 300 list --fd 0 --where --id 10
tells ' 290 +2 +77 +5 +289$' 'list --where: a timer in front that has moved meanwhile does not count'
fake idle 20000 list --fd 0 --where
tells '^ +1000 .* 19000 +2 +77 +5 +18999$' 'list --where: no more than three calls for each timer'

FAKE=apart FAKE_TIMERS=300 prlimit --as=134217728 "$twheel" list --fd 0 --where \
	>"$dir/out" 2>"$dir/err" </dev/null
status=$?
tells '^14900000 .* 2 +2 +77 +5 +1$' 'list --where: what it takes does not go by how large ids are'

fake '' 300 get --fd 0 10
tells '^  state +pending$' 'get: state'
tells '^  remaining +71ms$' 'get: remaining'
tells '^  interval +1s$' 'get: interval'
tells '^  left +for ever  expirations$' 'get: expirations left'
tells '^  overruns +2$' 'get: overruns'
tells '^  generation +1  of' 'get: generation'
tells '^  cookie +290$' 'get: cookie'
tells '^  level +2$' 'get: level'
tells '^  slot +77  ' 'get: slot'
tells '^  before it +289  ' 'get: how many stand before it'
tells '^  filed for +3s  from now$' 'get: when the wheel comes to it'
fake '' 300 get --fd 0 13
tells '^  where +due  ' 'get: an event that waits'
fake '' 300 get --fd 0 400
tells '^  state +idle$' 'get: one that is not armed'
tells '^  where +nowhere  ' 'get: where that is'
! grep -q cookie "$dir/out"
result $? 'get: of that nothing else is told'
fake moving 300 get --fd 0 10
tells '^  where +unknown  ' 'get: a list that has changed meanwhile'
fake anew 300 get --fd 0 10
tells '^  where +unknown  ' 'get: one that is armed anew all the time'
[ "$(grep -c 'filed for' "$dir/out")" = 0 ]
result $? 'get: of its later arming nothing is told'
fake '' 300 get --fd 0 --json 13
tells '^\{"id":13,.*"where":\{"place":"due","filed_ns":' 'get --json'

# get_refused STATUS PATTERN ARGUMENT...: with one line
get_refused()
{
	want=$1
	pattern=$2
	shift 2
	fake '' 300 get --fd 0 "$@"
	[ $status -eq "$want" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -q "$pattern" "$dir/err"
	result $? "refused: get $*"
}
get_refused 2 'say which'
get_refused 2 'one timer at a time' 1 2
get_refused 2 'give a number' x
get_refused 2 'ID 70000: the wheel has ids 0 to 65535: give one of these' 70000
fake placeless 300 get --fd 0 10
tells '^  state +pending$' 'get: of an older module, what that tells'
tells '^  where +unknown  this module does not tell' 'get: and that it does not tell the rest'
fake placeless 300 get --fd 0 --json 10
tells '^\{"id":10,.*"overruns":2,"where":\{"place":"unknown"\}\}$' 'get --json: the same'

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

# Some devices say yes to any call.
FAKE=nothing list 20
[ $status -eq 1 ] && grep -q 'fd 0: not a wheel' "$dir/err"
result $? "what fills in nothing is no wheel"
mkdir "$dir/nobody"
why='no wheel is open in any process'
[ -e /dev/twheel ] || why="$why: there is no /dev/twheel, and twheel doctor tells why"
FAKE_PROC=$dir/nobody "$twheel" list >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && grep -q ": $why\$" "$dir/err"
result $? "where no wheel is open it says why, if it knows"

# As root, without what root may do; and as somebody else.
for who in '--bounding-set -sys_ptrace' '--reuid 65534 --clear-groups'; do
	what="not permitted to reach into a process: $who"
	if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
		skip "$what" "it takes root and setpriv"
		continue
	fi
	why='be root'
	[ "$who" = "${who#--bounding}" ] ||
		why='a container or a security module may refuse that to root, too'
	chmod 755 "$dir"
	# shellcheck disable=SC2086 # options
	setpriv $who "$twheel" list --pid 1:5 >"$dir/out" 2>"$dir/err"
	[ $? -eq 1 ] && grep -q ": not permitted to reach into process 1: $why\$" "$dir/err"
	result $? "$what"
done

echo "1..$nr"
exit "$failed"
