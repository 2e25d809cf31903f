#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The man pages: their form, that nothing public is missing in them, and how they are
# installed.  TAP.
# Usage: test-pages.sh BUILD, from the folder of the pages, with twheel in PATH
#
# shellcheck disable=SC2317 # functions are called through check

build=$1
export LC_ALL=C
# What make says of this is nothing to the makes that are run here.
unset MAKEFLAGS MFLAGS MAKELEVEL
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0

# check WHAT COMMAND...: passes if the command succeeds and says nothing
check() {
	local what=$1 rc=0

	shift
	nr=$((nr + 1))
	"$@" >"$dir/out" 2>&1 || rc=$?
	if [ $rc -eq 0 ] && [ ! -s "$dir/out" ]; then
		echo "ok $nr - $what"
	else
		sed 's/^/# /' "$dir/out"
		echo "not ok $nr - $what"
		failed=1
	fi
}

# skip WHAT COMMAND: there is no such command
skip() {
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP there is no $2"
}

# Lines of page and name; of a page about functions, one for each.
names=$(for source in *.scd; do
	page=${source%.scd}
	functions=$(sed -n 's/^@functions //p' "$source")
	for name in ${functions:-${page%.*}}; do
		echo "$page $name"
	done
done)
mapfile -t pages < <(cut -d ' ' -f 1 <<<"$names" | sort -u)

# What a person reads, but in lines so long that no word is broken.
for page in "${pages[@]}"; do
	MANWIDTH=5000 man -l "$build/$page" 2>/dev/null | col -bx >"$dir/$page"
done
# Their parts that others are compared with.
sed -n '/^CALLS/,/^STRUCTS/p' "$dir/twheel.4" >"$dir/calls"
sed -n '/^ERRORS/,/^MODULE/p' "$dir/twheel.4" >"$dir/errors"

#
# Form.
#
lint() {
	# scdoc ends each paragraph so.
	mandoc -T lint -W warning "${pages[@]/#/$build/}" 2>&1 |
		grep -v 'WARNING: skipping paragraph macro: PP \(empty\|after S[HS]\)$'
	return 0
}
if command -v mandoc >/dev/null; then
	check "mandoc -T lint finds nothing" lint
else
	skip "mandoc -T lint" mandoc
fi

rendered() {
	local page

	for page in "${pages[@]}"; do
		MANWIDTH=80 man --warnings -E UTF-8 -l "$build/$page" 2>"$dir/warnings" >"$dir/narrow"
		cat "$dir/warnings"
		[ "$(wc -l <"$dir/narrow")" -gt 30 ] || echo "$page: there is nothing in it"
		col -bx <"$dir/narrow" | awk -v page="$page" '
			length($0) > 100 { print page ": too wide for a terminal: " $0 }'
	done
}
check "man renders each page, without a warning of groff's" rendered

sections() {
	local page want

	for page in "${pages[@]}"; do
		for want in NAME SYNOPSIS DESCRIPTION EXAMPLE 'SEE ALSO'; do
			case $page-$want in
			twheel.7-SYNOPSIS | twheel.1-EXAMPLE) continue ;;
			esac
			grep -qx "$want" "$dir/$page" || echo "$page has no section $want"
		done
	done
}
check "each page has the sections that a reader looks for" sections

# What apropos and whatis know of a page: each of its names, and what it is.
whatis() {
	local page name

	while read -r page name; do
		lexgrog "$build/$page" | grep -q ": \"$name - [a-z ]..*\"$" ||
			echo "$page does not say in its NAME what $name is"
	done <<<"$names"
}
check "whatis finds each name" whatis

# References to other pages: ours are there; of the others, the system knows the names.
references() {
	local reference page

	grep -ohE '[a-zA-Z_][a-zA-Z0-9_-]*\([1-8]\)' "${pages[@]/#/$dir/}" | sort -u >"$dir/references"
	[ "$(wc -l <"$dir/references")" -gt 30 ] || echo "there are no references"
	dpkg -L manpages manpages-dev libsystemd-dev |
		sed -n 's,.*/man[1-8]/\(.*\)\.gz$,\1,p' >"$dir/known"
	while read -r reference; do
		page=${reference/(/.}
		page=${page%)}
		[ -e "$build/$page" ] || grep -qxF "$page" "$dir/known" ||
			echo "there is no page $reference"
	done <"$dir/references"
}
check "what pages refer to is there" references

#
# Nothing is missing.
#
# words: those of the input, one a line
words() {
	grep -oE '[A-Za-z_][A-Za-z0-9_-]*' | sort -u
}

# in_page PAGE: complains of words of the input that are not in the page
in_page() {
	words >"$dir/words"
	[ -s "$dir/words" ] || echo "nothing is looked for in $1"
	words <"$dir/$1" | comm -23 "$dir/words" - | sed "s/^/$1 says nothing of /"
}

