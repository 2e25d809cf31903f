#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The examples of the man pages, as they stand there: each ends well and prints what it is to
# print.  TAP; any POSIX shell, with twheel and twheel-demo in PATH.
# Usage: test-examples.sh DIR..., with what tests/extract has left there, compiled

nr=0
failed=0
for text in $(for dir; do ls "$dir"/*.prints; done); do
	nr=$((nr + 1))
	name=${text%.prints}
	case $name in
	*.sh) out=$(sh -e "$name" 2>&1) ;;
	*) out=$("${name%.c}" 2>&1) ;;
	esac
	status=$?
	if [ $status -eq 0 ] && printf '%s\n' "$out" | grep -qF -e "$(cat "$text")"; then
		echo "ok $nr - ${name##*/}: $(cat "$text")"
	else
		printf '%s\n' "$out" | sed 's/^/# /'
		echo "# exit status $status; to be printed: $(cat "$text")"
		echo "not ok $nr - ${name##*/}"
		failed=1
	fi
done
[ $nr -gt 0 ] || failed=1
echo "1..$nr"
exit $failed
