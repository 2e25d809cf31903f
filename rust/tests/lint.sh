#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What rustfmt, clippy and rustdoc say of the crate. TAP.

CARGO=${CARGO:-cargo}
nr=0
failed=0

# check PROGRAM PACKAGE COMMAND...: passes if cargo's COMMAND succeeds, which runs PROGRAM
check()
{
	program=$1
	package=$2
	shift 2
	nr=$((nr + 1))
	if ! "$program" --version > /dev/null 2>&1; then
		echo "ok $nr - $program # SKIP there is no $program (package $package)"
	elif out=$("$CARGO" "$@" 2>&1); then
		echo "ok $nr - $program"
	else
		echo "$out" | sed 's/^/# /'
		echo "not ok $nr - $program"
		failed=1
	fi
}

export RUSTDOCFLAGS="-D warnings"
check rustfmt rustfmt fmt --check
check cargo-clippy rust-clippy clippy -q --all-targets -- -D warnings
check rustdoc rustc doc -q --no-deps
echo "1..$nr"
exit $failed