functions() {
	local name

	sed -n 's/^\t\(twheel_[a-z_]*\);$/\1/p' ../lib/libtwheel.map >"$dir/exported"
	in_page libtwheel.3 <"$dir/exported"
	while read -r name; do
		case $name in
		# For the inline functions, as libtwheel(3) says.
		twheel_cancel_slow | twheel_cancel_state) ;;
		*) grep -qx "[^ ]* $name" <<<"$names" || echo "no page is about $name" ;;
		esac
	done <"$dir/exported"
}
check "each function of the library has a page" functions

# Errnos are among them.
function_words() {
	local page name

	while read -r page name; do
		[[ $page != twheel_* ]] ||
			sed -n "/^ \* $name() - /,/^ \*\/$/p" ../lib/twheel.h |
				sed 's/^ \* @w: the handle$//; s/^ \* Return://' | in_page "$page"
	done <<<"$names"
}
check "each word that the header says of a function is in its page" function_words

kernel_words() {
	sed -n '/^\/\*\*$/,/^ \*\/$/s/^ \* \(DOC: .*\)\{0,1\}//p' ../uapi/linux/twheel.h |
		in_page twheel.4
	sed -n '/^ \* DOC: /,/^ \*\/$/s/^ \* \(DOC: .*\)\{0,1\}//p' ../lib/twheel.h |
		in_page libtwheel.3
}
check "each word that the headers say of the device, and of the library" kernel_words

constants() {
	cat "${pages[@]/#/$dir/}" >"$dir/all"
	sed -nE 's/^(TWHEEL_[A-Z_]+) .*/\1/p' ../uapi/abi.txt | in_page twheel.4
	sed -nE 's/^(TWHEEL_[A-Z_]+) .*/\1/p' ../lib/abi.txt | grep -v '^TWHEEL_0' | sort -u | in_page all
}
check "each constant is in a page" constants

# struct PAGE NAME, with its members as lines of the input: each is in the declaration, and once
# more with what it means.
struct() {
	grep -q "^ *struct $2 {" "$dir/$1" || echo "$1 has no struct $2"
	awk -v page="$1" -v name="$2" '
		FILENAME == "-" { want[$1]; next }
		$0 ~ "^ *struct " name " {" { inside = 1 }
		/^ ? ? ?[^ ]/ { inside = 0 }
		inside && /^       [a-z_]+$/ { said[$1] }
		END {
			for (member in want)
				if (!(member in said))
					print page ": what is " member " of " name "?"
		}' - "$dir/$1"
}

members() {
	local name page

	cat ../uapi/abi.txt ../lib/abi.txt >"$dir/abi"
	# Of twheel_shared no program needs to know.
	sed -nE 's/^struct (\w+) size .*/\1/p' "$dir/abi" | grep -vx twheel_shared | sort -u >"$dir/structs"
	[ "$(wc -l <"$dir/structs")" -gt 10 ] || echo "there are no structs"
	while read -r name; do
		page=twheel.4
		grep -q "^struct $name " ../uapi/abi.txt ||
			page=$(grep -lx "@struct $name" -- *.3.scd | sed 's/.scd$//')
		[ -n "$page" ] || { echo "no page has struct $name"; continue; }
		sed -nE "/^struct $name size/,/^[^\t]/{s/^\t.*[ *](\w+)(\[[0-9]+\])?;?$/\1/p}" "$dir/abi" |
			struct "$page" "$name"
	done <"$dir/structs"
}
check "each struct is in a page, and each of its members" members

calls() {
	local name

	sed -nE 's/^#define (TWHEEL_IOC_\w+)\s+_IO.*/\1/p' ../uapi/linux/twheel.h >"$dir/ioctls"
	[ -s "$dir/ioctls" ] || echo "the header has no ioctls"
	while read -r name; do
		sed -n "/^   $name$/,/^   [^ ]/p" "$dir/calls" | grep -qE '(No e|E)rrors' ||
			echo "twheel(4) does not say how $name can fail"
	done <"$dir/ioctls"
	grep -oE '\bE[A-Z0-9]{3,}\b' "$dir/calls" | sort -u | in_page errors
}
check "each ioctl is in twheel(4), and its errnos are explained" calls

errnos() {
	sed -nE '/DOC: what each errno means/,/\*\/$/s/^ \* (E[A-Z0-9]+) .*/\1/p' \
		../uapi/linux/twheel.h >"$dir/errnos"
	in_page errors <"$dir/errnos"
	in_page calls <"$dir/errnos"
}
check "each errno of the kernel is explained, and a call is named that has it" errnos

parameters() {
	local name

	sed -n '/^MODULE/,/^FILES/p' "$dir/twheel.4" >"$dir/part"
	sed -nE 's/^module_param\((\w+),.*/\1/p' ../*.c >"$dir/parameters"
	[ -s "$dir/parameters" ] || echo "the module has no parameters"
	while read -r name; do
		grep -q "^       $name (.*)$" "$dir/part" || echo "nothing is said of $name"
	done <"$dir/parameters"
	sed -nE 's/.*seq_printf\(m, "(twheel-[a-z-]+):.*/\1/p' ../*.c | in_page twheel.4
}
check "each module parameter, and each key of fdinfo" parameters

