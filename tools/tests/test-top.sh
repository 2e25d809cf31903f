#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# twheel top: as text, as JSON, recorded and replayed; and on a terminal, which is tmux here: what
# it shows there is as it is kept in tests/top.  TAP.
# Usage: test-top.sh FAKE-TWHEEL TWHEEL, from the folder of the tools

fake=$(realpath "$1")
twheel=$(realpath "$2")
dir=$(mktemp -d)
terminal=
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; [ -z "$terminal" ] || $terminal kill-server 2>/dev/null; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

# top OPTION...: not on a terminal
top()
{
	timeout 60 "$twheel" top "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# fake HOW TIMERS OPTION...: of a live wheel that is none
fake()
{
	how=$1
	timers=$2
	shift 2
	FAKE=$how FAKE_TIMERS=$timers timeout 60 "$fake" top "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# has WHAT PATTERN...: the last command has succeeded, with such lines
has()
{
	what=$1
	missing=0
	shift
	for pattern; do
		grep -Eq -- "$pattern" "$dir/out" || missing=1
	done
	[ $status -eq 0 ] && [ $missing -eq 0 ] && [ ! -s "$dir/err" ]
	result $? "$what"
}

# refused STATUS TEXT OPTION...: in one line
refused()
{
	want=$1
	text=$2
	shift 2
	top "$@"
	[ $status -eq "$want" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -qF -e "$text" "$dir/err"
	result $? "refused with $want: $text"
}

# --- a live wheel ---

fake spread 1000 --fd 0 --count 1
has "a live wheel: each timer in its slot, and what has expired in none" \
	'^twheel top: inherited file descriptor 0$' \
	'^time 5s  next in 2.5s  pending 900  unread 100  tick 1ms$' \
	'^ 0    1ms   250 ----\|-{16}\.{43}$' '^ 1   64ms   200 -{21}\.{18}\|' \
	'^ 2   4.1s   250 \|-{20}\.' '^ 3   4.4m   200 \|-{20}\.' \
	'^FOUND LATE, of 200 events;' '^p50 < 32.77us +#$' '^max 5ms '
! grep -q sample "$dir/out"
result $? "and all of them"
fake spread 40000 --fd 0 --count 1
has "of many timers a sample, and what it stands for" \
	'pending 36,000  unread 4,000' '^ 0    1ms +[0-9.]+k [-+#@]' \
	'^a sample: (8[5-9][0-9]|9[0-9][0-9]|1,0[0-2][0-9]) of 36,000 timers *$'
fake '' 300 --fd 0 --count 1
has "what is too far behind in its list is shown where its time says" \
	'^ 1   64ms  *[1-9][0-9]* \.+\|\.+-\.$|^ 1   64ms .*[-+#]' '^ 2   4.1s .*[+#]' \
	'^by their times: 53 *$'
fake moving 300 --fd 0 --count 1
has "so is what stands behind another, while timers come into other lists" \
	'^by their times: 215 *$'
fake placeless 300 --fd 0 --count 1
has "of a module that tells of no slots, all" '^by their times: 270 *$'
fake spread 20 --fd 0 --count 2 --interval 10ms --json
[ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 2 ] && grep -q '"elapsed_ns":10000000,' "$dir/out"
result $? "as JSON, a line each"

tests/fake-proc.sh "$dir/proc"
FAKE_PROC=$dir/proc "$fake" top --pid 100:5 --count 1 >"$dir/out" 2>"$dir/err" </dev/null
status=$?
has "one that can't be reached, by its fdinfo" '^twheel top: process 100 \(server\), file' \
	'next in 2.5s  pending 1,000  unread 3 .* 97.7 KiB$' "^They can't be looked at: be root"
FAKE_PROC=$dir/proc "$fake" top --count 1 >"$dir/out" 2>"$dir/err" </dev/null
status=$?
has "the first of all wheels" '^twheel top: process .* wheel 1 of 6$'

refused 1 "process $$ has no wheel open" --pid $$
refused 1 'no process 4194304' --pid 4194304:3
refused 1 'not a wheel that this command has inherited' --fd 0
refused 2 'give one of them' --sim x --replay y
refused 2 '--as is about a script: give --sim' --replay x --as heap
refused 2 '--tick is about a script: give --sim' --fd 0 --tick 1s
refused 2 'leave them out with --sim' --sim x --fd 0
refused 2 'give a duration from 10ms to 1d' --interval 1ms
refused 2 'give a duration from 10ms to 1d' --interval 25h
refused 2 'give at least 1ns' --pace 0
refused 2 'pace is about a script' --pace 1s
refused 1 'the link:1: ?[2Jx: no such operation' --replay 'x#script=%1b[2Jx'

# --- a simulation ---

printf '%s\n' 'arm 1 350ms' 'arm 2 450ms' 'cancel 7' run >"$dir/script"
top --sim "$dir/script" --as hierarchical
has "a simulation, step by step" '^twheel top: .*/script as hierarchical$' \
	'^timer 2 is due 450ms: level 2, slot 1$' '^cancel 7: it is not armed$' \
	'^timer 1 has come down from level 1, slot 17 to level 0, slot 10$' \
	'^ 1   20ms     0 \.{17}v\.\.$' '^timer 2 has expired$' '^the script is over$'
[ "$(grep -c '^twheel top:' "$dir/out")" -eq 9 ]
result $? "with nothing between two steps"
for system in twheel simple hashed hierarchical clock keys heap list poll linux; do
	printf '%s\n' 'arm 1 35ms' 'arm 2 45ms every 7ms times 3' 'arm 3 5s' 'at 40ms' 'extend 1 10ms' \
		'extend 2 +1ms' 'run 90ms' 'cancel 3' run >"$dir/script"
	top --sim "$dir/script" --as $system --tick 1ms --json
	tail -n 1 "$dir/out" | sed 's/.*"cancels":\([0-9]*\).*"fired":\([0-9]*\).*"moves":\([0-9]*\).*"interrupts":\([0-9]*\),.*"idle_interrupts":\([0-9]*\).*/\1 \2 \3 \4 \5/' \
		>"$dir/steps"
	"$twheel" sim "$dir/script" --as $system --tick 1ms --json | tail -n 1 |
		sed 's/.*"cancels":\([0-9]*\).*"moves":\([0-9]*\).*"wakeups":\([0-9]*\),"empty":\([0-9]*\),"expired":\([0-9]*\).*/\1 \5 \2 \3 \4/' \
		>"$dir/whole"
	[ $status -eq 0 ] && [ "$(wc -w <"$dir/whole")" -eq 5 ] && diff "$dir/steps" "$dir/whole" >>"$dir/err"
	result $? "$system does the same in steps as at once"
done
top --sim "$dir/script" --as heap
has "what has no slots" '^There are none: all timers are in one order.$' '^in no slot: 3 '
printf '%s\n' 'arm 1 1ms' stop 'arm 2 1ms' >"$dir/script"
refused 1 'script:3: arm: nothing goes on after stop' --sim "$dir/script"
yes run | head -n 1000000 >"$dir/script"
prlimit --stack=262144 "$twheel" top --sim "$dir/script" --json >"$dir/out" 2>"$dir/err"
status=$?
has "a million runs in which nothing happens" '"pending":0,'
# Those of the lowest ids are the latest; and there are a thousand of the others.
{
	seq -f 'arm %.0f 1h' 0 4095
	seq -f 'arm %.0f 50ms' 4096 5095
	echo run
} >"$dir/many"
top --sim "$dir/many" --count 5097 --json
python3 -c '
import json, sys
frame = json.loads(sys.stdin.readlines()[-1])
level = [sum(slot["timers"] for slot in level["slots"]) for level in frame["levels"]]
sys.exit(frame["pending"] != 5096 or not 700 < frame["looked_at"] < 1300 or
         not 700 < level[0] < 1300 or not 5000 < sum(level) < 5200)' <"$dir/out" 2>"$dir/err"
result $? "of many timers a sample is shown, from all over the wheel"
printf 'arm 1 10ms every 10ms\nrun 1s\n' >"$dir/script"
top --sim "$dir/script" --json
[ "$(grep -o '"arms":[0-9]*' "$dir/out" | sort -u | tr -d '\n')" = '"arms":0"arms":1' ]
result $? "a period is no arm"
{
	seq -f 'arm %.0f 1h' 0 999
	seq -f 'cancel %.0f' 0 999
} >"$dir/script"
top --sim "$dir/script" --as list --json
[ "$(head -n 1 "$dir/out" | grep -o '"memory":[0-9]*')" = \
  "$(tail -n 1 "$dir/out" | grep -o '"memory":[0-9]*')" ]
result $? "the memory is what there is now"
printf 'arm 1 100d\nrun 1s\n' >"$dir/script"
top --sim "$dir/script" --as hierarchical --slots 2 --json
tail -n 1 "$dir/out" | grep -q '"pending":1,.*"outside":1,'
result $? "what is on a level that is not drawn is told of as outside"
# shellcheck disable=SC2094 # that is what is tried
"$twheel" top --sim - --record "$dir/script" <"$dir/script" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'that is what is shown: give another file' "$dir/err" &&
	[ "$(wc -l <"$dir/script")" -eq 2 ]
result $? "nor is recorded into a script that comes from standard input"
printf '%s\n' 'jump 1' >"$dir/script"
refused 1 'script:1: jump: no such operation' --sim "$dir/script"
printf 'arm 1 5ms\nrun\nat 4ms\n' >"$dir/script"
refused 1 'script:3: at 4ms: time does not go back' --sim "$dir/script"
refused 1 'none: No such file or directory: give a script' --sim "$dir/none"
refused 2 'no such system' --sim "$dir/script" --as kafka

# --- recordings ---

printf '%s\n' 'arm 1 350ms' 'arm 2 450ms' run >"$dir/script"
top --sim "$dir/script" --as hierarchical --record "$dir/record"
cp "$dir/out" "$dir/first"
top --replay "$dir/record"
sed -i '$d' "$dir/out" "$dir/first"
[ $status -eq 0 ] && [ "$(wc -l <"$dir/record")" -eq 8 ] && cmp "$dir/first" "$dir/out" >"$dir/err"
result $? "what was recorded is shown again"
top --replay "$dir/record" --json
cmp "$dir/record" "$dir/out" >"$dir/err"
result $? "and is the same as JSON"
sed '4s/"pending"/"waiting"/' "$dir/record" >"$dir/broken"
refused 1 'broken:4: not a frame: give a file' --replay "$dir/broken"
[ "$(grep -c '^time ' "$dir/out")" -eq 3 ]
result $? "what is in front of it is shown"
sed '4s/$/ x/' "$dir/record" >"$dir/broken"
refused 1 'broken:4: not a frame: give a file' --replay "$dir/broken"
sed '1s/^/x/' "$dir/record" >"$dir/broken"
refused 1 'broken:1: not a frame: give a file' --replay "$dir/broken"
[ ! -s "$dir/out" ]
result $? "and in front of the first one there is nothing"
cp "$dir/script" "$dir/$(printf 'a\302\233\377b')"
top --sim "$dir/a"*b --json --count 1
has "the title is printable, whatever the script is called" '"title":"[^"]*/a[?]{3}b as twheel",'
sed '1s/"title":"[^"]*"/"title":"\\u009b2J"/' "$dir/record" >"$dir/broken"
top --replay "$dir/broken" --json --count 1
has "and whatever a recording says" '"title":"[?]{2}2J",'
refused 1 'there is nothing in it' --replay /dev/null
refused 1 'none: No such file or directory: give a file' --replay "$dir/none"
refused 1 'Is a directory' --replay "$dir"
refused 1 '--record /dev/full: not all could be written' --sim "$dir/script" --record /dev/full
printf 'arm 1 1ms every 1ms\nrun\n' >"$dir/endless"
refused 1 '--record /dev/full: not all could be written' --sim "$dir/endless" --record /dev/full
refused 1 'No such file or directory' --sim "$dir/script" --record "$dir/none/x"
refused 1 'that is what is shown: give another file' --replay "$dir/record" --record "$dir/record"
refused 1 'that is what is shown: give another file' --sim "$dir/script" --record "$dir/script"
[ "$(wc -l <"$dir/record")" -eq 8 ] && [ "$(wc -l <"$dir/script")" -eq 3 ]
result $? "and both are as they were"

# A link of the page, where its simulation was after two operations and 340 ms.
link='https://example.org/#as=hierarchical&beside=&tick=1ms&slots=20&levels=&start=0&script=arm+1+350ms%0Aarm+2+450ms%0Arun%0A&done=2&now=340ms'
top --replay "$link" --count 1
has "a link of the page, at its place" '^twheel top: the link as hierarchical +paused$' \
	'^time 340ms  next in 10ms  pending 2 ' '^ 0    1ms     1 \|\.{9}-' '^timer 1 has come down'
top --replay '#as=twheel&script=arm+1+350ms%0A&done=1&now=200ms' --count 1
has "and behind the end of its script" '^time 200ms  next in 150ms  pending 1 '
refused 1 'leads too far off to be waited for' \
	--replay '#as=heap&script=arm+1+1s+every+1s%0Arun&done=2'
refused 1 'leads too far off to be waited for' \
	--replay '#as=poll&tick=1ns&script=arm+1+1h%0A&done=1&now=1h'
top --replay '#script=arm+1+350ms%0A&script=run&done=1&as=heap&as=twheel&now=1ms&now=2ms' --count 1
has "the first of several fields counts, as in the page" '^twheel top: the link as heap +paused$' \
	'^time 1ms  next in 349ms  pending 1 '
refused 1 'the link: there is a zero byte in script, which is no text' \
	--replay '#script=arm+1+1s%0A%00run'
refused 1 'the link: there is a zero byte in as, which is no text' --replay '#script=run&as=heap%00'
refused 1 'the link:1: write: arm ID' --replay '#script=arm+1'
refused 2 'top: the link: as kafka: no such system' --replay '#as=kafka&script=run'
refused 2 "top: the link: done 'x': give a number" --replay '#script=run&done=x'
refused 2 '--as: the link says that itself' --replay '#script=run' --as heap

# --- on a terminal ---

# begin COLUMNS LINES COMMAND...: on such a terminal
begin()
{
	[ -z "$terminal" ] || $terminal kill-server
	servers=$((servers + 1))
	export SHELL=/bin/sh
	terminal="tmux -S $dir/tmux-$servers -f /dev/null"
	columns=$1
	lines=$2
	shift 2
	$terminal -u new-session -d -x "$columns" -y "$lines" \
		"$* 2>$dir/said; echo \"end \$?\"; cat"
}

# press KEY...
press()
{
	$terminal send-keys "$@"
}

# What is to be seen, when it is to be seen.
# shellcheck disable=SC2317 # called below
is_seen()
{
	$terminal capture-pane -p >"$dir/out" 2>/dev/null
	diff "$dir/want" "$dir/out" >"$dir/err"
}

# waits COMMAND...: until it succeeds, for 10 s at most
waits()
{
	tries=100
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# sees NAME WHAT: it is as it is kept
sees()
{
	sed 1d "tests/top/$1.txt" >"$dir/want"
	waits is_seen
	result $? "$2"
}

# shellcheck disable=SC2317 # called below
shows()
{
	$terminal capture-pane -p >"$dir/out" 2>/dev/null
	grep -Eq -- "$1" "$dir/out"
}

# seen PATTERN WHAT
seen()
{
	waits shows "$1"
	result $? "$2"
}

if command -v tmux >/dev/null; then
	servers=0
	unset NO_COLOR
	link='#as=hierarchical&script=arm+1+350ms%0Aarm+2+450ms%0Arun%0A&done=2&now=0'
	begin 80 24 LC_ALL=C.UTF-8 "$twheel" top --replay "'$link'"
	sees tmux-begin "80x24: the beginning, as it is kept"
	press s
	sees tmux-step "80x24: a step, as it is kept"
	press h
	seen 'half as fast' "h shows the keys"
	press h
	sees tmux-step "and again the wheel"
	$terminal resize-window -x 100 -y 30
	sees tmux-100x30 "100x30: it is drawn anew, as it is kept"
	$terminal resize-window -x 20 -y 5
	sees tmux-20x5 "20x5: it is too small, and says so"
	$terminal resize-window -x 80 -y 24
	sees tmux-step "80x24 again"
	press - -
	seen '1/4 speed  paused' "- makes it slower"
	press + + +
	seen '2 x speed  paused' "+ makes it faster"
	press Space
	seen '^the script is over' "space lets it go on, to the end"
	press q
	seen '^end 0' "q ends it"

	printf '%s\n' 'run 106751d' 'run 1d' 'arm 1 1s' >"$dir/script"
	begin 80 24 "$twheel" top --sim "$dir/script" --pace 50000d
	seen '^the script is over' "where the clock ends, a run does"
	press q
	seen '^end 0' "and q ends it"

	# All in one slot, where each is looked for, and from where each comes down.
	{
		seq -f 'arm %.0f 5s' 0 199999
		seq -f 'extend %.0f 6s' 0 199999
		echo run
	} >"$dir/script"
	for system in twheel hashed hierarchical; do
		begin 80 24 "$twheel" top --sim "$dir/script" --as $system --capacity 200000 --pace 10s
		seen 'LATE, of 200,000 events' "$system: 200,000 timers in one slot come to their end"
		press q
		seen '^end 0' "and q ends it"
	done

	printf 'arm 1 10ms every 10ms\nrun\n' >"$dir/script"
	begin 80 24 "$twheel" top --sim "$dir/script" --record /dev/full
	seen '^end 1' "it ends where the disk is full"
	grep -qF -e '--record /dev/full: not all could be written' "$dir/said"
	result $? "and says so"
	begin 80 24 "trap : INT; $twheel top --sim $dir/script --record $dir/record-c --interval 1h"
	seen '^twheel top: ' "it runs"
	press C-c
	seen '^end 0' "Ctrl-C ends it as q does, at once"
	[ "$(wc -l <"$dir/record-c")" -eq 1 ]
	result $? "and what was recorded is there"
	begin 80 24 "sh -c 'echo \$\$ >$dir/pid; exec $twheel top --sim $dir/script'"
	seen '^twheel top: ' "it runs"
	kill -TERM "$(cat "$dir/pid")"
	seen '^end 0' "so does SIGTERM"
	begin 80 24 "sh -c 'echo \$\$ >$dir/pid; exec $twheel top --sim $dir/script'"
	seen '^twheel top: ' "it runs"
	kill -HUP "$(cat "$dir/pid")"
	seen '^end 0' "and SIGHUP"
	mkfifo "$dir/pipe"
	head -n 2 "$dir/pipe" >"$dir/two" &
	begin 80 24 "$twheel" top --sim "$dir/script" --record "$dir/pipe" --interval 10ms
	seen '^end 1' "it ends where nobody reads what it records any more"
	grep -qF -e "--record $dir/pipe: not all could be written" "$dir/said"
	result $? "and says so"
	wait
	{ cat "$dir/two" && exec sleep 100; } >"$dir/pipe" &
	begin 80 24 "trap : INT; $twheel top --replay $dir/pipe --interval 10ms"
	seen '^twheel top: ' "a recording that goes on is shown"
	press C-c
	seen '^end [01]' "Ctrl-C ends that, too, where there is nothing to read"
	kill $! 2>/dev/null

	# Of a terminal that is gone, and somebody who does not die of it.
	printf 'arm 1 10ms every 10ms\nrun\n' >"$dir/script"
	begin 80 24 "sh -c 'trap \"\" HUP; echo \$\$ >$dir/pid; exec $twheel top --sim $dir/script'"
	seen '^twheel top: ' "it runs"
	$terminal kill-server
	terminal=
	pid=$(cat "$dir/pid")
	# shellcheck disable=SC2016 # the inner shell's
	waits sh -c '! kill -0 "$1" 2>/dev/null' sh "$pid"
	result $? "it ends with its terminal, also where SIGHUP is ignored"
	kill -KILL "$pid" 2>/dev/null

	for name in vt100 linux; do
		begin 80 24 LC_ALL=C TERM=$name "$twheel" top --replay "'$link'"
		press s
		sees tmux-ascii "TERM=$name, without UTF-8: as it is kept"
		press q
		seen '^end 0' "and q ends it"
	done

	begin 80 24 FAKE_PROC="$dir/proc" TERM=vt100 "$fake" top
	seen 'wheel 1 of 6$' "the first of six wheels"
	press Tab
	seen 'wheel 2 of 6$' "tab: the next"
	press Left Left
	seen 'wheel 6 of 6$' "left, twice: the last"

	mkfifo "$dir/wait"
	begin 80 24 "sh -c 'exec 3<>$dir/wait; FAKE=spread FAKE_TIMERS=20 $fake top --fd 3 --record $dir/live --interval 50ms --count 3'"
	seen '^end 0' "--count ends it"
	[ "$(wc -l <"$dir/live")" -eq 3 ]
	result $? "and three pictures were recorded"

	begin 80 24 "printf 'arm 1 1h' | $twheel top --sim -"
	press s
	seen '^timer 1 is due 1h: level 3' "keys come from the terminal where the script comes from a pipe"
	press q
	seen '^end 0' "and end it"

	begin 80 24 TERM=none "$twheel" top --replay "'$link'"
	waits grep -q 'TERM=none: this machine does not know such a terminal' "$dir/said"
	result $? "a terminal that is not known is told of"
else
	skip "on a terminal" "there is no tmux"
fi

printf 'arm 1 10ms\nrun\n' >"$dir/script"
"$twheel" top --sim "$dir/script" --record "$dir/record-1" >&- 2>"$dir/err"
[ $? -eq 1 ] && grep -q 'standard output' "$dir/err" && ! grep -qv '^{' "$dir/record-1"
result $? "without a standard output no picture gets into the recording"

echo "1..$nr"
exit "$failed"
