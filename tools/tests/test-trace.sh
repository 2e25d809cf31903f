#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What twheel trace makes of a tracefs that is made up, and that nothing is left of it however it
# ends.  TAP.
# Usage: test-trace.sh FAKE-TWHEEL, from the folder of the tools

twheel=$1
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

export FAKE_TRACING="$dir/tracing" FAKE_PROC="$dir/proc" FAKE_TIMERS=4

# trace OPTION...: of wheel 7, which all of its files are
trace()
{
	rm -rf "$dir/tracing" "$dir/proc"
	# shellcheck disable=SC2016 # the inner shell's
	sh -c 'tests/fake-tracing.sh "$FAKE_TRACING" "$FAKE_PROC" $$ && eval "$BEFORE" && exec "$@"' \
		sh "$twheel" trace --fd 0 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}
export BEFORE=:

# has WHAT LINE...: these lines come, in this order, blanks apart
has()
{
	what=$1
	shift
	printf '%s\n' "$@" >"$dir/want"
	tr -s ' ' <"$dir/out" | sed 's/^ //;s/ $//' >"$dir/lines"
	[ $status -eq 0 ] && [ ! -s "$dir/err" ] &&
		awk 'NR == FNR { want[++n] = $0; next } i < n && $0 == want[i + 1] { i++ }
			END { exit i < n }' "$dir/want" "$dir/lines"
	result $? "$what"
}

# left: no instance is, but for $1 if given
left()
{
	[ "$(ls "$dir/tracing/instances")" = "${1-}" ]
}

