#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes a folder like /proc, for FAKE_PROC, of processes with wheels.
# Usage: fake-proc.sh FOLDER

proc=$1

# The wheel's path as the next ones have it.
link=/dev/twheel

# wheel PID FD COMM NUMBER [KEY=VALUE...]: a process has a wheel; the rest of it is as always
wheel()
{
	mkdir -p "$proc/$1/fd" "$proc/$1/fdinfo"
	printf '%s\n' "$3" >"$proc/$1/comm"
	ln -s "$link" "$proc/$1/fd/$2"
	{
		printf 'pos:\t0\nflags:\t02000002\nmnt_id:\t9\nino:\t77\n'
		printf 'twheel-number:\t%s\n' "$4"
		shift 4
		for pair in clock=1 tick-ns=1000000 levels=11 slots=64 capacity=65536 \
			now-ns=5000000000 "$@"; do
			printf 'twheel-%s:\t%s\n' "${pair%%=*}" "${pair#*=}"
		done
	} >"$proc/$1/fdinfo/$2"
}

# classes CLASS=NR...: 24 classes, all 0 but these
classes()
{
	i=0
	while [ $i -lt 24 ]; do
		nr=0
		for pair; do
			[ "${pair%%=*}" -ne $i ] || nr=${pair#*=}
		done
		printf '%s ' "$nr"
		i=$((i + 1))
	done
}

mkdir -p "$proc"
# systemd keeps a wheel of a service, and one that nobody uses.
wheel 1 20 systemd 1
wheel 1 21 systemd 4
wheel 100 5 server 1 pending=1000 expired=3 arms=5000 fired=200 delivered=190 \
	interrupts=50 memory=100000 next-ns=7500000000 max-late-ns=5000000 \
	"late=$(classes 5=150 6=30 13=10)"
# The same one once more, in a child.
link='/dev/twheel (deleted)'
wheel 101 5 server 1 pending=1000 expired=3 arms=5000 fired=200 delivered=190 \
	interrupts=50 memory=100000 next-ns=7500000000 max-late-ns=5000000 \
	"late=$(classes 5=150 6=30 13=10)"
# As in a container.
link=/any/name
wheel 102 3 server 2 pending=10 expired=0 arms=50 fired=20 delivered=20 memory=5000 \
	next-ns=6000000000 max-late-ns=7000000 "late=$(classes 5=10 23=10)"
# Numbers as large as they can be.
wheel 103 4 'odd"\name' 3 pending=18446744073709551615 next-ns=0 \
	"late=$(yes 500000000000000000 | head -n 24 | tr '\n' ' ')"
# Two that do not tell which they are, and a name that is none.
wheel 104 3 '' 0 pending=1
wheel 104 4 '' 0 pending=1
# Managers of users keep them too: so many that one is seen first, in whatever order.
for pid in 11 12 13 14 15 16 17 18; do
	wheel $pid 20 systemd 1
	wheel $pid 21 systemd 2
done
# What says that it is one and can't be: it has no path.
link='socket:[77]'
wheel 107 3 server 5
# What is no wheel, and no process.
mkdir -p "$proc/105/fd" "$proc/105/fdinfo" "$proc/sys"
ln -s /dev/null "$proc/105/fd/0"
printf 'pos:\t0\n' >"$proc/105/fdinfo/0"
