#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What bash, zsh and fish offer behind twheel and twheel-demo, once they are installed: exactly the
# verbs and the long options that their --help names.  TAP.
# Usage: test-completion.sh BUILD, from the folder of the tools

dir=$(mktemp -d)
share=$dir/root/share
PATH=$dir/root/bin:$PATH
export LC_ALL=C share
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0

# result STATUS WHAT
result() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		sed 's/^/# /' "$dir/out"
		echo "not ok $nr - $2"
		failed=1
	fi
}

make -s O="$1" DESTDIR="$dir" PREFIX=/root install >"$dir/out" 2>&1
result $? "make install DESTDIR= PREFIX="

# What each shell is asked by: a function that prints what is offered behind a command line,
# in lines of which each begins with a word.
# shellcheck disable=SC2016,SC2317 # the inner shell's variables; called by name
ask_bash() {
	XDG_DATA_DIRS=$share bash --norc -c '
		. /usr/share/bash-completion/bash_completion
		compopt() { :; }
		read -ra COMP_WORDS <<<"$1"
		_completion_loader "${COMP_WORDS[0]}"
		[ "${1% }" = "$1" ] || COMP_WORDS+=("")
		COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_twheel "${COMP_WORDS[0]}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}

# zsh completes on a terminal alone: here on one that it has from itself.  It is ready for keys
# when its editor has begun with a line, and has completed when it begins with the next.  All
# that is offered goes through compadd.
cat >"$dir/zshrc" <<'END'
PROMPT= PROMPT_EOL_MARK=
fpath=($share/zsh/site-functions $fpath)
autoload -Uz compinit
compinit -D -u
compadd() {
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		local -a offered
		builtin compadd -A offered "$@"
		print -l "<"${^offered}">"
	fi
	builtin compadd "$@"
}
bindkey "^I" complete-word
zle-line-init() { print READY }
zle -N zle-line-init
END
# shellcheck disable=SC2016,SC2317 # the inner shell's variables; called by name
ask_zsh() {
	timeout 60 zsh -f -c '
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell ". $2"
		zpty -r shell text "*READY*"
		zpty -n -w shell "$1"$'\''\t\C-u\n'\''
		zpty -r shell text "*READY*"
		print -r -- $text' zsh "$1" "$dir/zshrc" | tr -d '\r' | grep -ao '<[^>]*>' | tr -d '<>'
}

# shellcheck disable=SC2016,SC2317 # the inner shell's variables; called by name
ask_fish() {
	HOME=$dir fish --no-config -c '
		source $share/fish/vendor_completions.d/(string split " " $argv[1])[1].fish
		complete -C $argv[1]' "$1"
}

# offers SHELL LINE WORD...: these words are what is offered, in whatever order
offers() {
	local shell=$1 line=$2

	shift 2
	printf '%s\n' "$@" | sort >"$dir/want"
	"ask_$shell" "$line" 2>"$dir/err" | sed 's/[=\t].*//' | sort -u >"$dir/offered"
	diff -u --label wanted --label offered "$dir/want" "$dir/offered" >"$dir/out" &&
		[ $# -gt 0 ] && [ ! -s "$dir/err" ]
	status=$?
	cat "$dir/err" >>"$dir/out"
	result $status "$shell: \"$line\": $# words"
}

# options COMMAND...: the long ones that its --help names
options() {
	"$@" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\2/p'
}

mapfile -t verbs < <(twheel --help | sed -nE '/^Verbs:/,/^$/s/^  ([a-z]+) .*/\1/p')
for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null ||
	   { [ $shell = bash ] && [ ! -e /usr/share/bash-completion/bash_completion ]; }; then
		nr=$((nr + 1))
		echo "ok $nr - $shell # SKIP there is no $shell, or no package bash-completion"
		continue
	fi
	offers $shell 'twheel ' "${verbs[@]}"
	mapfile -t words < <(options twheel)
	offers $shell 'twheel --' "${words[@]}"
	for verb in "${verbs[@]}"; do
		mapfile -t words < <(options twheel "$verb")
		offers $shell "twheel $verb --" "${words[@]}"
	done
	mapfile -t words < <(options twheel-demo)
	offers $shell 'twheel-demo --' "${words[@]}"
	# Of two in a row, and of one option alone.
	offers $shell 'twheel arm --json --ev' --every
done
echo "1..$nr"
exit $failed
