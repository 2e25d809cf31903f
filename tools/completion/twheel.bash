# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What can be typed behind twheel, twheel-demo and twheel-sim: what their --help names.

_twheel()
{
	local cur prev words cword split verb=''

	_init_completion -s || return
	case $prev in
	--clock)
		mapfile -t COMPREPLY < <(compgen -W 'monotonic boottime realtime' -- "$cur")
		return
		;;
	--as)
		mapfile -t COMPREPLY < <(compgen -W 'twheel simple hashed hierarchical clock keys
			heap list poll linux' -- "$cur")
		return
		;;
	-p | --pid)
		_pids
		return
		;;
	-o | --output | --record | --replay)
		_filedir
		return
		;;
	esac
	$split && return
	if [[ ${1##*/} == twheel && $cword -gt 1 ]]; then
		verb=${words[1]}
	fi
	if [[ $cur == -* ]]; then
		# shellcheck disable=SC2086 # without a verb it is no word
		mapfile -t COMPREPLY < <(compgen -W "$("$1" $verb --help | grep '^ ' |
			_parse_help -)" -- "$cur")
		[[ ${COMPREPLY-} != *= ]] || compopt -o nospace
	elif [[ ${1##*/} == twheel && $cword -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help |
			sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$cur")
	elif [[ $verb =~ ^(sim|plot|top)$ || ${1##*/} == twheel-sim ]]; then
		_filedir
	fi
} && complete -F _twheel twheel twheel-demo twheel-sim
