#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# twheel doctor, with each cause of trouble made in turn.  TAP; for a guest that has nothing to
# lose and a shell of root's: it loads and unloads the module, writes /lib/modules, /etc and
# /dev, and in the end locks the kernel down.
# Usage: test-doctor.sh MODULE LIBRARY FAKE-TWHEEL

ko=$1
library=$2
fake=$3
nr=0
failed=0
dir=$(mktemp -d)
chmod 755 "$dir"
holder=
release=$(uname -r)
modules=/lib/modules/$release
installed=$modules/updates/dkms/twheel.ko
soname=libtwheel.so.0
version=$(cat /sys/module/twheel/version)
# shellcheck disable=SC2154 # set when it runs
trap 'rc=$?; let_go; rm -rf "$dir"; exit $rc' EXIT

# result STATUS WHAT
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		sed 's/^/#   /' "$dir/out"
		failed=1
	fi
}

# skip WHAT WHY
skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# look [COMMAND...]: what the doctor says, run by that command
look()
{
	"$@" twheel doctor >"$dir/out" 2>&1
	status=$?
}

# The same for another user; for a shell whose mounts are its own, set up by SCRIPT.
as_nobody()
{
	su -s /bin/sh nobody -c "twheel doctor" >"$dir/out" 2>&1
	status=$?
}

apart()
{
	unshare -m sh -ec "$1
		exec twheel doctor" >"$dir/out" 2>&1
	status=$?
}

# finds WHAT VERDICT TEXT [TYPE]: a line of the last look, and the one below it; patterns
finds()
{
	# Not by -v, which takes backslashes for itself.
	WHAT=$1 VERDICT=$2 TEXT=$3 TYPE=${4:-} awk '
		found { ok = /^ {23}[^ ]/ && substr($0, 24) ~ ENVIRON["TYPE"]; exit }
		$1 == ENVIRON["WHAT"] && $2 == ENVIRON["VERDICT"] &&
				substr($0, 24) ~ ENVIRON["TEXT"] {
			if (ENVIRON["TYPE"] != "") {
				found = 1
				next
			}
			ok = 1
			exit
		}
		END { exit !ok }' "$dir/out" &&
		if [ "$2" = problem ]; then [ "$status" -eq 1 ]; else [ "$status" -lt 2 ]; fi
	result $? "$1, $2: $3${4:+; type $4}"
}

# silent WHAT: nothing is said of it
silent()
{
	! grep -q "^  $1 " "$dir/out"
	result $? "nothing is said of $1"
}

# What is to be typed about WHAT, typed.
obey()
{
	sh -c "$(awk -v what="$1" 'found { print; exit } $1 == what { found = 1 }' "$dir/out")" \
		>/dev/null 2>"$dir/err"
}

# hold: another process with a wheel
hold()
{
	: >"$dir/held"
	twheel arm 1h >"$dir/held" &
	holder=$!
	until grep -q armed "$dir/held"; do usleep 10000; done
}

let_go()
{
	[ -z "$holder" ] || kill "$holder" 2>/dev/null
	wait
	holder=
}

# install_module [SED-SCRIPT]: as dkms would, maybe a little different
install_module()
{
	mkdir -p "${installed%/*}"
	sed "${1:-}" "$ko" >"$installed"
	echo "updates/dkms/twheel.ko:" >"$modules/modules.dep"
}

export LD_LIBRARY_PATH="$dir/lib"
mkdir "$dir/lib"
cp "$library" "$dir/lib/$soname"
install_module

# --- all is well ---

chmod 600 /dev/twheel
look
[ "$status" -eq 0 ] && [ "$(grep -c '^  [a-z]* *ok  ' "$dir/out")" -eq "$(wc -l <"$dir/out")" ]
result $? "all is well, exit status 0"
finds kernel ok "$release"
silent headers
finds module ok "^$version, $installed$"
finds loaded ok "^$version$"
finds device ok 'device 10:[0-9]+$'
finds permission ok '^mode 0600, root:root$'
finds open ok '^ABI [0-9]+$'
finds features ok 'words'
finds limits ok 'room for .* 0 of 256 wheels'
finds timer ok 'one of 20ms came [0-9.]+[mun]s late'
finds library ok "^$version, .*/$soname$"
silent fallback
twheel doctor --json >"$dir/out"
grep -Eq '^\{"good":true,"checks":\[\{"what":"kernel","verdict":"ok","text":"[^"]*"\},.*\]\}$' \
	"$dir/out"
