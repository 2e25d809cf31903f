# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC2154
#
# TAP for the tests that run here, which keep what a command printed in $dir/out and $dir/err.
# Sourced, never run.

nr=0
failed=0

# result STATUS WHAT
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		# What explains it comes first, as check/tap reads it.
		sed 's/^/#   /' "$dir/out" "$dir/err" | head -n 60
		echo "not ok $nr - $2"
		failed=1
	fi
}

# skip WHAT WHY
skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}
