#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What twheel plot draws, what it says of a file that is none, and that the pictures of the docs are
# those that come out.  TAP.
# Usage: test-plot.sh TWHEEL, from the folder of the tools

twheel=$1
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; rm -rf "$dir"; exit $rc' EXIT
. "$(dirname "$0")/tap.sh"

# plot OPTION...: of what is in $dir/in
plot()
{
	"$twheel" plot "$@" <"$dir/in" >"$dir/out" 2>"$dir/err"
	status=$?
}

# sim SCRIPT OPTION...: and the picture of it; the script's lines end with ;
sim()
{
	script=$1
	shift
	printf '%s\n' "$script" | tr ';' '\n' >"$dir/script"
	"$twheel" sim --trace --json "$@" "$dir/script" >"$dir/in"
	plot
}

# is WHAT [NUMBER PATTERN]...: there are so many of these
is()
{
	what=$1
	shift
	: >"$dir/wrong"
	while [ $# -gt 0 ]; do
		number=$(grep -oE -e "$2" "$dir/out" | wc -l)
		[ "$number" -eq "$1" ] || echo "$number of $2, and not $1" >>"$dir/wrong"
		shift 2
	done
	[ $status -eq 0 ] && [ ! -s "$dir/err" ] && [ ! -s "$dir/wrong" ]
	rc=$?
	cat "$dir/wrong" >>"$dir/err"
	result $rc "$what"
}

# refused STATUS TEXT [OPTION...]: in one line
refused()
{
	want=$1
	text=$2
	shift 2
	plot "$@"
	[ $status -eq "$want" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ] &&
		grep -qF -e "$text" "$dir/err"
	result $? "refused with $want: $text"
}

# well_formed: by a parser, and it has what it is to have, and needs no other file
well_formed()
{
	if ! command -v python3 >/dev/null; then
		skip "an SVG by itself: $1" "there is no python3"
		return
	fi
	python3 -c '
import sys
import xml.etree.ElementTree

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
name = "{http://www.w3.org/2000/svg}"
if root.tag != name + "svg" or root.get("role") != "img":
    sys.exit("no picture")
for part in ("title", "desc"):
    found = root.find(name + part)
    if found is None or not found.text or found.get("id") not in root.get("aria-labelledby"):
        sys.exit("no " + part)
if "@media (prefers-color-scheme:dark)" not in root.find(name + "style").text:
    sys.exit("no colours for dark pages")
for element in root.iter():
    for attribute, value in element.attrib.items():
        if "href" in attribute or "url" in value:
            sys.exit("it refers to something")
        if value in ("nan", "inf", "-nan", "-inf") or " -nan" in value or " nan" in value:
            sys.exit("a number that is none")
' "$dir/out" >"$dir/err" 2>&1
	result $? "an SVG by itself, for those who can see it and those who can't: $1"
}

lane='<rect class="b[0-4q]" x'

sim 'arm 1 350ms;arm 2 450ms;run' --as hierarchical
is "two timers come down in Kafka's wheels" \
	1 '<title id="title">2 timers in 450ms</title>' \
	1 'came down: 3, pushed back: 0, cancelled: 0, found due: 2, by 0 too late at the most; wake-ups: 5, for nothing: 0</desc>' \
	5 "$lane" 1 '>level 1, slot 17<' 1 '>level 2, slot 1<' 1 '>timer 2<' \
	2 '<circle class="l0" cx="[0-9.]*" cy="(75|97)"' \
	4 'l3\.5 4l3\.5-4' 1 '>comes down a level<' 0 '>is cancelled<'
well_formed lanes
cp "$dir/out" "$dir/first"
plot -o "$dir/file"
[ $status -eq 0 ] && [ ! -s "$dir/out" ] && cmp "$dir/first" "$dir/file" 2>"$dir/err"
result $? "the same picture again, into a file"

sim 'arm 1 50ms every 50ms times 2;arm 2 1s;run 60ms;extend 2 1s;run 40ms;cancel 2;arm 3 1s;run 1ms'
is "periods, a push, a cancel, and one that is armed still" \
	5 "$lane" 2 'l4 4l-4 4' 2 'l8 8m0-8l-8 8' 2 '<circle class="l0" cx="[0-9.]*" cy="75"'
sim 'arm 1 350ms;arm 2 450ms;arm 3 50us;arm 4 9s;run' --as linux
is "late ones have the colour of how late they were" \
	3 '<circle class="l2" cx="[0-9.]*" cy="(75|97|119)"' \
	1 '<circle class="l4" cx="[0-9.]*" cy="141"' 0 '<circle class="l3"' 4 'stroke-dasharray'
sim 'arm 1 13d;run' --as linux
is "and early ones another" 1 '<circle class="le"'
sim 'arm 1 5ms;run' --as hashed --slots 4 --tick 1ms
is "a queue" 1 '<rect class="bq" x' 1 '<rect class="b0" x' 1 '>in the queue<' \
	2 'wake-ups: 6, for nothing: 4' 1 '<circle class="l1"' 1 '<path class="w0"' 1 '<path class="w1"'
sim 'arm 1 10ms;extend 1 12ms;extend 1 14ms;run 2ms;extend 1 14ms;run' --as hashed --slots 4 --tick 1ms
is "a push in a queue, and from a slot into it" 2 'came down: 0, pushed back: 3, cancelled: 0, found due: 1,'
sim 'arm 1 5ms;run' --as heap
is "one order" 1 '<rect class="bo" x' 1 '>in order<'

# lives N: so many timers, one after the other
lives()
{
	awk -v nr="$1" 'BEGIN { for (i = 0; i < nr; i++) print "arm", i, i + 1 "ms"; print "run" }' \
		>"$dir/script"
	"$twheel" sim --trace --json "$dir/script" >"$dir/in"
	plot
}
lives 40
is "forty have a lane each" 40 '>timer [0-9]+<' 0 'how many wait'
lives 41
is "more have none" 0 '>timer [0-9]+<' 1 'how many wait' 1 '<title id="title">41 timers'
"$twheel" sim --load 50000 --as linux --trace --json >"$dir/in"
plot
is "very many: rows" 1 '>a row: 139 timers<' 1 '>the first timer<' 1 '>later<' 1 'd e">the axis begins at 1.2ms<'
well_formed rows
[ "$(wc -c <"$dir/out")" -lt 2000000 ]
result $? "is not large: $(wc -c <"$dir/out") bytes"

"$twheel" sim --load 1000 --compare --json >"$dir/in"
plot
is "a table of systems" 1 '<title id="title">The same 1,000 timers in 10 systems' \
	7 'class="s0"' 63 'height="6" class="bo"' 1 '>WAKE-UPS<' 1 '>hierarchical<' 2 'bars are logarithmic'
well_formed table
"$twheel" sim --load 300 --compare --json >>"$dir/in"
"$twheel" sim --load 300 --compare --json --slots 128 >>"$dir/in"
plot
is "curves" 1 'against n and m</title>' 3 '<path class="l s0" stroke-width="3"' 2 'n, timers' \
	1 'm, slots of a level'
well_formed curves
sed 's/"system":"heap"/"system":"<a>\&amp;\\u0001"/' "$dir/in" | head -n 10 >"$dir/some"
mv "$dir/some" "$dir/in"
plot
is "a system's name is no SVG" 1 '>&lt;a&gt;&amp;amp;\?</text>' 0 '<a>'
well_formed names
# Each byte that a name may have, as it is and as JSON writes it.
names()
{
	python3 -c '
import sys
line = b"{\"what\":\"counters\",\"system\":\"%s\",\"slots\":64,\"inserts\":%d,\"periods\":0,\"moves\":9,\"passed\":9," \
    b"\"wakeups\":9,\"empty\":0,\"late_mean_ns\":0,\"memory_max\":9}\n"
names = [bytes([byte]) for byte in range(32, 256) if chr(byte) not in "\"\\\\"]
names += [b"\\u%04x" % code for code in (*range(1, 32), 34, 92, 0x7f, 0x85, 0xe9, 0xd800, 0xfffe, 0xffff)]
names += [b"\xc3\xa9", b"]]>", b"--><!--", b"</text></svg>", b"&#1;", b"cut off in a \xc3\xa9"]
for inserts in range(1, 3):
    for name in names:
        sys.stdout.buffer.write(line % (name, inserts))
' >"$dir/in"
}

if command -v python3 >/dev/null; then
	names
	plot
	is "systems with names of all signs" 0 '</svg>.' 1 '^</svg>' 2 '>\?\?<' 1 '>\]\]&gt;<'
	well_formed "all signs"
else
	skip "names of all signs" "there is no python3"
fi
sim "$(seq -f 'arm %g 1s' 50 | tr '\n' ';')"
is "many that are armed, and no time passes" 0 'nan' 1 '<svg '

{
	echo '{"what":"unheard of"}'
	echo '{"what":"placed","time_ns":7,"id":1,"deadline_ns":9,"where":{"place":"slot","level":99,"slot":1}}'
	echo '{"what":"where","time_ns":7,"id":2,"deadline_ns":9,"where":{"place":"due"}}'
	echo '{"what":"moved","time_ns":9,"id":1,"where":{"place":"nowhere"}}'
} >"$dir/in"
plot
is "what it does not know it passes over" \
	1 '<title id="title">2 timers in 2ns' 1 'level 99, slot 1' 1 '<path class="br"'

sim 'arm 1 10s;at 5s;cancel 2;stop'
is "what is armed still goes on to the last line" 1 '<title id="title">1 timer in 5s<'

echo '{"what":"stale","time_ns":5400010000,"id":1,"generation":4,"deadline_ns":5000000000}' >"$dir/in"
plot
is "of an event that does not count, when that was" 1 '<title id="title">1 timer in 1ns<' \
	1 '>the axis begins at 5\.4s<' 2 'h7v7h-7z' 1 '>its event does not count'
well_formed stale
{
	echo '{"what":"expired","time_ns":10,"id":1,"deadline_ns":9,"late_ns":1}'
	echo '{"what":"stale","time_ns":20,"id":1,"generation":4,"deadline_ns":9}'
	echo '{"what":"woken","time_ns":30}'
} >"$dir/in"
plot
is "it waits until then" 1 '<title id="title">1 timer in 10ns<' \
	1 '<path class="br" stroke-width="3" d="M112\.0 75H812\.0"'

# In a slow guest.
{
	echo '{"what":"placed","time_ns":1,"id":1,"deadline_ns":9,"where":{"place":"slot","level":1,"slot":1}}'
	echo '{"what":"woken","time_ns":10}'
	echo '{"what":"moved","time_ns":5000010,"id":1,"where":{"place":"slot","level":0,"slot":1}}'
	echo '{"what":"woken","time_ns":5000020}'
	echo '{"what":"woken","time_ns":5000030}'
	echo '{"what":"expired","time_ns":3005000030,"id":1,"deadline_ns":9,"late_ns":3005000021}'
	echo '{"what":"woken","time_ns":3005000040}'
	echo '{"what":"delivered","time_ns":3005000050,"id":1}'
} >"$dir/in"
plot
is "a wake-up is for nothing if nothing was found until the next one, or the end" \
	2 'wake-ups: 4, for nothing: 2'

# What it takes goes by the timers and the lines, not by the numbers in them.
{
	echo '{"what":"placed","time_ns":1,"id":4294967295,"deadline_ns":9,"where":{"place":"slot","level":4294967296,"slot":1}}'
	echo '{"what":"woken","time_ns":9}'
} >"$dir/in"
prlimit --as=134217728 "$twheel" plot <"$dir/in" >"$dir/out" 2>"$dir/err"
status=$?
is "the largest id takes no more memory than another one" 1 '>timer 4294967295<' \
	1 'level 4294967295, slot 1'
printf 'arm 1 1500us every 1ms times 3\nrun\nat 3800us\n' >"$dir/script"
"$twheel" sim "$dir/script" --compare --json >"$dir/in"
plot
is "periods are no timers, and a system that is left out is not drawn" \
	1 '<title id="title">The same 1 timer in 3 systems'
# systems LINES NAMES: so many lines of counters, of so many systems
systems()
{
	awk -v lines="$1" -v names="$2" 'BEGIN { for (i = 0; i < lines; i++)
		printf "{\"what\":\"counters\",\"system\":\"s%d\",\"slots\":%d,\"inserts\":%d,\"periods\":0,\"moves\":%d," \
			"\"passed\":9,\"wakeups\":9,\"empty\":0,\"late_mean_ns\":0,\"memory_max\":9}\n",
			i % names, 2 + i % 7, 1 + i, i % 1000 }' >"$dir/in"
}