result $? "--json is one object"

# --- what the kernel, or a fake of it, makes of a timer ---

for how in early:problem:EARLY lose:problem:'has not come' late:problem:'has not come'; do
	FAKE=${how%%:*} "$fake" doctor >"$dir/out" 2>&1
	status=$?
	rest=${how#*:}
	finds timer "${rest%%:*}" "${rest#*:}.*please report"
done
FAKE=wordless "$fake" doctor >"$dir/out" 2>&1
status=$?
finds features ok 'no words here'
FAKE=foreign "$fake" doctor >"$dir/out" 2>&1
status=$?
finds open problem "the module, $version, has ABI 1, and this program, $version, wants 0" \
	'^modprobe -r twheel && modprobe twheel$'
silent timer
FAKE=coarse "$fake" doctor >"$dir/out" 2>&1
status=$?
finds kernel problem 'timers of 4ms, .*CONFIG_HIGH_RES_TIMERS'

# --- who may open it ---

as_nobody
finds permission problem 'mode 0600, root:root: be root' \
	'^sudo groupadd -r twheel && sudo usermod -aG twheel nobody && sudo chgrp'
silent open
finds fallback ok 'TWHEEL_OPEN_FALLBACK .*others fail: Permission denied'
cp /etc/group "$dir/group"
echo 'twheel:x:900:' >>/etc/group
as_nobody
finds permission problem 'there is a group twheel: udev' '^sudo udevadm control --reload && sudo udevadm trigger'
chgrp twheel /dev/twheel
chmod 660 /dev/twheel
as_nobody
finds permission problem 'mode 0660, root:twheel, and nobody is not in that group' \
	'^sudo usermod -aG twheel nobody$'
mkfifo "$dir/go"
su -s /bin/sh nobody -c "read -r _ <$dir/go; exec twheel doctor" >"$dir/out" 2>&1 &
session=$!
exec 7>"$dir/go"
sed -i 's/^twheel:.*/&nobody/' /etc/group
echo >&7
exec 7>&-
wait $session
status=$?
finds permission problem 'nobody is in group twheel, but this session is older' '^newgrp twheel$'
as_nobody
finds permission ok '^mode 0660, root:twheel$'
finds timer ok 'one of 20ms'
cp "$dir/group" /etc/group
chown root:root /dev/twheel
chmod 600 /dev/twheel

# --- an old module that is still loaded ---

install_module 's/srcversion=./srcversion=Z/'
look
finds loaded problem "^$version is loaded, and another build of $version is installed: .*nothing holds" \
	'^modprobe -r twheel && modprobe twheel$'
as_nobody
finds loaded problem 'nothing holds a wheel' '^sudo modprobe -r twheel && sudo modprobe twheel$'
install_module "s/\\(version=\\)$version/\\19.9.9/"
hold
look
finds loaded problem "^$version is loaded, and 9.9.9 is installed: .*owner has to end first: twheel \\($holder\\)\$" \
	'^modprobe -r twheel && modprobe twheel$'
as_nobody
finds loaded problem 'root can see$' '^sudo twheel doctor$'
mkdir -p /sys/fs/cgroup/system.slice/held.service
echo "$holder" >/sys/fs/cgroup/system.slice/held.service/cgroup.procs
look
reload='systemctl stop held.service && modprobe -r twheel && modprobe twheel; systemctl start held.service'
finds loaded problem "9.9.9 is installed: .*services that hold some: held.service\$" "^$reload\$"
look unshare --pid --fork --mount-proc
finds loaded problem 'holds a wheel that no process has as a file' '^reboot$'
let_go
# shellcheck disable=SC2016 # of the other shell
unshare --pid --fork --mount-proc sh -c 'exec 5<>/dev/twheel; twheel doctor 5>&-; exit $?' \
	>"$dir/out" 2>&1
status=$?
finds loaded problem 'held; sh \(1\) keeps some for a service .*until systemctl stop SERVICE$' '^reboot$'
# shellcheck disable=SC2016 # of the other shell
unshare --pid --fork --mount-proc sh -c 'exec 5<>/dev/twheel; sleep 1000 &
	echo $! >/sys/fs/cgroup/system.slice/held.service/cgroup.procs
	twheel doctor 5>&-; exit $?' >"$dir/out" 2>&1
status=$?
finds loaded problem 'hold some: held.service; sh \(1\) keeps some' "^$reload\$"
mkfifo "$dir/ready" "$dir/end"
sh -c "echo systemd >/proc/\$\$/comm; exec 5<>/dev/twheel; : >$dir/ready; read -r _ <$dir/end" &
holder=$!
cat "$dir/ready"
look
finds loaded problem "held; systemd \\($holder\\) keeps some" '^reboot$'
let_go

# crowd COMMAND...: nine processes hold a wheel, and do that with each one's PID; what is said then
crowd()
{
	crowd=
	exec 5<>/dev/twheel
	for _ in 1 2 3 4 5 6 7 8 9; do
		sleep 1000 &
		crowd="$crowd $!"
		"$@" $!
	done
	exec 5>&-
	look
	# shellcheck disable=SC2086 # several
	kill $crowd
	wait
}

# serve FORMAT PID: it is of a service, of which FORMAT makes the name
# shellcheck disable=SC2317 # called by crowd
serve()
{
	# shellcheck disable=SC2059 # it is one
	service=/sys/fs/cgroup/system.slice/$(printf "$1" "$2").service
	mkdir -p "$service"
	echo "$2" >"$service/cgroup.procs"
}

crowd true
finds loaded problem 'now 9 processes hold some, which are listed by$' '^twheel stat$'
crowd serve long-%0150d
finds loaded problem 'now 9 processes hold some' '^twheel stat$'
crowd serve same%.0s
finds loaded problem 'hold some: same.service$' \
	'^systemctl stop same.service && .*; systemctl start same.service$'
rmdir /sys/fs/cgroup/system.slice/*.service
rm "$installed" "$modules/modules.dep"
look
silent module
finds loaded ok 'modprobe knows none for .*, so a reboot'
install_module

# --- no node, or another one ---

rm /dev/twheel
look
finds device problem 'no /dev/twheel here, though the module is loaded: somebody' \
	'^rm -rf /dev/twheel && mknod -m 600 /dev/twheel c 10 [0-9]+$'
silent permission
finds fallback ok 'meanwhile programs with libtwheel have a wheel .* came [0-9.]+[mun]s late'
LD_LIBRARY_PATH='' look
finds fallback unknown 'not here to be tried'
look
obey device
look
finds timer ok 'one of 20ms'
rm /dev/twheel
mkdir /dev/twheel
look
finds device problem 'no device, but something else' '^rm -rf /dev/twheel && mknod'
rmdir /dev/twheel
mknod /dev/twheel c 10 99
look
finds device problem 'is device 10:99, and twheel is 10:[0-9]+ since it was loaded again'
obey device
dev='mount -t tmpfs none /dev; mknod /dev/null c 1 3'
apart "$dev"
finds device problem 'a container, or a service with PrivateDevices=' \
	"^systemd-run -p PrivateDevices=no -p 'DeviceAllow=/dev/twheel rw'"
apart "$dev; mount -t tmpfs none /run; mkdir /run/systemd; echo systemd-nspawn >/run/systemd/container"
finds device problem 'a container' '^systemd-nspawn --bind=/dev/twheel .*DeviceAllow='
apart "$dev; mount -t tmpfs none /run; : >/run/.containerenv"
finds device problem 'a container' '^podman run --device=/dev/twheel'
: >/.dockerenv
apart "$dev"
rm /.dockerenv
finds device problem 'a container' '^docker run --device=/dev/twheel'
container=lxc apart "$dev"
finds device problem 'a container' '^lxc config device add NAME twheel'
number=$(tr : ' ' </sys/class/misc/twheel/dev)
apart "mount -t tmpfs -o nodev none /dev; mknod /dev/twheel c $number"
finds open problem 'mounted nodev'

# --- the cgroup's list of devices ---

mkdir "$dir/devices"
if mount -t cgroup -o devices none "$dir/devices" 2>/dev/null; then
	mkdir "$dir/devices/without"
	echo 'c 10:* rwm' >"$dir/devices/without/devices.deny"
	# shellcheck disable=SC2016 # of the other shell
	look sh -c 'echo $$ >"$0/without/tasks"; exec "$@"' "$dir/devices"
	finds open problem "the cgroup's list of devices" "DeviceAllow=/dev/twheel rw'"
	rmdir "$dir/devices/without"
	umount "$dir/devices"
else
	skip "the cgroup's list of devices" "no cgroup of devices in this kernel"
fi

# --- limits ---

parameters=/sys/module/twheel/parameters
for what in wheels timers; do
	was=$(cat $parameters/max_user_$what)
	echo 0 >$parameters/max_user_$what
	look
	finds limits problem "no more .*options twheel max_user_$what=[0-9]+ in /etc/modprobe.d" \
		"^echo [0-9]+ | tee $parameters/max_user_$what\$"
	obey limits
	look
	finds limits ok 'room for'
	echo "$was" >$parameters/max_user_$what
done
echo 3 >$parameters/max_user_wheels
hold
exec 5<>/dev/twheel 6<>/dev/twheel
look
exec 5>&- 6>&-
let_go
finds limits problem 'has 3 wheels and may have 3; for good' "^echo 16 | tee"
echo 256 >$parameters/max_user_wheels
# With signs that a shell would take for its own.
small="/sys/fs/cgroup/it's\\x2dsmall"
mkdir "$small"
echo 4M >"$small/memory.max"
# shellcheck disable=SC2016 # of the other shell
look sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$small"
finds limits problem 'no memory for a wheel of 65536 timers: its limit is 4.0 MiB' \
	'^echo 8388608 [|] tee '
obey limits
[ "$(cat "$small/memory.max")" -eq 8388608 ]
result $? "what is to be typed raises the limit of that cgroup"
rmdir "$small"

# --- the library ---

look_in_opt()
{
	LD_LIBRARY_PATH='' /opt/my/bin/twheel doctor >"$dir/out" 2>&1
	status=$?
}

LD_LIBRARY_PATH='' look
finds library problem 'not installed: programs' 'make install$'
cp "$(command -v twheel)" /usr/bin/
LD_LIBRARY_PATH='' /usr/bin/twheel doctor >"$dir/out" 2>&1
status=$?
finds library problem 'not installed' '^dnf install libtwheel twheel-tools$'
: >/etc/debian_version
LD_LIBRARY_PATH='' /usr/bin/twheel doctor >"$dir/out" 2>&1
status=$?
rm /usr/bin/twheel /etc/debian_version
finds library problem 'not installed' '^apt install libtwheel0 twheel-tools$'
mkdir -p /usr/local/lib
cp "$library" /usr/local/lib/$soname
LD_LIBRARY_PATH='' look
finds library problem "$soname is in /usr/local/lib, and the loader does not know" '^ldconfig$'
rm /usr/local/lib/$soname
mkdir -p /opt/my/bin /opt/my/lib
cp "$(command -v twheel)" /opt/my/bin/
cp "$library" /opt/my/lib/$soname
trusted='^echo /opt/my/lib [|] tee /etc/ld.so.conf.d/twheel.conf && ldconfig$'
look_in_opt
finds library problem "$soname is in /opt/my/lib, and the loader does not know$" "$trusted"
for what in lib lib/$soname .; do
	chmod o+w "/opt/my/$what"
	look_in_opt
	finds library problem "is in /opt/my/lib, .* others than root can change it" \
		'^export LD_LIBRARY_PATH=/opt/my/lib$'
	chmod o-w "/opt/my/$what"
done
chmod g+w /opt/my/lib
look_in_opt
finds library problem 'others than root can change it'
chmod g-w /opt/my/lib
chown nobody /opt/my
look_in_opt
finds library problem 'others than root can change it'
chown root /opt/my
look_in_opt
finds library problem "$soname is in /opt/my/lib" "$trusted"
sed "s/$version/9.9.9/" "$library" >/opt/my/lib/$soname
LD_LIBRARY_PATH=/opt/my/lib look
finds library problem "$soname is 9.9.9 and this program $version" 'make install$'
rm -r /opt/my

# --- not loaded ---

rmmod twheel
look
finds signature ok 'the kernel asks for none'
finds loaded problem '^not loaded$' '^modprobe twheel$'
silent device
finds fallback ok 'meanwhile programs'
twheel features >"$dir/out" 2>&1
[ $? -eq 1 ] && [ "$(cat "$dir/out")" = "twheel features: no /dev/twheel: twheel doctor tells why" ]
result $? "the other verbs point to the doctor, in one line"
container=docker look
finds loaded problem "this container's host" '^twheel doctor$'
look setarch --uname-2.6
finds kernel problem 'is older than 6.1'
echo 1 >"$dir/one"
apart "mount --bind $dir/one /proc/sys/kernel/modules_disabled"
finds kernel problem 'takes no more modules' '^reboot$'
finds loaded problem '^not loaded, and .* above$'
apart 'mount -t tmpfs none /proc; mkdir /proc/self'
finds kernel problem 'CONFIG_MODULES'

rm "$modules/modules.dep"
look
finds module problem "$installed is there, and modprobe has not been told" '^depmod -a$'
finds loaded problem '^not loaded, and .* above$'
: >"$installed"
echo "updates/dkms/twheel.ko:" >"$modules/modules.dep"
look
finds module problem "$installed can't be read"
# As long as the right one.
other=$(echo "$release" | sed 's/^./9/')
install_module "s/vermagic=$release/vermagic=$other/"
look
finds module problem "is built for $other, and $release runs" '^dnf install twheel-dkms$'
: >/etc/debian_version
look
rm /etc/debian_version
finds module problem "is built for $other, and $release runs" '^apt install twheel-dkms$'
install_module "s/vermagic=$release /vermagic=${release}x/"
look
finds module problem "is built for ${release}x[A-Z]*, and $release runs"
mkdir -p "/usr/src/twheel-$version"
: >"/usr/src/twheel-$version/dkms.conf"
look
finds module problem 'is built for' "^dkms install --force twheel/$version -k $release\$"
for what in 99.9.0 99.10.0; do
	mkdir "/usr/src/twheel-$what"
	: >"/usr/src/twheel-$what/dkms.conf"
done
look
finds module problem 'is built for' '^dkms install --force twheel/99.10.0 '
rm -r /usr/src/twheel-99.*
mv "$modules" "/lib/modules/$other"
look
finds module problem "installed for $other, and $release runs" '^dkms install'
silent signature
finds headers problem "none of $release, .*distribution"
: >/etc/debian_version
look
finds headers problem "none of $release, .*linux-headers-$(echo "$release" | sed 's/^[^-]*-\([0-9]*-\)*//')" \
	"^apt install linux-headers-$release\$"
mkdir -p "$modules/build"
: >"$modules/build/Makefile"
look
finds headers ok "of $release"
rm -r "/lib/modules/$other"
look
finds module problem 'not installed for any kernel' '^dkms install'
rm -r "/usr/src/twheel-$version"
# build_in TREE: what is said of the program in that source tree
build_in()
{
	mkdir -p "$1/tools/build"
	cp "$(command -v twheel)" "$1/tools/build/"
	"$1/tools/build/twheel" doctor >"$dir/out" 2>&1
	status=$?
}

build_in "$dir/tree"
finds module problem 'not installed for any' "^make -C $dir/tree module && make -C $dir/tree load\$"
build_in "$dir/my tree"
finds module problem 'not installed for any' "^make -C '$dir/my tree' module && make -C '$dir/my tree' load\$"
build_in "$dir/$(printf "%0200d" 0 | tr 0 \')"
grep -q 'not installed for any' "$dir/out" && ! grep -q 'make -C' "$dir/out"
result $? "a command that would be too long is not told in part"
build_in "$dir/$(printf 'a\033b')"
grep -q 'not installed for any' "$dir/out" && ! grep -q 'make -C' "$dir/out"
result $? "nor one that would do something to the terminal"

# --- signatures ---

enforce='mount -t tmpfs none /sys/kernel/security
	echo "none [integrity] confidentiality" >/sys/kernel/security/lockdown'
efi="mount -t tmpfs none /sys/firmware; mkdir -p /sys/firmware/efi/efivars; cd /sys/firmware/efi/efivars
	printf '\\6\\0\\0\\0\\1' >SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
shim=605dab50-e046-4300-abb6-3dd810dd8b23
install_module
echo Y >"$dir/yes"
apart "mount --bind $dir/yes /sys/module/module/parameters/sig_enforce"
finds signature problem 'signed modules only \(module.sig_enforce\), and this one is not' '^apt install'
finds loaded problem '^not loaded, and .* above$'
apart "$enforce"
finds signature problem 'only \(lockdown\), and this one is not'
apart "$enforce; $efi"
finds signature problem 'only \(Secure Boot\), and this one is not'
# Signed by "somebody", as modules were before PKCS#7: name, key, signature, and their lengths.
{
	cat "$ko"
	printf 'somebodykeyxsign\0\4\1\10\4\0\0\0\0\0\0\4~Module signature appended~\n'
} >"$installed"
apart "$enforce"
finds signature unknown 'of somebody nothing is told here'
# As much of a certificate as is looked at: version, number "keyx", and a name.
mkdir -p /var/lib/dkms /var/lib/shim-signed/mok
printf '0\202\0\027' >"$dir/certificate"
printf '0\025\240\3\2\1\2\2\4keyx\14\10somebody' >>"$dir/certificate"
# Another key's, another one's, of no form, and cut off: listed or not, they tell nothing.
for change in s/keyx/keyy/ s/somebody/somelady/ s/somebody// s/keyx.*//; do
	sed "$change" "$dir/certificate" >/var/lib/dkms/mok.pub
	apart "$enforce; $efi; cat /var/lib/dkms/mok.pub >MokListRT-$shim"
	finds signature unknown 'of somebody nothing is told here'
done
finds loaded problem '^not loaded$' '^modprobe twheel$'
# That of another key comes first.
sed s/keyx/keyy/ "$dir/certificate" >/var/lib/shim-signed/mok/MOK.der
cp "$dir/certificate" /var/lib/dkms/mok.pub
apart "$enforce"
finds signature unknown 'by somebody, and whether /var/lib/dkms/mok.pub is enrolled the firmware does not tell'
apart "$enforce; $efi; echo others >MokListRT-$shim"
finds signature problem 'signed, but the key /var/lib/dkms/mok.pub is not enrolled' \
	'^mokutil --import /var/lib/dkms/mok.pub && reboot$'
apart "$enforce; $efi; echo others >MokListRT-$shim; cat /var/lib/dkms/mok.pub >MokNew-$shim"
finds signature problem 'waits to be enrolled' '^reboot$'
apart "$enforce; $efi; echo others >MokListRT-$shim; cat $dir/certificate >MokListRT1-$shim"
finds signature ok 'by somebody, whose key is enrolled'
finds loaded problem '^not loaded$' '^modprobe twheel$'
rm -r /var/lib/dkms /var/lib/shim-signed
install_module

# Never to be undone: so this comes last.
mount -t securityfs none /sys/kernel/security 2>/dev/null
if echo integrity 2>/dev/null >/sys/kernel/security/lockdown; then
	! insmod "$installed" 2>/dev/null
	result $? "a kernel that is locked down refuses the module"
	look
	finds signature problem 'only \(lockdown\), and this one is not'
else
	skip "a kernel that is locked down" "no lockdown in this kernel"
fi

echo "1..$nr"
exit $failed
