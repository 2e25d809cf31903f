#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The command twheel and the demo on the real device.  TAP; wants to be root,
# with the module loaded and twheel and twheel-demo in PATH.  Any POSIX shell.
# What comes with --json is kept by verb in a folder, $TWHEEL_JSON if that is set, where
# check-json.py looks at it.

nr=0
failed=0
dir=$(mktemp -d)
json=${TWHEEL_JSON:-$dir/json}
mkdir -p "$json"
holder=
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; [ -z "$holder" ] || kill $holder; rm -rf "$dir"; exit $rc' EXIT

# result STATUS WHAT
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		sed 's/^/#   /' "$dir/out" "$dir/err"
		failed=1
	fi
}

# skip WHAT WHY
skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# run COMMAND...: stdout to out, stderr to err, the exit status to $status
run()
{
	"$@" >"$dir/out" 2>"$dir/err"
	status=$?
	case "$* " in
	"twheel-demo "*" --json "*) cat "$dir/out" >>"$json/demo" ;;
	"twheel "*" --json "*) cat "$dir/out" >>"$json/$2" ;;
	esac
}

# refused STATUS PATTERN COMMAND...: fails with STATUS and one line like PATTERN
refused()
{
	want=$1
	pattern=$2
	shift 2
	run "$@"
	[ "$status" -eq "$want" ] && [ ! -s "$dir/out" ] &&
		[ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q "$pattern" "$dir/err"
	result $? "refused with $want: $*"
}

# has PATTERN WHAT: the last command succeeded and printed a line like PATTERN
has()
{
	[ "$status" -eq 0 ] && grep -Eq -- "$1" "$dir/out"
	result $? "$2"
}

# until_ok COMMAND...: tries again until it succeeds, for 10 s at most
until_ok()
{
	tries=100
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# counts PID KEY N: the wheel of PID has this counter at N
# shellcheck disable=SC2317 # until_ok calls it
counts()
{
	twheel stat --pid "$1" --json | grep -q "\"$2\":$3,"
}

# --- the command line ---

refused 2 'say what to do' twheel
refused 2 'no such verb' twheel frobnicate
refused 2 'no such option' twheel --frobnicate
refused 2 'say when' twheel arm
refused 2 'needs a unit' twheel arm 90
refused 2 'unknown unit' twheel arm 1x
refused 2 'negative' twheel arm -- -1s
refused 2 'out of order' twheel arm 30m1h
refused 2 '292 years' twheel arm 300000d
refused 2 'finer than a nanosecond' twheel arm 0.5ns
refused 2 'no such option' twheel arm --frobnicate 1s
refused 2 '^twheel arm: -5ms: no such option' twheel arm -5ms
refused 2 'its argument is wrong' twheel arm 1s --id
refused 2 'give a number' twheel arm --id x 1s
refused 2 'give it --capacity 65537' twheel arm --id 65536 1s
refused 2 'needs --every' twheel arm --times 3 1s
refused 2 'unknown clock' twheel arm --clock sundial 1s
refused 2 'from 1ns to 1s' twheel arm --tick 2s 1s
refused 2 'takes no arguments' twheel list everything
refused 2 'takes no arguments' twheel doctor everything
refused 2 'give one of them' twheel stat --pid 1 --fd 3
refused 2 'give both' twheel stat --output /tmp/x
refused 2 'is pending or expired' twheel list --state idle
refused 2 'use id, remaining' twheel list --sort size
refused 2 'say which' twheel get
refused 2 'at least 10ms' twheel watch --interval 1ms
refused 2 'give a number' twheel-demo --connections 0
refused 1 'has no wheel open' twheel list --pid $$
refused 1 'no process' twheel stat --pid 4194304
refused 1 'no wheel is open' twheel watch
refused 1 'not a wheel' twheel list --fd 0

run twheel --help
has '^Usage: twheel \[OPTION' "twheel --help"
# The verbs that it names; each shows how it is used, in lines that are run as they stand, but
# for the process.
verbs=$(sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/out")
[ "$(echo "$verbs" | wc -l)" -ge 6 ]
result $? "--help names the verbs"
twheel arm 1h >/dev/null &
holder=$!
until_ok counts $holder pending 1
for verb in $verbs; do
	run twheel "$verb" --help
	has "^Usage: twheel $verb \[OPTION" "twheel $verb --help"
	sed -n "s/^  \(\(printf .* | \)*twheel $verb\( .*\)*\)$/\1/p" "$dir/out" |
		sed "s/1234/$holder/" >"$dir/example"
	run sh -e "$dir/example"
	# Whether all is well in this guest is what test-doctor.sh asks.
	{ [ "$status" -eq 0 ] || [ "$verb" = doctor ]; } && [ -s "$dir/example" ] && [ -s "$dir/out" ]
	result $? "its example: $(cat "$dir/example")"
done
kill $holder
wait $holder 2>/dev/null
holder=
run twheel --version
has '^twheel [0-9.]+ \(ABI [0-9]+\)$' "--version"

# What can't be written is an error, also for who would go on for ever.
unwritten()
{
	timeout 20 "$@" >/dev/full 2>"$dir/err"
	[ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -q '^twheel.*: not all could be written' "$dir/err"
	result $? "a full disk under: $*"
}
: >"$dir/out"
unwritten twheel --version
unwritten twheel arm --help
unwritten twheel features
unwritten twheel features --json
unwritten twheel doctor
unwritten twheel doctor --json
unwritten twheel arm --every 10ms 10ms
unwritten twheel arm --every 10ms 10ms --json

# What was installed is in no source tree.
! grep -qE 'make load|insmod' "$(command -v twheel)" "$(command -v twheel-demo)"
result $? "no message sends anybody to a source tree"

# --- doctor ---

run twheel doctor --json
[ "$status" -le 1 ] &&
	grep -qE '^\{"good":(true|false),"checks":\[\{"what":"kernel","verdict":"ok"' "$dir/out"
result $? "doctor --json"

# --- sim ---

printf 'arm 1 450ms\nrun\n' >"$dir/script"
run twheel sim --json --trace "$dir/script"
has '"what":"expired","time_ns":450000000,' "sim --json"

# --- features ---

run twheel features
has '^  clocks +monotonic, boottime' "features names the clocks"
run twheel features --json
has '^\{"abi":[0-9]+,"clocks":\["monotonic","boottime".*"max_user_wheels":[0-9]+\}$' \
	"features --json"

# --- arm ---

run twheel arm 150ms 50ms 0.1s
[ "$status" -eq 0 ] &&
	[ "$(awk 'NR > 2 { print $NF }' "$dir/out" | tr '\n' ' ')" = "50ms 100ms 150ms " ]
result $? "arm prints events in the order of their deadlines"

run twheel arm 0
has ' 0$' "arm 0 is due at once"

run twheel arm --json --id 7 --cookie 0xffffffffffffffff 20ms 10ms
[ "$status" -eq 0 ] && [ "$(grep -c '^{"what":"[a-z]*",.*}$' "$dir/out")" -eq 4 ] &&
	grep -q '"what":"expired","id":7,"generation":[0-9]*,"cookie":18446744073709551615,' \
		"$dir/out" &&
	grep -q '"what":"expired","id":8,.*"last":true}$' "$dir/out"
result $? "arm --id --cookie --json"

# deadline <= fired <= read: the promise, seen from here.
awk -F '[:,]' '/expired/ {
	for (i = 1; i < NF; i++) {
		if ($i == "\"deadline_ns\"") deadline = $(i + 1) + 0
		if ($i == "\"fired_ns\"") fired = $(i + 1) + 0
		if ($i == "\"read_ns\"") read = $(i + 1) + 0
	}
	if (!deadline || fired < deadline || read < fired)
		exit 1
}' "$dir/out"
result $? "never early: deadline, fired, read"

run twheel arm --every 100ms --times 3 10ms --json
[ "$status" -eq 0 ] && [ "$(grep -c '"last":false' "$dir/out")" -le 2 ] &&
	[ "$(grep -c '"last":true' "$dir/out")" -eq 1 ]
result $? "arm --every --times ends after the last"

run twheel arm --clock boottime --tick 10ms --slack 20ms --capacity 100 30ms
has ' 30ms$' "arm with a wheel of one's own making"

run twheel arm --clock realtime 10ms
has ' 10ms$' "arm by CLOCK_REALTIME"

run twheel arm --id 70000 --capacity 70001 1ms
has ' 70000 ' "arm --capacity makes room for larger ids"

# --- another process's wheel ---

twheel arm --id 3 --every 1m --times 5 --cookie 99 --slack 5ms 2h 1h30m >"$dir/held" 2>&1 &
holder=$!
until_ok counts $holder pending 2
result $? "stat --pid waits for no event: two timers are pending"

run twheel stat --pid $holder
[ "$status" -eq 0 ] && grep -Eq '^  tick +1ms$' "$dir/out" &&
	grep -Eq '^  capacity +65,536 ' "$dir/out" && grep -Eq '^  pending +2$' "$dir/out" &&
	grep -Eq '^  its time +[0-9.]+[a-z]' "$dir/out" && grep -Eq '^  words +none$' "$dir/out" &&
	grep -Eq '^  events +0$' "$dir/out"
result $? "stat --pid tells setup, counters and how late events were found"
# A level comes down before the timer is due.
has '^  none due for +(1h|[0-9]+m)[0-9smh.]*$' "stat --pid tells for how long none is due"
run twheel stat --pid $holder --json
has "^\{\"pid\":$holder,\"fd\":[0-9]+,\"comm\":\"twheel\",\"number\":[0-9]+,\"setup\":\{.*\"stats\":\{.*\}\}$" \
	"stat --pid --json"

run twheel stat
has "^ *$holder +[0-9]+ +twheel +2 " "stat without --pid finds the wheel"
run twheel stat --json
has "^\{\"pid\":$holder,\"fd\":[0-9]+,\"comm\":\"twheel\",.*\"pending\":2,.*\}$" "stat --json"

run twheel stat --prometheus
grep -qxF 'twheel_wheels{comm="twheel"} 1' "$dir/out" &&
	grep -qxF 'twheel_pending_timers{comm="twheel"} 2' "$dir/out" &&
	grep -qxF 'twheel_unseen_processes 0' "$dir/out" &&
	grep -Eq '^twheel_next_due_seconds\{comm="twheel"\} [1-9][0-9]*\.[0-9]{9}$' "$dir/out"
result $? "stat --prometheus"
run twheel stat --prometheus --output "$dir/twheel.prom"
[ "$status" -eq 0 ] && [ ! -s "$dir/out" ] &&
	grep -qxF 'twheel_late_seconds_count{comm="twheel"} 0' "$dir/twheel.prom"
result $? "stat --prometheus --output"

run twheel list
[ "$status" -eq 0 ] &&
	grep -Eq '^ +3 +1 +pending +(2h|1h59m[0-9.]*s?) +1m +5 +5ms +0 +99$' "$dir/out" &&
	grep -Eq '^ +4 +1 +pending +1h(30m|29m[0-9.]*s?) ' "$dir/out" &&
	grep -q '^2 pending, 0 expired$' "$dir/out"
result $? "list finds the only wheel and tells the remaining time"
run twheel list --pid $holder --json
[ "$(grep -c '^{"id":[34],.*"state":"pending","count":5,"cookie":99,.*}$' "$dir/out")" -eq 2 ]
result $? "list --pid --json"
run twheel list --pid $holder --json --sort remaining --limit 1
[ "$(wc -l <"$dir/out")" -eq 1 ] && grep -q '^{"id":4,' "$dir/out"
result $? "list --sort --limit: the one that is due next"
run twheel list --pid $holder --within 100m --state pending --periodic --id 0-4
has '^1 pending, 0 expired$' "list --within --state --periodic --id"
run twheel get --pid $holder 3
[ "$status" -eq 0 ] && grep -Eq '^  state +pending$' "$dir/out" &&
	grep -Eq '^  left +5  expirations$' "$dir/out"
result $? "get tells all about a timer"
run twheel get --pid $holder 3 --json
has '^\{"id":3,.*"overruns":0\}$' "get --json"
run twheel get --pid $holder 9
has '^  state +idle$' "get of a timer that is not armed"
refused 1 'out of its range' twheel get --pid $holder 70000
fd=$(twheel stat --json | sed 's/.*"fd":\([0-9]*\).*/\1/')
run twheel list --pid "$holder:$fd"
has '^2 pending' "list --pid PID:FD"
refused 1 'is not a wheel' twheel list --pid "$holder:0"
refused 1 'has no file descriptor' twheel list --pid "$holder:987"

run twheel watch --pid $holder --interval 100ms --count 3
[ "$status" -eq 0 ] && [ "$(grep -Ec '^ +2 +0 ' "$dir/out")" -eq 3 ]
result $? "watch prints a line each interval"
unwritten twheel watch --pid $holder --interval 50ms
unwritten twheel list
unwritten twheel stat --json
run twheel watch --pid $holder --interval 50ms --count 2 --json
[ "$(grep -c '^{"pending":2,.*"fired_per_s":0,.*}$' "$dir/out")" -eq 2 ]
result $? "watch --json"

twheel watch --pid $holder --interval 1h >"$dir/out" 2>"$dir/err" &
watcher=$!
kill $holder
wait $holder 2>/dev/null
holder=
wait $watcher
status=$?
[ $status -eq 0 ] || [ "$(wc -l <"$dir/err")" -eq 1 ]
result $? "watch ends with the process, without waiting for the interval"

# The descriptor is another wheel's from some time on.
# shellcheck disable=SC2016 # the inner shell's
sh -c 'exec 5<>/dev/twheel; : >"$1/open"; until [ -e "$1/go" ]; do usleep 10000; done
	exec 5<>/dev/twheel; sleep 100' sh "$dir" &
holder=$!
until_ok test -e "$dir/open"
twheel watch --pid $holder --interval 20ms --count 500 >"$dir/out" 2>"$dir/err" &
watcher=$!
until_ok grep -q PENDING "$dir/out"
: >"$dir/go"
wait $watcher
grep -q 'the wheel was closed' "$dir/out"
result $? "watch does not go over to another wheel of the same number"
kill $holder
wait $holder 2>/dev/null
holder=
rm "$dir/go"

# One that can't read its event: nobody else may take it.
twheel arm --cookie 5 2s >"$dir/held" &
holder=$!
until_ok counts $holder pending 1
kill -STOP $holder
until_ok counts $holder expired 1
run twheel list --pid $holder
has ' expired +0 .* 5$' "list shows an expired timer that waits to be read"
run twheel watch --pid $holder --interval 20ms --count 3
[ "$(grep -Ec '^ +0 +1 ' "$dir/out")" -eq 3 ]
result $? "watch leaves the event where it is"
kill -CONT $holder
run wait $holder
holder=
run cat "$dir/held"
has ' 2s$' "and its owner reads it"

# So long it was not read, and the next one is on time.
twheel arm 2s 1h >/dev/null &
holder=$!
until_ok counts $holder pending 2
kill -STOP $holder
until_ok counts $holder expired 1
kill -CONT $holder
until_ok counts $holder delivered 1
run twheel stat --pid $holder
grep -Eq '^  events +1$' "$dir/out" && grep -Eq '^  less than .* 1  100.0 % #+$' "$dir/out"
result $? "stat --pid tells how late its event was found"
kill $holder
wait $holder 2>/dev/null
holder=

# A wheel that a shell holds and a command inherits.
mkfifo "$dir/go"
(
	twheel list --fd 5 >"$dir/before"
	read -r _ <"$dir/go"
) 5<>/dev/twheel &
holder=$!
until_ok [ -s "$dir/before" ]
run cat "$dir/before"
has '^0 pending, 0 expired$' "list --fd: an inherited wheel"
run twheel stat --pid $holder
has '^  pending +0$' "stat --pid of a shell that holds a wheel"
# Two processes hold it, the shell and one whose end it waits for; another wheel is another one.
(
	sleep 60 &
	echo $! >"$dir/sleeper"
	exec sleep 60
) 5<>/dev/twheel &
sleepers=$!
until_ok [ -s "$dir/sleeper" ]
until_ok sh -c 'twheel stat | grep -q "^2 wheels open"'
[ -e "/proc/$(cat "$dir/sleeper")/fd/5" ] && [ -e "/proc/$sleepers/fd/5" ]
result $? "two processes hold a wheel"
run twheel stat --json
[ "$(sed 's/.*"number":\([0-9]*\).*/\1/' "$dir/out" | sort -u | wc -l)" -eq 2 ] &&
	[ "$(wc -l <"$dir/out")" -eq 2 ]
result $? "stat tells each wheel once, with its number"
kill $sleepers "$(cat "$dir/sleeper")"
wait $sleepers 2>/dev/null
echo >"$dir/go"
wait $holder
holder=

# --- who may ---

if grep -q '^nobody:' /etc/passwd && su -s /bin/sh nobody -c true 2>/dev/null; then
	mode=$(stat -c %a /dev/twheel)
	chmod 600 /dev/twheel
	refused 1 'not permitted to open .*twheel doctor' su -s /bin/sh nobody -c "twheel arm 1s"
	chmod 666 /dev/twheel
	refused 1 'CAP_SYS_RESOURCE' su -s /bin/sh nobody -c "twheel arm --tick 99us 1s"
	run su -s /bin/sh nobody -c "twheel arm 10ms"
	has ' 10ms$' "arm by a user who may open the device"
	chmod "$mode" /dev/twheel
	twheel arm 1h >/dev/null &
	holder=$!
	until_ok counts $holder pending 1
	refused 1 'not permitted' su -s /bin/sh nobody -c "twheel list --pid $holder"
	run su -s /bin/sh nobody -c "twheel stat --prometheus"
	[ "$status" -eq 0 ] && ! grep -q '^twheel_wheels{' "$dir/out" &&
		grep -q '^twheel_unseen_processes [1-9]' "$dir/out"
	result $? "stat --prometheus tells how many processes it has not seen"
	kill $holder
	wait $holder 2>/dev/null
	holder=
else
	for what in open tick arm list metrics; do
		skip "$what as another user" "no user nobody, or not root"
	done
fi

# --- the demo ---

run twheel demo --quick --record "$dir/record"
[ "$status" -eq 0 ] && tail -n 1 "$dir/out" |
	grep -Eq '^demo: [1-9][0-9]* cut, 0 early, 0 missed$' &&
	grep -Eq '^  hrtimer interrupts per timer fired ' "$dir/out" &&
	grep -Eq '^  pushed back, on a message +[0-9,]+ +0 +[0-9,]+ +[1-9][0-9,]+$' "$dir/out"
result $? "the demo: $(tail -n 1 "$dir/out")"

# The same judgement by awk, from the record alone: of two runs, each with its timeout.
cuts=$(awk -F '\t' '
	/^# timeout_ns / { split($0, words, " "); timeout = words[3] }
	/^#/ { next }
	$6 != ($2 == "silent") || $4 != $3 || $5 != $3 { exit 1 }
	$6 && ($11 < $9 + timeout || $13 < $8 + timeout || $12 > $9 + 2 * timeout) { exit 1 }
	{ cuts += $6; connections++ }
	END { print cuts, connections }' "$dir/record")
[ "$cuts" = "$(tail -n 1 "$dir/out" | awk '{ print $2 }') 700" ]
result $? "the record of the demo bears it out: cuts, connections: $cuts"

run twheel-demo --connections 100 --timeout 500ms --seed 42 --json
[ "$status" -eq 0 ] && [ "$(wc -l <"$dir/out")" -eq 1 ] &&
	grep -q '^{"good":true,"runs":\[{"good":true,"words":true,"connections":100,"seed":42,.*}\]}$' \
		"$dir/out" &&
	grep -Eq '^demo: [1-9][0-9]* cut, 0 early, 0 missed$' "$dir/err"
result $? "the demo's --json is one object, its last line goes to stderr"

echo "1..$nr"
exit $failed
