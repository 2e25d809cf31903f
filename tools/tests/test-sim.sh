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
	'empty wake-ups 0 nothing has expired, nothing was moved'
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
sim 'arm 1 5ms;run 1ms;where 1;arm 2 900ms;run 10ms;stop' --as hashed --slots 3 --trace
prints "Netty's wheel: the queue, rounds, what stop hands back" \
	'0 armed 1 due 5ms, in the queue, position 0' \
	'1ms woken' \
	'1ms placed 1 due 5ms, level 0 (slots of 1ms), slot 1, position 0, 1 round left' \
	'1ms where 1 due 5ms, level 0 (slots of 1ms), slot 1, position 0, 1 round left; 0 moves so far' \
	'6ms expired 1 1ms late' \
	'11ms woken 5 times since 7ms, for nothing' \
	'11ms left 2 due 901ms, level 0 (slots of 1ms), slot 1, position 0, 222 rounds left; 0 moves so far' \
	'hashed: tick 1ms, 4 slots' \
	'armed still 1 run alone goes on until none is'
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
	'extends 2'
sim "$both" --as linux
prints "how late, at the most and on average" \
	'352ms expired 1 2ms late' '456ms expired 2 6ms late' \
	'lateness, the most 6ms' 'lateness, the mean 4ms' 'bytes a timer 64'
sim 'arm 1 1.5us;arm 2 2h;run' --as heap
prints "a heap has no ticks" '1.5us expired 1 on time' '2h expired 2 on time'

sim "$both" --compare --slots 20
[ $status -eq 0 ] && [ "$(awk 'NR > 1 && NR < 12 { print $1 }' "$dir/out" | xargs)" = \
	'twheel simple hashed hierarchical clock keys heap list poll linux' ] &&
	awk 'NR == 2 && $2 $3 $5 == "202" { n++ } $1 == "simple" && $8 == 2 && $12 == 320 { n++ }
	     $1 == "hierarchical" && $3 == 3 && $5 == 5 { n++ }
	     $1 == "linux" && $9 == "6ms" { n++ } NR < 12 && NF < 12 { exit 1 }
	     END { exit n != 4 }' "$dir/out"
result $? "a table of all systems"
grep -q "$note" "$dir/out"
result $? "and a note below"
sim '' --load 30000 --compare --json
[ $status -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 8 ] &&
	[ "$(grep -c '"early":0,"armed":0,' "$dir/out")" -eq 8 ]
result $? "a load in all systems but two"
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

sim 'arm 1 350ms;jump 2'
refused 1 'standard input:2: jump: no such operation: use arm, extend'
sim 'arm 1 350'
refused 1 "standard input:1: arm '350' needs a unit"
sim 'arm 1 0'
refused 1 'arm 0: give at least 1ns'
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
refused 1 'at 1ms: time does not go back'
sim 'arm 70000 1ms'
refused 1 'standard input:1: arm 70000: ids are below 65536: give more --capacity'
sim 'stop;arm 1 1ms'
refused 1 'nothing goes on after stop'
sim 'arm 1 1ms every 1ms;run'
refused 1 'repeats for ever: say how long'
sim 'arm 1 1ms;at 300d' --as poll --tick 1us
refused 1 'give a longer --tick'
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
grep -h '^#include' sim/*.[ch] --exclude='load.*' --exclude='memory.*' --exclude='script.*' \
	--exclude='show.*' | sort -u >"$dir/out"
printf '#include %s\n' '"../../tests/owner.h"' '"../../unit.c"' '"binary.h"' '"sim.h"' '"system.h"' \
	'<stdbool.h>' '<stddef.h>' '<stdint.h>' | sort | cmp - "$dir/out" >"$dir/err" 2>&1
result $? "the model includes nothing but itself and the wheel"

echo "1..$nr"
exit "$failed"
