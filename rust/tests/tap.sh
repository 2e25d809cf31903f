#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the tests of the crate, and an example, and prints TAP; or prints TAP of what a test program
# has printed, which has no cargo where it runs:
#
#	tests/tap.sh
#	tests/tap.sh PROGRAM [ARGUMENTS...]

# As libtest prints it: "test NAME ... ok", and what failed once more behind that.
tap()
{
	awk '
		/^test .* \.\.\. (ok|FAILED|ignored)/ {
			name = $0
			sub(/^test /, "", name)
			sub(/ \.\.\. (ok|FAILED|ignored).*/, "", name)
			skip = ""
			if (/ \.\.\. ignored/) {
				skip = $0
				sub(/.* \.\.\. ignored(, )?/, " # SKIP ", skip)
			}
			is = "ok "
			if (/ \.\.\. FAILED$/) {
				is = "not ok "
				failed = 1
			}
			nr++
			print is nr " - " name skip
			next
		}
		/^(running|test result:|$)/ { next }
		{ print "# " $0 }
		END {
			print "1.." nr + 0
			exit failed
		}'
}

# must NAME COMMAND...: a test of its own if it fails, of what the others do not tell.
must()
{
	name=$1
	shift
	"$@" || echo "test $name ... FAILED"
}

example()
{
	line=$("$CARGO" run -q --release --example idle) || line=
	echo "$line"
	case $line in
	*": 0 messages, "*) ;;
	*" messages, 200 clients forgotten, 0 early")
		echo "test examples/idle.rs ... ok"
		return
		;;
	esac
	echo "test examples/idle.rs ... FAILED"
}

if [ $# -gt 0 ]; then
	must "${1##*/}" "$@" 2>&1 | tap
	exit
fi
CARGO=${CARGO:-cargo}
[ ! -e /dev/twheel ] || set -- -- --include-ignored
{
	must "cargo test" "$CARGO" test --no-fail-fast "$@"
	example
} 2>&1 | tap
