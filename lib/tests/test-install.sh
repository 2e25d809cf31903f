#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What is installed: links, symbols, programs in C and C++ that use it.  TAP.
# Usage: test-install.sh BUILD, from the library's folder

build=$1
nr=0
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# result STATUS WHAT
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		[ ! -s "$dir/log" ] || sed 's/^/# /' "$dir/log"
		echo "not ok $nr - $2"
		failed=1
	fi
	: > "$dir/log"
}

skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP there is no $2"
}

# install_to DESTDIR TARGET PREFIX
install_to()
{
	make -s O="$build" DESTDIR="$1" PREFIX="$3" LIBDIR="$3/lib/here" "$2" > "$dir/log" 2>&1
}

install_to "$dir/stage" install /opt/twheel
result $? "make install DESTDIR= PREFIX= LIBDIR="
install_to "$dir/stage" install /opt/twheel && grep -q ldconfig "$dir/log"
result $? "and it says what the loader needs there"
install_to "" install "$dir/own" && grep -q LD_LIBRARY_PATH "$dir/log"
result $? "so it does where the loader does not look"

root=$dir/stage/opt/twheel
lib=$root/lib/here
so=$(readlink -f "$lib/libtwheel.so")
[ -f "$so" ] && [ "$(readlink -f "$lib/libtwheel.so.0")" = "$so" ] &&
	objdump -p "$so" | grep -q 'SONAME  *libtwheel\.so\.0$'
result $? "soname libtwheel.so.0, and its links"

# Each name once: in the map, in the library, in the header.
sed -n 's/^\t\(twheel_[a-z_]*\);$/\1/p' libtwheel.map | sort > "$dir/map"
nm -D --defined-only "$so" | sed -n 's/.* T \(.*\)@@TWHEEL_0\.9$/\1/p' | sort > "$dir/so"
grep '^[a-zA-Z].*(' twheel.h | grep -v '^static' |
	sed 's/^[^(]*\(twheel_[a-z_]*\)(.*/\1/' | sort > "$dir/header"
[ "$(wc -l < "$dir/map")" -gt 20 ] && diff "$dir/map" "$dir/so" > "$dir/log" &&
	[ "$(nm -D --defined-only "$so" | grep -c ' T ')" -eq "$(wc -l < "$dir/map")" ]
result $? "the library exports what the map says, with a version"
diff "$dir/map" "$dir/header" > "$dir/log"
result $? "the map has every function of the header"
# But for what a compiler for 32 bits adds by itself.
nm -g --defined-only "$lib/libtwheel.a" | sed -n 's/.* [A-Z] //p' |
	grep -v -e '^twheel_' -e '^__x86\.' > "$dir/log"
[ ! -s "$dir/log" ]
result $? "the static library takes no other names"

release=$(cat ../VERSION)
grep -qx "#define TWHEEL_VERSION	\"$release\"" twheel.h &&
	[ "$(basename "$so")" = "libtwheel.so.$release" ] &&
	[ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' ../CHANGELOG.md | head -n 1)" = "$release" ]
result $? "header, library and CHANGELOG.md are of the release $release"

cat > "$dir/program.c" << 'END'
#include <string.h>
#include <twheel.h>

int main(void)
{
	struct twheel_options options = { sizeof(options), 0, "/dev/null", 0, 0, 0, 0, 0 };
	struct twheel_event event;
	struct twheel *w;
	int ret = strcmp(twheel_version(), TWHEEL_VERSION) ? 1 : twheel_open(&w, &options);

	/* Not a wheel, which only a kernel can tell. */
	if (ret == 0)
		return twheel_arm(w, 1, 1) + twheel_extend(w, 1, 1) + twheel_cancel(w, 1) +
		       twheel_cancel_tell(w, 1) + twheel_next(w, &event) + 1;
	options.path = "/nowhere/twheel";
	return ret != -25 || twheel_open(&w, &options) != -19;
}
END
cp "$dir/program.c" "$dir/program.cc"

if pkg-config --version > /dev/null 2>&1; then
	export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dir/stage"
	flags=$(pkg-config --cflags --libs libtwheel)
	static=$(pkg-config --static --cflags --libs libtwheel)
	[ "$(pkg-config --modversion libtwheel)" = "$(cat ../VERSION)" ] && [ -n "$flags" ]
	result $? "pkg-config knows it"
else
	flags="-I$root/include -L$lib -ltwheel"
	static="$flags -pthread"
	skip "pkg-config knows it" pkg-config
fi
strict="-Wall -Wextra -Wshadow -pedantic -Werror"

# shellcheck disable=SC2086
${CC:-cc} -std=c11 $strict "$dir/program.c" $flags -o "$dir/program" > "$dir/log" 2>&1 &&
	LD_LIBRARY_PATH=$lib "$dir/program" >> "$dir/log" 2>&1
result $? "a C11 program, shared"
# shellcheck disable=SC2086
${CC:-cc} -std=gnu99 $strict -static "$dir/program.c" $static -o "$dir/program" > "$dir/log" 2>&1 &&
	"$dir/program" >> "$dir/log" 2>&1
result $? "a C99 program, static"
# As from a language that can't read the header.
cat > "$dir/twins.c" << 'END'
int twheel_arm(void *, unsigned, unsigned long long);
int twheel_extend(void *, unsigned, unsigned long long);
int twheel_extend_armed(void *, unsigned, unsigned long long);
int twheel_cancel(void *, unsigned);
int twheel_cancel_tell(void *, unsigned);
int twheel_next(void *, void *);
void *twheel_words(void *, unsigned *);

int main(void)
{
	struct { unsigned long long word[4]; } words = { { 0, ~0ULL, 0, 1 } };
	struct { void *words; unsigned mapped, capacity; } w = { &words, 2, 2 };
	unsigned nr = 0;

	if (twheel_words(&w, &nr) != &words || nr != 2)
		return 1;
	words.word[3] = 5;
	return twheel_arm(&w, 1, 9) || words.word[2] != 9 || twheel_extend(&w, 1, 12) ||
	       words.word[2] != 12 || twheel_extend_armed(&w, 1, 13) ||
	       words.word[2] != 13 || twheel_cancel_tell(&w, 1) != 1 || words.word[2] ||
	       twheel_arm(&w, 1, 7) || twheel_cancel(&w, 1) || words.word[2];
}
END
# shellcheck disable=SC2086
${CC:-cc} "$dir/twins.c" $flags -o "$dir/twins" > "$dir/log" 2>&1 &&
	LD_LIBRARY_PATH=$lib "$dir/twins" >> "$dir/log" 2>&1
result $? "the inline functions, from the library"
if ${CXX:-c++} --version > /dev/null 2>&1; then
	# shellcheck disable=SC2086
	${CXX:-c++} -std=c++11 $strict "$dir/program.cc" $flags -o "$dir/program" > "$dir/log" 2>&1 &&
		LD_LIBRARY_PATH=$lib "$dir/program" >> "$dir/log" 2>&1
	result $? "a C++11 program"
else
	skip "a C++11 program" "C++ compiler"
fi

install_to "$dir/stage" uninstall /opt/twheel
[ -z "$(find "$dir/stage" ! -type d)" ]
result $? "make uninstall leaves nothing"
echo "1..$nr"
exit $failed
