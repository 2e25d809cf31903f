#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What twheel sim prints: the cases of textbooks as they stand there, and what it says of a script
# that is wrong.  TAP.
# Usage: test-sim.sh TWHEEL, from the folder of the tools

twheel=$1
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

# sim SCRIPT OPTION...: the script's lines end with ;
sim()
{
	script=$1
	shift
	printf '%s\n' "$script" | tr ';' '\n' >"$dir/script"
	"$twheel" sim "$@" <"$dir/script" >"$dir/out" 2>"$dir/err"
	status=$?
}

# prints WHAT LINE...: these lines come, in this order, blanks apart
prints()
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

# refused STATUS TEXT: in one line
refused()
{
	[ $status -eq "$1" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -qF -e "$2" "$dir/err"
	result $? "refused: $2"
}

both='arm 1 350ms;arm 2 450ms;where 1;where 2;run'
sim "$both" --as hierarchical --tick 1ms --slots 20 --levels 3 --trace
prints "350 and 450 ms on Kafka's wheels" \
	'0 armed 1 due 350ms, level 1 (slots of 20ms), slot 17, position 0' \
	'0 armed 2 due 450ms, level 2 (slots of 400ms), slot 1, position 0' \
	'0 where 1 due 350ms, level 1 (slots of 20ms), slot 17, position 0; 0 moves so far' \
	'0 where 2 due 450ms, level 2 (slots of 400ms), slot 1, position 0; 0 moves so far' \
	'340ms woken' \
	'340ms moved 1 from level 1, slot 17 to level 0 (slots of 1ms), slot 10, position 0' \
	'350ms woken' \
	'350ms expired 1 on time' \
	'400ms woken' \
	'400ms moved 2 from level 2, slot 1 to level 1 (slots of 20ms), slot 2, position 0' \
	'440ms moved 2 from level 1, slot 2 to level 0 (slots of 1ms), slot 10, position 0' \
	'450ms expired 2 on time' \
	'inserts 2' \
	'moves 3 to another slot, on the way down' \
	'wake-ups 5' \
	'empty wake-ups 0 nothing has expired, was moved, or has left a queue'
sim "$both" --slots 20
prints "350 and 450 ms on twheel, which says what differs" \
	'0 where 1 due 350ms, level 1 (slots of 32ms), slot 10, position 0; 0 moves so far' \
	'0 where 2 due 450ms, level 1 (slots of 32ms), slot 14, position 0; 0 moves so far' \
	'350ms expired 1 on time' \
	'450ms expired 2 on time' \
	'twheel: tick 1ms, 32 slots' \
	'moves 0 to another slot, on the way down'
note='^note: twheel .*blackboard, which --as hierarchical shows$'
grep -q "$note" "$dir/out"
result $? "there is a note"
sim "arm 1 450ms # a comment;;  # another;arm 2 455ms;run" --slots 20 --trace
prints "455 ms comes down with 450 ms" \
	'450ms woken' \
	'450ms moved 2 from level 1, slot 14 to level 0 (slots of 1ms), slot 7, position 0' \
	'450ms expired 1 on time' \
	'455ms woken' \
	'455ms expired 2 on time'

sim 'arm 1 30ms;arm 2 10ms;extend 2 40ms;run' --as simple --slots 20 --trace
prints "the simple wheel refuses what is later than a turn" \
	'0 arm 1 refused: that is later than the wheel reaches' \
	'0 armed 2 due 10ms, level 0 (slots of 1ms), slot 10, position 0' \
	'0 extend 2 refused: that is later than the wheel reaches' \
	'9ms woken 9 times since 1ms, for nothing' \
	'10ms woken' \
	'10ms expired 2 on time' \
	'refused 2 later than the wheel reaches'
sim 'arm 1 10ms;arm 1 99ms;run' --as simple --slots 20 --trace --json
cp "$dir/out" "$dir/trace"
"$twheel" plot "$dir/trace" >"$dir/out" 2>"$dir/err" && grep -q 'found due: 1,' "$dir/out" &&
	! grep -q 'to: goes on' "$dir/out" &&
	grep -q '"what":"refused","time_ns":0,"id":1,"operation":"arm"' "$dir/trace" &&
	grep -q '"inserts":1,.*"refused":1,.*"expired":1,' "$dir/trace"
result $? "what is armed stays as it is, in the trace, in the counters and in the picture"
sim 'arm 1 10ms every 1h times 3;arm 2 5ms every 1h times -1;run 20ms;run' --as simple
prints "and says so of a period" \
	'5ms expired 2 on time' \
	'5ms every 2 refused: that is later than the wheel reaches' \
	'10ms expired 1 on time' \
	'10ms every 1 refused: that is later than the wheel reaches' \
	'refused 2 later than the wheel reaches' \
	'expired 2'
sim 'arm 1 10ms every 1h times 3;run' --as simple --json
[ "$(sed -n 2p "$dir/out")" = \
	'{"what":"refused","time_ns":10000000,"id":1,"operation":"every"}' ]
result $? "and to programs"
sim 'arm 1 5ms;run 1ms;where 1;arm 2 900ms;run 10ms;stop' --as hashed --tick 1ms --slots 3 \
	--trace
prints "Netty's wheel: the queue, rounds, what stop hands back" \
	'0 armed 1 due 5ms, in the queue, position 0' \
	'1ms woken' \
	'1ms placed 1 due 5ms, level 0 (slots of 1ms), slot 1, position 0, 1 round left' \
	'1ms where 1 due 5ms, level 0 (slots of 1ms), slot 1, position 0, 1 round left; 0 moves so far' \
	'6ms expired 1 1ms late' \
	'11ms woken 5 times since 7ms, for nothing' \
	'11ms left 2 due 901ms, level 0 (slots of 1ms), slot 1, position 0, 222 rounds left; 0 moves so far' \
	'hashed: tick 1ms, 4 slots' \
	'armed still 1 run alone goes on until none is, or the clock ends'
sim 'arm 1 250ms;arm 2 300ms;run' --as hashed
prints "Netty's wheel as it comes: 512 slots of 100 ms, and up to a tick late" \
	'300ms expired 1 50ms late' '400ms expired 2 100ms late' 'hashed: tick 100ms, 512 slots'
sim 'arm 1 50m45s;run' --as clock --start 10h24m30s --trace
prints "the face of a clock" \
	'10h24m30s armed 1 due 11h15m15s, level 2 (slots of 1h), slot 11, position 0' \
	'11h moved 1 from level 2, slot 11 to level 1 (slots of 1m), slot 15, position 0' \
	'11h15m moved 1 from level 1, slot 15 to level 0 (slots of 1s), slot 15, position 0' \
	'11h15m15s expired 1 on time'
sim 'arm 7 20ms every 20ms times 3;arm 8 5ms every 30ms times -1;run 40ms;cancel 8;cancel 9;run' \
	--as keys
prints "keys, repeats, and what is not armed" \
	'5ms expired 8 on time' '20ms expired 7 on time' '35ms expired 8 on time' \
	'40ms expired 7 on time' '40ms cancel 9 it is not armed' '60ms expired 7 on time' \
	'lateness, the most 0'
sim 'arm 1 350ms;at 100ms;extend 1 +50ms;at 200ms;extend 1 201ms;run' --as linux --trace
prints "Linux moves nothing and is late" \
	'0 armed 1 due 350ms, level 1 (slots of 8ms), slot 44, position 0' \
	'100ms extended 1 due 400ms, level 1 (slots of 8ms), slot 51, position 0' \
	'200ms extended 1 due 401ms, level 1 (slots of 8ms), slot 51, position 0' \
	'408ms expired 1 7ms late' \
	'extends 2' \
	'refiled 1 armed ones that were put elsewhere at once'
sim 'arm 9 1ms;at 2ms;arm 1 63ms;run' --as linux --trace
prints "Linux counts from a tick later at a tick at which timers have expired" \
	'2ms expired 9 1ms late' \
	'2ms armed 1 due 65ms, level 0 (slots of 1ms), slot 2, position 0' \
	'66ms expired 1 1ms late'
sim 'arm 1 60s;at 30s;arm 1 30s;at 55s;extend 1 5s;run' --as linux
prints "Linux leaves what gets the deadline that it has" '1m1.44s expired 1 1.44s late' \
	'refiled 0 armed ones that were put elsewhere at once'
sim 'at 1900us;arm 1 5ms;run' --as hierarchical
prints "Kafka counts from the last tick" '6ms expired 1 900us early' 'early 1 before their deadlines'
sim 'arm 1 30s;at 10s;arm 1 30s every 1m times 2;run' --trace
prints "who arms an armed timer moves it: twheel looks at it by its first deadline" \
	'10s armed 1 due 40s, level 2 (slots of 4.096s), slot 7, position 0' \
	'30s moved 1 from level 2, slot 7 to level 2 (slots of 4.096s), slot 9, position 0' \
	'40s expired 1 on time' '1m40s expired 1 on time' 'inserts 3' 'refiled 0 armed ones that were put elsewhere at once' 'expired 2'
sim 'arm 1 30s every 1s;at 10s;arm 1 10s;run' --as list
prints "and it repeats as it was told last" '20s expired 1 on time' 'inserts 2' 'refiled 1 armed ones that were put elsewhere at once' 'expired 1'
sim "$both" --as linux
prints "how late, at the most and on average" \
	'352ms expired 1 2ms late' '456ms expired 2 6ms late' \
	'lateness, the most 6ms' 'lateness, the mean 4ms' 'bytes a timer 64'
sim 'arm 1 2d;arm 2 12d;arm 3 13d;run' --as linux
prints "Linux has nine levels with a tick of 1 ms" \
	'2d3h15m49.376s expired 1 3h15m49.376s late' '12d56m27.392s expired 2 56m27.392s late' \
	'12d5h36m4.608s expired 3 18h23m55.392s early'
sim 'arm 1 12d;run' --as linux --tick 10ms
prints "and eight with 10 ms" '12d3h16m16s expired 1 3h16m16s late'
sim 'arm 1 1.5us;arm 2 2h;run' --as heap
prints "a heap has no ticks" '1.5us expired 1 on time' '2h expired 2 on time'
for system in heap list; do
	sim 'arm 1 1500ms;run' --as $system --tick 1s
	prints "$system: whatever is asked for" '1.5s expired 1 on time' "$system: tick 1ns"
done

sim 'arm 1 50d;run' --as linux --levels 1 --json
grep -q '"levels":0,' "$dir/out"
result $? "a system with levels of its own does not tell of those that were asked for"
sim 'arm 1 1ms;at 300000s' --compare
[ $status -eq 0 ] && [ ! -s "$dir/err" ] && [ "$(awk 'NR > 1 && NR < 12 { print $1 }' "$dir/out" | xargs)" = \
	'twheel simple hashed hierarchical clock keys heap list poll linux' ] &&
	[ "$(grep -c 'left out: there are too many wake-ups, or looks at timers, to wait for$' "$dir/out")" -eq 3 ]
result $? "in a table of all systems those that take too long are named, and the others are there"
for delay in 1h 130023425s; do
	seq 20000 | awk -v delay=$delay '{ print "arm", $1, delay }
		END { print "run" }' >"$dir/many-$delay"
done
# The looks of poll would take minutes.
timeout 100 "$twheel" sim --compare <"$dir/many-1h" >"$dir/out" 2>"$dir/err" &&
	[ "$(awk '/left out/ { print $1 }' "$dir/out")" = poll ]
result $? "and those that look at too many timers"
# All are 24 days late, which is 1,300 years in all.
"$twheel" sim --json --as linux --tick 1s <"$dir/many-130023425s" >"$dir/out" 2>"$dir/err"
late=$(sed -n 's/.*"late_max_ns":\([0-9]*\),.*/\1/p' "$dir/out")
[ "${#late}" -ge 16 ] && grep -q "\"late_mean_ns\":$late," "$dir/out"
result $? "the mean of what would be too much in all is right"
sim 'arm 1 1500us;run;at 1800us' --compare
[ $status -eq 0 ] && [ ! -s "$dir/err" ] && [ "$(awk '/left out: its run has ended later than an at/ { print $1 }
	' "$dir/out" | xargs)" = 'simple hashed hierarchical clock keys poll linux' ]
result $? "and those that are later than an at by the end of a run"
sim 'arm 1 20ms every 20ms times 3;at 1s' --compare --json --tick 10ms
[ $status -eq 0 ] && [ "$(grep -c '"inserts":3,"periods":2,' "$dir/out")" -eq 10 ]
result $? "of the inserts of a periodic timer those are told that are periods"
sim "$both" --compare --slots 20
[ $status -eq 0 ] && [ "$(awk 'NR > 1 && NR < 12 { print $1 }' "$dir/out" | xargs)" = \
	'twheel simple hashed hierarchical clock keys heap list poll linux' ] &&
	awk 'NR == 2 && $2 $4 $6 == "202" { n++ } $1 == "simple" && $9 == 2 && $13 == 320 { n++ }
	     $1 == "hierarchical" && $4 == 3 && $6 == 5 { n++ }
	     $1 == "linux" && $10 == "6ms" { n++ } NR < 12 && NF < 13 { exit 1 }
	     END { exit n != 4 }' "$dir/out"
result $? "a table of all systems"
grep -q "$note" "$dir/out"
result $? "and a note below"
sim 'arm 1 300ms;at 10ms;extend 1 300ms;at 20ms;extend 1 300ms;run' --compare
[ $status -eq 0 ] && [ "$(awk 'NR > 1 && NR < 12 { print $1, $3 }' "$dir/out" | xargs)" = \
	'twheel 0 simple 2 hashed 2 hierarchical 2 clock 2 keys 2 heap 2 list 2 poll 0 linux 2' ]
result $? "in which twheel, unlike the others, files nothing anew that is pushed back"
sim '' --load 30000 --compare --json
[ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 10 ] &&
	[ "$(grep -c '"early":0,"armed":0,' "$dir/out")" -eq 8 ] &&
	[ "$(sed -n 's/.*"left_out","system":"\(.*\)","why":.*/\1/p' "$dir/out" | xargs)" = 'list poll' ]
result $? "a load in all systems but two, which are named"
cp "$dir/out" "$dir/first"
sim '' --load 30000 --compare --json
cmp "$dir/first" "$dir/out" >"$dir/err" && sim '' --load 30000 --compare --json --seed 2 &&
	! cmp -s "$dir/first" "$dir/out"
result $? "the same load again, and another one with another seed"
sim '' --load 1000 --cancelled 100 --as keys --json
[ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 1 ] &&
	sed 's/.*"cancels":\([0-9]*\).*"expired":\([0-9]*\).*/\1 \2/' "$dir/out" |
	awk '{ exit $1 + $2 != 1000 || $1 < 900 }'
result $? "a load of which all is cancelled that has not expired within a second"

# load N: when the timer that was armed first was pushed back, and when the first was cancelled
load()
{
	sim '' --load "$1" --extended 100 --cancelled 100 --as heap --trace
	awk '$2 == "armed" && $3 == 0 { at = $1 }
	     $2 == "extended" && $3 == 0 { print at, $1 }
	     $2 == "cancelled" && $3 == 0 { print at, $1 }' "$dir/out" | xargs >"$dir/times"
	cp "$dir/times" "$dir/out"
	[ "$(cat "$dir/times")" = "$2" ]
	result $? "of a load of $1 the first is armed, pushed back and cancelled: $2"
}

load 120 '500ms 1s 500ms 1.5s'
load 300 '200ms 600ms 200ms 1.2s'
load 100 '600ms 1.2s 600ms 1.2s'
"$twheel" sim --help >"$dir/out" 2>"$dir/err"
tr '\n' ' ' <"$dir/out" | tr -s ' ' | grep -q 'one at least: exact if N is a multiple of 120'
result $? "which is said"

# They are times that pass, and not how far a deadline is.
sim 'at 0;arm 1 5ms;run 0;at 0;run' --trace
prints "no time passes until 0" \
	'0 armed 1 due 5ms, level 0 (slots of 1ms), slot 5, position 0' '5ms expired 1 on time'

for system in twheel heap list poll hashed; do
	sim 'arm 1 1s every 1s times 3;run' --as $system --start 106751d23h47m16.5s
	prints "at the end of time no period comes, $system" 'expired 0' \
		'armed still 1 run alone goes on until none is, or the clock ends'
done

sim "$(printf '\357\273\277arm 1 5ms;run')"
prints "a script with the mark that some editors put in front" '5ms expired 1 on time'

sim 'arm 1 5ms' --extended 10
refused 2 '--extended needs --load'
sim 'run' --cancelled 10
refused 2 '--cancelled needs --load'
sim 'run' --seed 10
refused 2 '--seed needs --load'
sim 'arm 1 350ms;jump 2'
refused 1 'standard input:2: jump: no such operation: use arm, extend'
sim 'arm 1 350'
refused 1 "standard input:1: arm '350' needs a unit"
sim 'arm 1 0'
refused 1 'arm 0: give at least 1ns'
sim 'arm 1 5ms every 0'
refused 1 'every 0: give at least 1ns'
sim 'arm 1 5ms;extend 1 0'
refused 1 'extend 0: give at least 1ns'
sim "$(printf 'arm 1 5ms;x\033]0y\007\177\302\233')"
refused 1 'standard input:2: x?]0y????: no such operation'
sim 'arm one 1ms'
refused 1 'arm one: give a number'
sim 'arm 1'
refused 1 'standard input:1: write: arm ID DURATION'
sim 'arm 1 1ms each 2ms'
refused 1 'arm ID DURATION every'
sim 'arm 1 1ms every 2ms for 3'
refused 1 'for: write: arm ID DURATION every'
sim 'arm 1 1ms every 2ms times 0'
refused 1 'times 0: give how often'
sim 'arm 1 1ms arm 2 1ms arm 3 1ms'
refused 1 'one operation on a line'
sim 'at 2ms;at 1ms'
refused 1 'standard input:2: at 1ms: time does not go back'
sim 'run 2ms;at 1ms'
refused 1 'standard input:2: at 1ms: time does not go back'
sim 'arm 1 5ms;run;at 4ms' --compare
[ "$(grep -c 'left out: its run has ended later than an at that follows$' "$dir/out")" -eq 10 ]
result $? "a time that has passed in all systems is told of"
refused 1 'standard input: no system is left, for the reasons above'
sim 'at 5ms;at 4ms;run' --compare
refused 1 'standard input:2: at 4ms: time does not go back'
sim 'at 1ms' --start 2ms
refused 1 'standard input:1: at 1ms: time does not go back'
sim 'stop;extend 1 +1ms'
refused 1 'standard input:2: extend: nothing goes on after stop'
sim 'stop;extend 1 1ms'
refused 1 'standard input:2: extend: nothing goes on after stop'
sim 'arm 1 1ms every 1ms times 8388608'
refused 1 'times 8388608: give a number up to 8388607'
for line in 'arm 1 1ms\0000# rest' '\0000arm 1 1ms' '# a comment\0000'; do
	printf 'arm 2 2ms\n%b\nrun\n' "$line" >"$dir/zero"
	sim '' "$dir/zero"
	refused 1 'zero:2: there is a zero byte in it'
done
sim 'arm 70000 1ms'
refused 1 'standard input:1: arm 70000: ids are below 65536: give more --capacity'
sim 'stop;arm 1 1ms'
refused 1 'nothing goes on after stop'
sim 'arm 1 1ms every 1ms;run'
refused 1 'repeats for ever: say how long'
sim 'arm 1 1ms;at 300d' --as poll --tick 1us
refused 1 'give a longer --tick'
head -c 100000000 /dev/zero | tr '\0' x |
	prlimit --as=67108864 "$twheel" sim >"$dir/out" 2>"$dir/err"
status=$?
refused 1 "standard input: it can't be read: Cannot allocate memory"
{
	seq -f 'arm %.0f 1h' 0 59999
	echo run
} >"$dir/many"
for system in hierarchical twheel; do
	prlimit --cpu=5 "$twheel" sim --as $system --capacity 60000 "$dir/many" >"$dir/out" 2>"$dir/err" &&
		grep -q '^  expired  *60,000' "$dir/out"
	result $? "$system: that many are in one slot takes no time, if nobody asks where"
done
sim '' --as kafka
refused 2 '--as kafka: no such system: use one that twheel sim --help tells'
sim '' --tick 2s
refused 2 '--tick 2s: give 1ns to 1s'
sim '' --load 1 "$dir/script"
refused 2 'give no script with it'
sim '' --compare --trace
refused 2 'give no --trace with it'
sim '' "$dir/script" "$dir/other"
refused 2 'there is a script already'
sim '' "$dir/other"
refused 1 'other: No such file or directory: give a script'

# So that it can be built where there is no C library, in a browser for instance.
grep -h '^#include' sim/*.[ch] --exclude='choice.*' --exclude='load.*' --exclude='memory.*' \
	--exclude='operate.*' --exclude='script.*' --exclude='show.*' | sort -u >"$dir/out"
printf '#include %s\n' '"../../compat/owner.h"' '"../../unit.c"' '"binary.h"' '"sim.h"' '"system.h"' \
	'<stdbool.h>' '<stddef.h>' '<stdint.h>' | sort | cmp - "$dir/out" >"$dir/err" 2>&1
result $? "the model includes nothing but itself and the wheel"

echo "1..$nr"
exit "$failed"
