#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The examples of the man pages, as they stand there: each ends well and prints what it is to
# print.  TAP; any POSIX shell, with twheel and twheel-demo in PATH.
# Usage: test-examples.sh DIR..., with what tests/extract has left there, compiled

nr=0
failed=0
dir=$(mktemp -d)
holder=
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; [ -z "$holder" ] || kill $holder; rm -rf "$dir"; exit $rc' EXIT

# hold: $holder becomes a process that has two timers armed; it says so when they are
hold()
{
	mkfifo "$dir/says"
	twheel arm 1h 2d >"$dir/says" &
	holder=$!
	exec 3<"$dir/says"
	read -r _ <&3
}

# script FILE: runs it, with such a process for the one that it names
script()
{
	if grep -q 1234 "$1"; then
		[ -n "$holder" ] || hold
		sed "s/1234/$holder/" "$1" >"$dir/script"
		set -- "$dir/script"
	fi
	sh -e "$1"
}

for text in $(for folder; do ls "$folder"/*.prints; done); do
	nr=$((nr + 1))
	name=${text%.prints}
	case $name in
	*.sh) script "$name" ;;
	*) "${name%.c}" ;;
	esac >"$dir/out" 2>&1
	status=$?
	if [ $status -eq 0 ] && grep -qF -e "$(cat "$text")" "$dir/out"; then
		echo "ok $nr - ${name##*/}: $(cat "$text")"
	else
		sed 's/^/# /' "$dir/out"
		echo "# exit status $status; to be printed: $(cat "$text")"
		echo "not ok $nr - ${name##*/}"
		failed=1
	fi
done
[ $nr -gt 0 ] || failed=1
echo "1..$nr"
exit $failed