# refused STATUS TEXT OPTION...: in one line, and nothing is left
refused()
{
	want=$1
	text=$2
	shift 2
	trace "$@"
	[ $status -eq "$want" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -qF -e "$text" "$dir/err" && { [ ! -e "$dir/tracing/instances" ] || left; }
	result $? "refused with $want: $text"
}

trace --for 1ms
has "for people: all that happens, from when the trace began" \
	'0 where 0 due before, level 2, slot 77' \
	'0 where 3 due before, it is due' \
	'100ms armed 0 due 300ms, level 1, slot 18' \
	'100.1ms armed 1 due 0, it is due' \
	'100.11ms expired 1 0 late, its time had passed when it was armed' \
	'110ms moved to 0 due 310ms, where, nothing tells' \
	'120ms armed 2 due 2s, level 2, slot 1' \
	'130ms cancelled 2 by a call' \
	'140ms armed 4 due 700ms, level 1, slot 24' \
	'140ms lost 12 events, for which the kernel had no room' \
	'320.05ms woken the hrtimer of processor 0, 50us late' \
	'320.06ms cascade level 1, slot 18 comes down with 1 timer' \
	'320.07ms moved 0 from level 1, slot 18 to level 0, slot 30' \
	'320.08ms expired 0 10.08ms late' \
	'400ms delivered 0 10.08ms late, 79.92ms unread, 3 more periods have passed' \
	'400.01ms stale 1 its event does not count: a store has moved or cancelled it' \
	'400.011ms resumed 1 due 1s, level 1, slot 29' \
	'400.03ms extended 4 due 900ms, level 1, slot 28' \
	'400.03ms moved 4 level 0, slot 3' \
	'500ms cancelled 4 by a call' \
	'600ms cancelled 5 by a store'
[ "$(wc -l <"$dir/out")" -eq 23 ]
result $? "and nothing else"

trace --for 1ms --json
has "for programs, in the words of twheel sim" \
	'{"what":"where","time_ns":5000000000,"id":0,"generation":1,"deadline_ns":1000000000,"where":{"place":"slot","level":2,"slot":77}}' \
	'{"what":"placed","time_ns":5100000000,"id":0,"generation":2,"deadline_ns":5300000000,"where":{"place":"slot","level":1,"slot":18}}' \
	'{"what":"placed","time_ns":5110000000,"id":0,"generation":3,"deadline_ns":5310000000,"where":{"place":"unknown"}}' \
	'{"what":"lost","time_ns":5140000000,"events":12}' \
	'{"what":"woken","time_ns":5320050000,"cpu":0,"late_ns":50000}' \
	'{"what":"cascade","time_ns":5320060000,"level":1,"slot":18,"timers":1}' \
	'{"what":"moved","time_ns":5320070000,"id":0,"from_level":1,"from_slot":18,"where":{"place":"slot","level":0,"slot":30}}' \
	'{"what":"expired","time_ns":5320080000,"id":0,"generation":3,"deadline_ns":5310000000,"late_ns":10080000,"overdue":false}' \
	'{"what":"delivered","time_ns":5400000000,"id":0,"generation":3,"cookie":9,"deadline_ns":5310000000,"late_ns":10080000,"overdue":false,"unread_ns":79920000,"overruns":3}' \
	'{"what":"stale","time_ns":5400010000,"id":1,"generation":4,"deadline_ns":5000000000}' \
	'{"what":"moved","time_ns":5400030000,"id":4,"from_level":-1,"from_slot":-1,"where":{"place":"slot","level":0,"slot":3}}' \
	'{"what":"cancelled","time_ns":5600000000,"id":5,"generation":1,"by":"store"}'

sort "$dir/tracing/written" >"$dir/out"
status=0
has "the tracepoints of this wheel are on, those of hrtimers of its clock, and off at the end" \
	'./events/twheel/twheel_cascade/enable 1' \
	'./events/twheel/twheel_cascade/filter wheel == 7' \
	'./events/twheel/twheel_hrtimer_fire/enable 1' \
	'./events/twheel/twheel_hrtimer_fire/filter clock == 1' \
	'./trace_clock mono' \
	'./tracing_on 0'
[ "$(grep -c '/enable 1$' "$dir/out")" -eq 11 ] && [ "$(grep -c 'wheel == 7$' "$dir/out")" -eq 10 ]
result $? "eleven of them"
left
result $? "the instance is removed"

trace --for 1ms --json
"$twheel" plot "$dir/out" >"$dir/svg" 2>"$dir/err"
cp "$dir/svg" "$dir/out"
for sign in 'class="br"' 'class="l3"' 'class="l0"' 'lost: 12' 'level 1, slot 18'; do
	grep -qF "$sign" "$dir/svg" || echo "there is no $sign" >>"$dir/err"
done
[ ! -s "$dir/err" ]
result $? "it can be drawn"

# However it ends.
trace --for 1ms -o "$dir/file"
[ $status -eq 0 ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/file")" -eq 23 ] && left
result $? "--output"
: >"$dir/like"
[ "$(stat -c %a "$dir/file")" = "$(stat -c %a "$dir/like")" ]
result $? "who may read that file is as usual"
refused 1 '/none/file: No such file' --for 1ms -o "$dir/none/file"
refused 1 'not all could be written to /dev/full' --for 1ms -o /dev/full
echo kept >"$dir/file"
# shellcheck disable=SC2016 # the inner shell's
BEFORE='rmdir "$FAKE_TRACING/events/twheel"' refused 1 'is it loaded?' -o "$dir/file"
[ "$(cat "$dir/file")" = kept ]
result $? "a file is not written anew before there is something to write"

# Nobody reads what it prints.  The first signal may find it with half a write done, which goes on;
# the second one ends it.
mkfifo "$dir/fifo"
rm -rf "$dir/tracing" "$dir/proc"
# shellcheck disable=SC2016 # the inner shell's
sh -c 'tests/fake-tracing.sh "$FAKE_TRACING" "$FAKE_PROC" $$ && echo $$ >"$FAKE_TRACING/pid" &&
	yes "$(grep -a twheel_timer_stale: "$FAKE_TRACING/new/trace_pipe")" | head -n 10000 \
		>"$FAKE_TRACING/more" && mv "$FAKE_TRACING/more" "$FAKE_TRACING/new/trace_pipe" &&
	exec "$@"' \
	sh "$twheel" trace --fd 0 >"$dir/fifo" 2>"$dir/err" </dev/null &
exec 3<"$dir/fifo"
tries=100
until grep -q pipe_write "/proc/$(cat "$dir/tracing/pid" 2>/dev/null)/wchan" 2>/dev/null ||
	[ $tries -eq 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
pid=$(cat "$dir/tracing/pid")
for signal in first second; do
	kill -TERM "$pid"
	tries=20
	while kill -0 "$pid" 2>/dev/null && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	[ $tries -eq 0 ] || break
done
[ $tries -gt 0 ] || kill -KILL "$pid"
wait $!
status=$?
case $tries-$signal-$status in
0-*) false ;;
*-first-1) left ;;
*-second-143) left "twheel-$pid" ;;
*) false ;;
esac
result $? "where nobody reads what it prints it ends with the second SIGTERM at the latest"
exec 3<&-

