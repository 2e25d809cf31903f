#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes a folder like /sys/kernel/tracing, for FAKE_TRACING, with a trace of wheel 7, in which each
# tracepoint has written something.  And fdinfo, for FAKE_PROC, of a process whose files are that
# wheel, all of them: who has to ask for one does not know which number it will get.
# Usage: fake-tracing.sh TRACING PROC PID

mkdir -p "$1/events/twheel" "$1/instances" "$1/new" "$2/$3/fdinfo"
for file in tracing_on trace_clock; do
	: >"$1/new/$file"
done
for event in timer_arm timer_cancel timer_extend timer_resume timer_let_go cascade timer_move \
	timer_expire timer_stale timer_deliver hrtimer_fire; do
	mkdir -p "$1/new/events/twheel/twheel_$event"
	: >"$1/new/events/twheel/twheel_$event/filter"
	: >"$1/new/events/twheel/twheel_$event/enable"
done
for fd in 0 1 2 3 4 5 6 7 8 9; do
	printf 'pos:\t0\ntwheel-number:\t7\ntwheel-clock:\t1\ntwheel-tick-ns:\t1000000\n' \
		>"$2/$3/fdinfo/$fd"
done

# One process has the name of an event, some have a name of two lines, of which one is nearly what a
# line begins or ends with; the last ones have all signs that a name can have.
# What comes first is older than the list of timers, which has them as they were armed last.
cat >"$1/new/trace_pipe" <<'END'
          server-77      [001] d..2.     5.000001: twheel_timer_arm: wheel=7 id=3 generation=0 cookie=9 deadline=5300000000 ahead_ns=200000000 interval=0 tick=5300 level=1 slot=18 found=idle
          server-77      [001] d..2.     5.000002: twheel_timer_expire: wheel=7 id=3 generation=0 deadline=5000000000 late_ns=0 overdue=1
          server-77      [001] d..2.     5.000003: twheel_timer_deliver: wheel=7 id=3 generation=0 cookie=9 deadline=5000000000 late_ns=0 unread_ns=0 overruns=0 overdue=1
          server-77      [001] d..2.     5.000004: twheel_timer_arm: wheel=7 id=3 generation=1 cookie=9 deadline=5000000000 ahead_ns=0 interval=0 tick=0 level=-1 slot=-1 found=idle
          server-77      [001] d..2.     5.100000: twheel_timer_arm: wheel=7 id=0 generation=2 cookie=9 deadline=5300000000 ahead_ns=200000000 interval=0 tick=5300 level=1 slot=18 found=idle
          server-77      [001] d..2.     5.100100: twheel_timer_arm: wheel=7 id=1 generation=4 cookie=9 deadline=5000000000 ahead_ns=0 interval=0 tick=0 level=-1 slot=-1 found=idle
          server-77      [001] d..2.     5.100110: twheel_timer_expire: wheel=7 id=1 generation=4 deadline=5000000000 late_ns=0 overdue=1
 1.0: twheel_loo-78      [000] d..2.     5.110000: twheel_timer_arm: wheel=7 id=0 generation=3 cookie=9 deadline=5310000000 ahead_ns=200000000 interval=0 tick=5310 level=-1 slot=-1 found=pending
          two
lines-79      [000] d..2.     5.120000: twheel_timer_arm: wheel=7 id=2 generation=2 cookie=18446744073709551615 deadline=7000000000 ahead_ns=1880000000 interval=0 tick=7000 level=2 slot=1 found=idle
          server-77      [001] d..2.     5.130000: twheel_timer_arm: wheel=7 id=2 generation=3 cookie=9 deadline=0 ahead_ns=0 interval=0 tick=0 level=-1 slot=-1 found=pending
          server-77      [001] d..2.     5.131000: twheel_timer_arm: wheel=7 id=3 generation=2 cookie=9 deadline=0 ahead_ns=0 interval=0 tick=0 level=-1 slot=-1 found=idle
          server-77      [001] d..2.     5.140000: twheel_timer_arm: wheel=7 id=4 generation=1 cookie=9 deadline=5700000000 ahead_ns=560000000 interval=0 tick=5700 level=1 slot=24 found=idle
CPU:1 [LOST 12 EVENTS]
CPU:0[LOST999
CPU:0 [LOST 99
EVENTS]-79      [000] d..2.     5.140000: twheel_look: wheel=7 timers=2 due=0 later=1 cancelled=1
 1.0: twheel_mov
e: id=9 level=-79      [000] d..2.     5.140000: twheel_look: wheel=7 timers=2 due=0 later=1 cancelled=1
          x
 9.9: twheel_ca-79      [000] d..2.     5.140000: twheel_look: wheel=7 timers=2 due=0 later=1 cancelled=1
          <idle>-0       [000] ..s1.     5.320050: twheel_hrtimer_fire: clock=monotonic expires=5320000000 late_ns=50000
          <idle>-0       [000] ..s1.     5.320060: twheel_cascade: wheel=7 level=1 slot=18 timers=1 tick=5312
          <idle>-0       [000] ..s1.     5.320070: twheel_timer_move: wheel=7 id=0 from_level=1 from_slot=18 level=0 slot=30 tick=5310
          <idle>-0       [000] ..s1.     5.320080: twheel_timer_expire: wheel=7 id=0 generation=3 deadline=5310000000 late_ns=10080000 overdue=0
          server-77      [001] d..2.     5.400000: twheel_timer_deliver: wheel=7 id=0 generation=3 cookie=9 deadline=5310000000 late_ns=10080000 unread_ns=79920000 overruns=3 overdue=0
          server-77      [001] d..2.     5.400010: twheel_timer_stale: wheel=7 id=1 generation=4 deadline=5000000000
          server-77      [001] d..2.     5.400011: twheel_timer_resume: wheel=7 id=1 generation=4 deadline=6000000000 tick=6000 level=1 slot=29
          <idle>-0       [000] ..s1.     5.400020: twheel_look: wheel=7 timers=2 due=0 later=1 cancelled=1
          <idle>-0       [000] ..s1.     5.400030: twheel_timer_extend: wheel=7 id=4 generation=1 deadline=5900000000 by_ns=200000000 tick=5900 level=1 slot=28
          <idle>-0       [000] ..s1.     5.400020: twheel_timer_move: wheel=7 id=4 from_level=-1 from_slot=-1 level=0 slot=3 tick=5900
          server-77      [001] d..2.     5.500000: twheel_timer_cancel: wheel=7 id=4 generation=1 deadline=5900000000 found=pending
          server-77      [001] ..s1.     5.600000: twheel_timer_let_go: wheel=7 id=5 generation=1
          server-77      [001] ..s1.     5.600000: twheel_unheard_of: wheel=7 id=5 generation=1
END

# Signs of markup, of terminals, of UTF-8, half a character of it, and what is none at all.
LC_ALL=C sed -i -e "s/^ *server-\(.*timer_deliver\)/ <a href='\&\"]]>-\1/" \
	-e "s/^ *server-\(.*timer_stale\)/ $(printf '\033[2J\001\177\303\251\303')-\1/" \
	-e "s/^ *server-\(.*timer_let_go\)/ $(printf '\376\377[9] 7.7: id=8 ')-\1/" "$1/new/trace_pipe"
