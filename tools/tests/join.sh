#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs test programs, each a command line, and joins what they print to one
# TAP stream.  A program that fails without a "not ok", or keeps no plan,
# counts as a failed test.
# Usage: join.sh COMMAND...

for command in "$@"; do
	echo "#@ begin $command"
	$command
	echo "#@ end $?"
done | awk '
	/^#@ begin / {
		name = $3
		sub(".*/", "", name)
		tests = bad = 0
		plan = -1
		next
	}
	/^#@ end / {
		if (plan != tests || ($3 && !bad)) {
			print "not ok " ++nr " - " name ": exit status " $3 ", " \
			      tests " tests, planned " plan
			failed = 1
		}
		next
	}
	/^1\.\.[0-9]+$/ {
		plan = substr($0, 4)
		next
	}
	/^(not )?ok [0-9]+/ {
		tests++
		if ($1 == "not")
			bad = failed = 1
		sub(/ok [0-9]+( - )?/, "ok " ++nr " - " name ": ")
	}
	{
		print
		fflush()
	}
	END {
		print "1.." nr
		exit failed
	}'