promises() {
	sed -n '/^## What it promises/,/^## /s/^[0-9]\. \*\*\(.*\)\*\*.*/\1/p' ../README.md >"$dir/promises"
	[ "$(wc -l <"$dir/promises")" -eq 9 ] || echo "README has not nine promises"
	sed -nE 's/^ +[0-9]\. +([A-Z][a-z ]+\.) .*/\1/p' "$dir/twheel.4" | diff "$dir/promises" -
}
check "the nine promises, by name and in order" promises

# The verbs that --help names.
verbs() {
	twheel --help | sed -nE '/^Verbs:/,/^$/s/^  ([a-z]+) .*/\1/p'
}

# options COMMAND...: complains of what its --help offers and the part of a page, in
# $dir/part, begins no paragraph with
options() {
	local option count=0

	while read -r option; do
		count=$((count + 1))
		grep -qE "^ {7}(-., )?$option(,|=|$)" "$dir/part" || echo "nothing is said of $* $option"
	done < <("$@" --help | sed -nE 's/^ {2,6}((-.), )?(--[a-z-]+).*/\2\n\3/p' |
		sed '/./!d; s/?/[?]/')
	[ "$count" -gt 3 ] || echo "$* --help has no options"
}

commands() {
	local verb

	[ "$(verbs | wc -l)" -gt 3 ] || echo "--help has no verbs"
	cp "$dir/twheel.1" "$dir/part"
	options twheel
	while read -r verb; do
		if [ "$verb" = demo ]; then
			cp "$dir/twheel-demo.1" "$dir/part"
		else
			sed -n "/^OPTIONS/,/^VERBS/p; /^   twheel $verb$/,/^ \{0,3\}[^ ]/p" \
				"$dir/twheel.1" >"$dir/part"
			grep -qE "^ {11}.*twheel $verb\b" "$dir/part" ||
				echo "there is no example of $verb"
		fi
		options twheel "$verb"
	done < <(verbs)
}
check "each verb, with an example, and each option" commands

# An example that nobody could find would be none.
marks() {
	tests/extract "$dir/examples" ./*.scd
	[ "$(find "$dir/examples" -name '*.prints' | wc -l)" -ge 20 ] || echo "there are fewer than 20"
	grep -v '^; run:' libtwheel.3.scd >"$dir/bad.scd"
	! tests/extract "$dir/examples-bad" "$dir/bad.scd" 2>/dev/null || echo "one without a mark is taken"
}
check "each example says how it is run" marks

# wrong MESSAGE LINE: a page with this line is refused
wrong() {
	echo "$2" >"$dir/twheel_arm.3.scd"
	! ./expand "$dir/twheel_arm.3.scd" >/dev/null 2>"$dir/err" || echo "it takes: $2"
	grep -qF -- "$1" "$dir/err" || sed "s/^/$2: /" "$dir/err"
}

# shellcheck disable=SC2016 # a block
mistakes() {
	wrong 'there is no @functoins' '@functoins twheel_arm'
	wrong 'say nothing of twheel_amr' '@functions twheel_arm twheel_amr'
	wrong "the first function is not the page's" '@functions twheel_extend twheel_arm'
	wrong 'say nothing of twheel_opp' '@struct twheel_opp'
	wrong 'no constant begins so: TWHEEL_AMR_' '@constants TWHEEL_AMR_'
	wrong 'no DOC comment is called "the ABI"' '@text the ABI'
	wrong 'a block has no end' '```'
	! ./expand 2>"$dir/err" || echo "it takes no page at all"
	grep -q '^usage: ' "$dir/err" || cat "$dir/err"
}
check "mistakes in a page are found" mistakes

#
# Installed.
#
installed() {
	local page name

	make -s O="$build" DESTDIR="$dir/root" PREFIX=/opt install || return
	while read -r page name; do
		[ "$(man -M "$dir/root/opt/share/man" -w "${page##*.}" "$name")" = \
			"$dir/root/opt/share/man/man${page##*.}/$page" ] || echo "man does not find $name"
	done <<<"$names"
	make -s O="$build" DESTDIR="$dir/root" PREFIX=/opt uninstall || return
	find "$dir/root" ! -type d
}
check "make install, man finds each name, make uninstall leaves nothing" installed

# scdoc may be missing on a machine where somebody only wants to use twheel.
without_scdoc() {
	mkdir "$dir/bin"
	ln -s /usr/bin/* "$dir/bin/"
	rm -f "$dir/bin/scdoc"
	make -n -C .. install >"$dir/with" 2>&1 || return
	grep -q 'share/man/man4 .*twheel\.4' "$dir/with" || echo "make install forgets the pages"
	PATH=$dir/bin make -n -C .. install >"$dir/without" 2>&1 || echo "without scdoc it fails"
	grep -q 'share/man/man4' "$dir/without" && echo "without scdoc it installs pages"
	grep -q '^On Debian: apt-get install scdoc' "$dir/without" || echo "it does not say what to do"
	! PATH=$dir/bin make -s O="$dir/build" all >"$dir/without" 2>&1 || echo "pages of nothing"
	grep -q '^On Debian: apt-get install scdoc' "$dir/without" || echo "nor does this"
}
check "make install has the pages, and does without them where there is no scdoc" without_scdoc

echo "1..$nr"
exit $failed
