#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What twheel stat tells of the wheels of a /proc that is made up: for people, and for Prometheus,
# as promtool and node_exporter understand it, and the rules of examples/prometheus.  TAP.
# Usage: test-stat.sh FAKE-TWHEEL, from the folder of the tools

twheel=$1
rules=../examples/prometheus
dir=$(mktemp -d)
exporter=
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; [ -z "$exporter" ] || kill $exporter; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

# stat OPTION...
stat()
{
	FAKE_PROC=$dir/proc "$twheel" stat "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# has WHAT LINE...: these lines are there, as they stand
has()
{
	what=$1
	shift
	missing=0
	for line; do
		grep -qxF -e "$line" "$dir/out" || missing=1
	done
	[ $status -eq 0 ] && [ $missing -eq 0 ] && [ ! -s "$dir/err" ]
	result $? "$what"
}

# refused STATUS PATTERN OPTION...: with one line
refused()
{
	want=$1
	pattern=$2
	shift 2
	stat "$@"
	[ $status -eq "$want" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -q "$pattern" "$dir/err"
	result $? "refused with $want: stat $*"
}

: >"$dir/out"
tests/fake-proc.sh "$dir/proc"

# --- for people ---

stat
[ "$(grep -c '^ *[0-9]* *[0-9]* *server ' "$dir/out")" -eq 2 ]
result $? "a wheel that two processes hold is told once"
[ "$(awk '/ systemd / { print $1, $2 }' "$dir/out")" = '1 21' ]
result $? "one that systemd keeps for a process is told as that process's"
has "wheels that do not tell which they are, are told each" '6 wheels open'
[ "$(awk '$2 == 5 { print $4, $5, $6, $7, $8, $9, $10 }' "$dir/out")" = \
	'1,000 3 200 2.5s 5ms 97.7 KiB' ]
result $? "the table has what an operator looks for"

FAKE_TIMERS=1 "$twheel" stat --fd 0 >"$dir/out" 2>"$dir/err" </dev/null
status=$?
has "stat of one: what is due, and what waits" \
	'  pending                             1,000' \
	'  none due for                         2.5s' \
	'  expired, not read yet                   3'
has "the histogram, from the first class that is not empty to the last" \
	'  events                                200' \
	'  p50: less than                    32.77us' \
	'  p99: less than                    8.389ms' \
	'  max                                   5ms' \
	'  less than   32.77us                   150   75.0 % ##############################' \
	'  less than   65.54us                    40   20.0 % ########' \
	'  less than   131.1us                     0    0.0 %' \
	'  less than   8.389ms                    10    5.0 % ##'
[ "$(grep -c '^  \(less than\|at least\) ' "$dir/out")" -eq 9 ]
result $? "no class before or behind"

# --- for Prometheus ---

refused 2 'give both' --output "$dir/x"
refused 2 'give one of them' --prometheus --json
refused 2 'leave --pid' --prometheus --pid 1
refused 2 'leave --pid' --prometheus --fd 0
refused 1 'not a file' --prometheus --output /dev/null
refused 1 'No such file' --prometheus --output "$dir/none/twheel.prom"

stat --prometheus
has "sums by command, of each wheel once" \
	'twheel_unseen_processes 0' \
	'twheel_wheels{comm="server"} 2' \
	'twheel_wheels{comm="?"} 2' \
	'twheel_pending_timers{comm="server"} 1010' \
	'twheel_expired_timers{comm="server"} 3' \
	'twheel_arms_total{comm="server"} 5050' \
	'twheel_memory_bytes{comm="server"} 105000'
has "of what can't be added, the soonest and the most" \
	'twheel_next_due_seconds{comm="server"} 1.000000000' \
	'twheel_max_late_seconds{comm="server"} 0.007000000'
has "a histogram, of which each bucket has those before it" \
	'# TYPE twheel_late_seconds histogram' \
	'twheel_late_seconds_bucket{comm="server",le="0.000001023"} 0' \
	'twheel_late_seconds_bucket{comm="server",le="0.000032767"} 160' \
	'twheel_late_seconds_bucket{comm="server",le="4.294967295"} 200' \
	'twheel_late_seconds_bucket{comm="server",le="+Inf"} 210' \
	'twheel_late_seconds_sum{comm="server"} NaN' \
	'twheel_late_seconds_count{comm="server"} 210'
has "a name with signs that mean something there, and numbers of any size" \
	'twheel_pending_timers{comm="odd\"\\name"} 18446744073709551615' \
	'twheel_late_seconds_count{comm="odd\"\\name"} 12000000000000000000'
[ "$(tail -c 1 "$dir/out" | od -An -c | tr -d ' ')" = '\n' ] && ! grep -q '^$' "$dir/out"
result $? "the last line has an end, and none is empty"
cp "$dir/out" "$dir/expected"

mkdir "$dir/textfile"
echo old >"$dir/textfile/twheel.prom"
stat --prometheus --output "$dir/textfile/twheel.prom"
[ $status -eq 0 ] && cmp -s "$dir/expected" "$dir/textfile/twheel.prom" &&
	[ "$(ls "$dir/textfile")" = twheel.prom ] &&
	[ "$(find "$dir/textfile" -type f -perm 644)" = "$dir/textfile/twheel.prom" ]
result $? "--output replaces the file, which all may read, and leaves nothing else"
(
	# Like a full disk.
	ulimit -f 0
	trap '' XFSZ
	stat --prometheus --output "$dir/textfile/twheel.prom" 2>/dev/null
	exit $status
) 2>/dev/null
[ $? -eq 1 ] && cmp -s "$dir/expected" "$dir/textfile/twheel.prom" &&
	[ "$(ls "$dir/textfile")" = twheel.prom ]
result $? "what can't be written leaves the old file as it is"

# Who names processes as they like makes no more time series than that.
i=200
while [ $i -lt 300 ]; do
	cp -r "$dir/proc/102" "$dir/proc/$i"
	sed -i "s/^twheel-number:.*/twheel-number:\t$i/" "$dir/proc/$i/fdinfo/3"
	echo "name$i" >"$dir/proc/$i/comm"
	i=$((i + 1))
done
echo '(others)' >"$dir/proc/299/comm"
stat --prometheus
[ $status -eq 0 ] && [ "$(grep -c '^twheel_wheels' "$dir/out")" -le 51 ] &&
	grep -q '^twheel_wheels{comm="(others)"} [1-9]' "$dir/out" &&
	[ "$(sed -n 's/^twheel_wheels{.*} //p' "$dir/out" | awk '{ s += $1 } END { print s }')" -eq 106 ] &&
	[ -z "$(grep -v '^#' "$dir/out" | sed 's/ [^ ]*$//' | sort | uniq -d)" ]
result $? "many names: the rest is one sum, and none comes twice"

if command -v promtool >/dev/null; then
	promtool check metrics <"$dir/expected" >"$dir/out" 2>&1 && [ ! -s "$dir/out" ]
	result $? "promtool has nothing to say against the metrics"
	promtool check rules $rules/twheel.rules.yml >"$dir/out" 2>&1
	result $? "the rules of examples/prometheus are rules"
	promtool test rules $rules/twheel.rules.test.yml >"$dir/out" 2>&1
	result $? "they fire when they should, and else not"
else
	for what in metrics rules 'tests of rules'; do
		skip "$what" "there is no promtool, of the package prometheus"
	done
fi

# scrape: what node_exporter tells
# shellcheck disable=SC2317 # called below
scrape()
{
	port=$(sed -n 's/.*msg="Listening on".*:\([0-9]*\).*/\1/p' "$dir/log")
	[ -n "$port" ] && curl -sf "http://127.0.0.1:$port/metrics" >"$dir/out" 2>"$dir/err"
}

: >"$dir/log"
if command -v prometheus-node-exporter >/dev/null && command -v curl >/dev/null; then
	prometheus-node-exporter --web.listen-address=127.0.0.1:0 --collector.disable-defaults \
		--collector.textfile --collector.textfile.directory="$dir/textfile" \
		>"$dir/log" 2>&1 &
	exporter=$!
	tries=300
	until scrape; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || break
		sleep 0.1
	done
	status=0
	has "node_exporter tells them" \
		'node_textfile_scrape_error 0' \
		'twheel_wheels{comm="server"} 2' \
		'twheel_interrupts_total{comm="server"} 50' \
		'twheel_pending_timers{comm="odd\"\\name"} 1.8446744073709552e+19' \
		'twheel_late_seconds_bucket{comm="server",le="+Inf"} 210' \
		'twheel_late_seconds_sum{comm="server"} NaN'
	[ "$(grep -c '^twheel_.*{' "$dir/out")" -eq "$(grep -c '^twheel_.*{' "$dir/textfile/twheel.prom")" ]
	result $? "all of them, and no more"
	kill $exporter
	wait $exporter 2>/dev/null
	exporter=
else
	for what in told all; do
		skip "$what" "there is no prometheus-node-exporter, or no curl"
	done
fi

echo "1..$nr"
exit "$failed"