# stopped SIGNAL
stopped()
{
	# shellcheck disable=SC2016 # the inner shell's
	BEFORE='echo $$ >"$FAKE_TRACING/pid"' trace &
	tries=100
	until grep -q store "$dir/out" 2>/dev/null || [ $tries -eq 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	there=$(ls "$dir/tracing/instances")
	pid=$(cat "$dir/tracing/pid")
	kill -"$1" "$pid"
	# One that does not end is killed, and leaves its instance.
	tries=100
	while kill -0 "$pid" 2>/dev/null && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	[ $tries -gt 0 ] || kill -KILL "$pid"
	wait $!
	[ "$there" = "twheel-$pid" ] && [ ! -s "$dir/err" ] && left
	result $? "SIG$1 ends it, and nothing is left"
}
for signal in INT TERM HUP QUIT; do
	rm -f "$dir/out"
	stopped $signal
done

sleep 0 &
dead=$!
wait $dead
# shellcheck disable=SC2016 # the inner shell's
BEFORE='mkdir $FAKE_TRACING/instances/twheel-1 $FAKE_TRACING/instances/twheel-'$dead trace --for 1ms
[ $status -eq 0 ] && left twheel-1
result $? "one of a process that was killed is removed, and that of another is not"

# shellcheck disable=SC2016 # the inner shell's
BEFORE='mkdir $FAKE_TRACING/instances/twheel-$$' trace --for 1ms
[ $status -eq 0 ] && left
result $? "one of a process that had its own id, too"

# In rounds of 4,096 lines, each after a pause of 50 ms, these would take 12 s.
# shellcheck disable=SC2016 # the inner shell's
BEFORE='echo $$ >"$FAKE_TRACING/pid"
	yes "$(grep -a twheel_timer_stale: "$FAKE_TRACING/new/trace_pipe")" | head -n 1000000 \
		>"$FAKE_TRACING/more" && mv "$FAKE_TRACING/more" "$FAKE_TRACING/new/trace_pipe"' \
	trace --for 60s &
until [ -s "$dir/out" ]; do
	sleep 0.1
done
tries=80
until [ "$(grep -c "does not count" "$dir/out")" -eq 1000000 ] || [ $tries -eq 0 ]; do
	tries=$((tries - 1))
	sleep 0.1
done
kill -INT "$(cat "$dir/tracing/pid")"
wait
[ $tries -gt 0 ]
rc=$?
tail -n 3 "$dir/out" >"$dir/last"
mv "$dir/last" "$dir/out"
result $rc "as long as there is more to read it does not wait"

# shellcheck disable=SC2016 # the inner shell's
BEFORE='rm -r "$FAKE_TRACING/events"' refused 1 'mount -t tracefs nodev /sys/kernel/tracing'
# shellcheck disable=SC2016 # the inner shell's
BEFORE='rmdir "$FAKE_TRACING/events/twheel"' refused 1 'is it loaded?  twheel doctor tells'
# shellcheck disable=SC2016 # the inner shell's
BEFORE='rm -r "$FAKE_TRACING/instances"' refused 1 'No such file'
# shellcheck disable=SC2016 # the inner shell's
BEFORE='rm "$FAKE_TRACING/new/events/twheel/twheel_cascade/filter"' refused 1 \
	'events/twheel/twheel_cascade/filter: No such file'
# shellcheck disable=SC2016 # the inner shell's
BEFORE='rm "$FAKE_TRACING/new/trace_pipe"' refused 1 'trace_pipe: No such file'
# shellcheck disable=SC2016 # the inner shell's
BEFORE='rm -r "$FAKE_PROC/$$"' refused 1 'does not tell which wheel is which'
refused 2 'give at least 1ns' --for 0
refused 2 'takes no arguments' more

echo "1..$nr"
exit "$failed"
