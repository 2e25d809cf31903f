# SPDX-License-Identifier: GPL-2.0
#
# What can be typed behind twheel, twheel-demo and twheel-sim: what their --help names.

function __twheel_verbs
    twheel --help | string replace -rf '^  ([a-z]+) [A-Z. ]* *(.*)' '$1\t$2'
end

# Of a command line so far: each option with what it is, --clock and --as with each value.
function __twheel_options
    set -l command (commandline -opc)
    set -l option '^ +(?:-., )?(--[a-z-]+=?)(?:[A-Z]\S*)? *(.*)'
    if test (count $command) -gt 1 -a $command[1] = twheel
        $command[1..2] --help
    else
        $command[1] --help
    end | string replace -rf $option '$1\t$2' |
        string replace -r '^(--clock=).*' '$1monotonic\n$1boottime\n$1realtime' |
        string replace -r '^(--as=).*' (string join '\n' '$1'{twheel,simple,hashed} \
            '$1'{hierarchical,clock,keys,heap,list,poll,linux})
end

function __twheel_wants_option
    string match -q -- '-*' (commandline -ct)
end

complete -c twheel -f
complete -c twheel -n __fish_use_subcommand -a '(__twheel_verbs)'
complete -c twheel -n __twheel_wants_option -a '(__twheel_options)'
complete -c twheel-demo -n __twheel_wants_option -a '(__twheel_options)'
complete -c twheel-sim -n __twheel_wants_option -a '(__twheel_options)'