for names in 1 200 20000; do
	systems 20000 $names
	timeout 20 "$twheel" plot <"$dir/in" >"$dir/out" 2>"$dir/err"
	status=$?
	is "20,000 lines of $names systems do not take long" 1 '^</svg>'
done
for inserts in 9223372036854774784 9223372036854775807 0; do
	echo '{"what":"counters","system":"x","slots":64,"inserts":'$inserts',"periods":0,"moves":1,"passed":9,"wakeups":0,"empty":0,"late_mean_ns":0,"memory_max":9223372036854775807}'
done >"$dir/in"
plot
is "numbers as large as can be" 0 'nan|inf"|inf ' 1 '<path class="l s0"'
well_formed "large numbers"

printf '\n' >"$dir/in"
refused 1 'standard input:1: this is no line of JSON: give what twheel trace --json'
printf '[]\n' >"$dir/in"
refused 1 'standard input:1: this is no line of JSON'
for rest in x '{}' ' ,' '\0000' '}'; do
	printf '{"what":"placed","time_ns":1,"id":1,"where":{"place":"order"}}\t%b\n' "$rest" >"$dir/in"
	refused 1 'standard input:1: this is no line of JSON'
done
printf '{"what":"placed","time_ns":1,"id":1,"where":{"place":"order"}} \t\r\n' >"$dir/in"
plot
is "blanks may follow" 1 '<title id="title">1 timer'
printf 'arm 1 5ms\n' >"$dir/in"
refused 1 'standard input:1: this is no line of JSON'
{
	echo '{"what":"woken","time_ns":9}'
	echo '{"what":"unheard of","time_ns":3}'
	echo '{"what":"woken","time_ns":8}'
} >"$dir/in"
refused 1 'standard input:3: time goes back: draw each trace by itself'
printf 'arm 1 5ms\nrun\n' | "$twheel" sim --trace --json >"$dir/trace"
printf 'arm 1 5ms\nrun\n' | "$twheel" sim --compare --json >"$dir/counters"
lines=$(wc -l <"$dir/trace")
cat "$dir/trace" "$dir/counters" >"$dir/in"
refused 1 "standard input:$((lines + 1)): a trace and the counters of another run are in one file"
cat "$dir/counters" "$dir/trace" >"$dir/in"
refused 1 "standard input:$(($(wc -l <"$dir/counters") + 1)): a trace and the counters of another run"
printf '{"what":"moved","time_ns":1}\n' >"$dir/in"
refused 1 'standard input:1: it has no id'
printf '{"what":"woken","time_ns":"x"}\n' >"$dir/in"
refused 1 'standard input:1: it has no time_ns'
printf '{"what":"expired","time_ns":1,"id":4294967296,"deadline_ns":1}\n' >"$dir/in"
refused 1 'standard input:1: no timer has such an id'
printf '{"what":"placed","time_ns":1,"id":-1,"deadline_ns":1,"where":{"place":"order"}}\n' >"$dir/in"
refused 1 'standard input:1: a number below 0'
printf '{"what":"counters","system":"x"}\n' >"$dir/in"
refused 1 'standard input:1: it has no slots'
printf '{"what":"woken","time_ns":1}\n' >"$dir/in"
refused 1 'standard input: it tells of no timer: give what'
: >"$dir/in"
refused 1 'standard input: it tells of no timer'
refused 1 "$dir/none: No such file or directory: give a trace" "$dir/none"
refused 1 "$dir: it can't be read" "$dir"
refused 2 'there is a file already' "$dir/in" "$dir/in"
cp "$dir/first" "$dir/out"
sim 'arm 1 5ms;run'
refused 1 "$dir/none/file: No such file" -o "$dir/none/file"
refused 1 'not all could be written to /dev/full' -o /dev/full
echo '{"what":"placed","time_ns":1,"id":1,"deadline_ns":1,"where":{"place":"order"}}' >"$dir/one"
"$twheel" plot "$dir/one" -o "$dir/svg" >&- 2>"$dir/err"
status=$?
[ $status -eq 0 ] && grep -q '^</svg>' "$dir/svg"
result $? "-o where there is no standard output"
cp "$dir/in" "$dir/kept"
refused 1 'that is what is drawn: give another file' -o "$dir/in"
refused 1 'that is what is drawn: give another file' "$dir/in" -o "$dir/in"
cmp "$dir/in" "$dir/kept" >"$dir/err"
result $? "and it is as it was"
refused 1 "$dir/none/?[2J???x: No such file" -o "$dir/none/$(printf '\033[2J\n\302\233')x"

# The docs.  $dir/bin has the twheel of this tree alone.
mkdir "$dir/bin"
cp "$twheel" "$dir/bin/twheel"
PATH=$dir/bin:$PATH
for name in life many nine course/costs; do
	../docs/pictures $name >"$dir/out" 2>"$dir/err"
	cmp "$dir/out" ../docs/$name.svg >>"$dir/err" 2>&1
	result $? "docs/$name.svg is what docs/pictures $name prints"
done
for system in twheel linux; do
	twheel sim --load 1000000 --as $system --json >"$dir/out" 2>"$dir/err"
	grep -qxF -f "$dir/out" ../docs/nine.json
	result $? "docs/nine.json has what $system does"
done
../docs/pictures frame >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && grep -q 'frame: there is none: say life' "$dir/err"
result $? "docs/pictures knows no other"

echo "1..$nr"
exit "$failed"
