# SPDX-License-Identifier: GPL-2.0
"""twheel doctor, with each cause of trouble made in turn.

For a guest that has nothing to lose and a shell of root's: these tests load and unload the module,
write /lib/modules, /etc and /dev, and in the end lock the kernel down.  They go from a module that
is loaded to none, so they run in this order.  $TWHEEL_KO is the module, $TWHEEL_LIBRARY the
library."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from commands import Result, cases, program, run, start, until

pytestmark = pytest.mark.skipif("TWHEEL_KO" not in os.environ or
                                not os.path.exists("/sys/module/twheel"),
                                reason="this is no guest with the module")
KO = pathlib.Path(os.environ.get("TWHEEL_KO", "/nonexistent"))
LIBRARY = pathlib.Path(os.environ.get("TWHEEL_LIBRARY", "/nonexistent"))
SONAME = "libtwheel.so.0"
RELEASE = os.uname().release
MODULES = pathlib.Path("/lib/modules", RELEASE)
INSTALLED = MODULES / "updates/dkms/twheel.ko"
PARAMETERS = pathlib.Path("/sys/module/twheel/parameters")
DEVICE = pathlib.Path("/dev/twheel")
DEBIAN = pathlib.Path("/etc/debian_version")
GROUP = pathlib.Path("/etc/group")
CGROUP = pathlib.Path("/sys/fs/cgroup")
SERVICES = CGROUP / "system.slice"
SOURCES = pathlib.Path("/usr/src")
# As long as the release that runs.
OTHER = "9" + RELEASE[1:]


def read_version():
    """Of the module that is loaded."""
    path = pathlib.Path("/sys/module/twheel/version")
    return path.read_text("ascii").strip() if path.exists() else ""


VERSION = read_version()


@dataclasses.dataclass
class Report(Result):
    """What the doctor has said."""

    def finds(self, what, verdict, text, command=""):
        """A line of this verdict, and below it what to type; patterns."""
        lines = self.lines + [""]
        found = [below for line, below in zip(lines, lines[1:])
                 if line.split()[:2] == [what, verdict] and re.search(text, line[23:])]
        assert found, f"{what}, {verdict}: {text}"
        if command:
            assert re.match(" {23}[^ ]", found[0])
            assert re.search(command, found[0][23:])
        assert self.status == 1 if verdict == "problem" else self.status < 2
        return self

    def silent(self, what):
        """Nothing is said of it."""
        assert not re.search(f"^  {what} ", self.out, re.MULTILINE)
        return self

    def obey(self, what):
        """Types what is to be typed about it."""
        lines = self.lines
        line = next(i for i, line in enumerate(lines) if line.split()[:1] == [what])
        run("sh", "-c", lines[line + 1])


def look(*command, doctor="twheel", env=()):
    """Asks the doctor, run by that command."""
    result = run(*command, doctor, "doctor", env=env, stderr=subprocess.STDOUT)
    return Report(result.status, result.out, "")


def shell(script, *words):
    """Asks the doctor by a script, which ends with it."""
    result = run("sh", "-c", script, "sh", *words, stderr=subprocess.STDOUT)
    return Report(result.status, result.out, "")


def as_nobody():
    """Asks by another user."""
    result = run("su", "-s", "/bin/sh", "nobody", "-c", "twheel doctor", stderr=subprocess.STDOUT)
    return Report(result.status, result.out, "")


def apart(script, env=()):
    """Asks by a shell whose mounts are its own, set up by the script."""
    result = run("unshare", "-m", "sh", "-ec", script + "\nexec twheel doctor", env=env,
                 stderr=subprocess.STDOUT)
    return Report(result.status, result.out, "")


def install_module(pattern=b"", by=b""):
    """Puts the module where dkms would, maybe a little different, and tells modprobe of it."""
    INSTALLED.parent.mkdir(parents=True, exist_ok=True)
    data = KO.read_bytes()
    INSTALLED.write_bytes(re.sub(pattern, by, data) if pattern else data)
    (MODULES / "modules.dep").write_text("updates/dkms/twheel.ko:\n", encoding="ascii")


@pytest.fixture(name="folder", scope="module", autouse=True)
def fixture_folder():
    """A folder that others may read, with the library in it; the module is installed."""
    path = pathlib.Path(tempfile.mkdtemp())
    path.chmod(0o755)
    (path / "lib").mkdir()
    shutil.copy(LIBRARY, path / "lib" / SONAME)
    os.environ["LD_LIBRARY_PATH"] = str(path / "lib")
    install_module()
    DEVICE.chmod(0o600)
    yield path
    shutil.rmtree(path)


@pytest.fixture(name="ended")
def fixture_ended():
    """Processes to be ended with the test."""
    children = []
    yield children
    for child in children:
        child.kill()
        child.wait()


@pytest.fixture(name="debian")
def fixture_debian():
    """The system is a Debian."""
    DEBIAN.touch()
    yield
    DEBIAN.unlink()


def hold(ended):
    """Another process gets a wheel; its pid."""
    child = start("twheel", "arm", "1h", stdout=subprocess.PIPE)
    ended.append(child)
    while "armed" not in child.stdout.readline():
        assert child.poll() is None
    return child.pid


def module_is(version):
    """The installed module says that it is another version."""
    install_module(b"(version=)" + re.escape(VERSION).encode(), rb"\g<1>" + version)


# --- all is well ---

def test_all_is_well():
    """Each line says so, and the exit status."""
    report = look()
    assert report.status == 0
    assert all(re.match("  [a-z]* *ok  ", line) for line in report.lines)
    report.silent("headers").silent("fallback")
    for what, text in (
            ("kernel", RELEASE),
            ("module", f"^{VERSION}, {INSTALLED}$"),
            ("loaded", f"^{VERSION}$"),
            ("device", "device 10:[0-9]+$"),
            ("permission", "^mode 0600, root:root$"),
            ("open", "^ABI [0-9]+$"),
            ("features", "words"),
            ("limits", "room for .* 0 of 256 wheels"),
            ("timer", "a timer of 20ms came [0-9.]+[mun]s late"),
            ("library", f"^{VERSION}, .*/{SONAME}$")):
        report.finds(what, "ok", text)


def test_json_is_one_object():
    """With all that was found."""
    result = run("twheel", "doctor", "--json").prints(
        r'^\{"good":true,"checks":\[\{"what":"kernel","verdict":"ok","text":"[^"]*"\},.*\]\}$')
    assert len(result.lines) == 1


# --- what the kernel, or a fake of it, makes of a timer ---

@cases(
    "fake, what, verdict, text, command",
    ("early", "timer", "problem", "EARLY.*please report", ""),
    ("lose", "timer", "problem", "has not come.*please report", ""),
    ("late", "timer", "problem", "has not come.*please report", ""),
    ("wordless", "features", "ok", "no words here", ""),
    ("foreign", "open", "problem",
     f"the module, {VERSION}, has ABI 1, and this program, {VERSION}, wants 0",
     "^modprobe -r twheel && modprobe twheel$"),
    ("coarse", "kernel", "problem", "timers of 4ms, .*CONFIG_HIGH_RES_TIMERS", ""),
)
def test_of_a_fake_wheel(fake, what, verdict, text, command):
    """What it does wrong."""
    report = look(doctor=program("fake-twheel"), env={"FAKE": fake})
    report.finds(what, verdict, text, command)
    if fake == "foreign":
        report.silent("timer")


# --- who may open it ---

def test_permission_of_a_user_without_rights():
    """Nothing is told of what was not tried; a group, if there is one, is named."""
    report = as_nobody()
    report.finds("permission", "problem", "mode 0600, root:root: be root",
                 "^sudo groupadd -r twheel && sudo usermod -aG twheel nobody && sudo chgrp")
    report.silent("open")
    report.finds("fallback", "ok", "TWHEEL_OPEN_FALLBACK .*others fail: Permission denied")


def test_permission_of_a_group(folder):
    """The device is not the group's; the user is not in it; his session is older than that."""
    before = GROUP.read_text("ascii")
    try:
        GROUP.write_text(before + "twheel:x:900:\n", encoding="ascii")
        as_nobody().finds("permission", "problem", "there is a group twheel: udev",
                          "^sudo udevadm control --reload && sudo udevadm trigger")
        os.chown(DEVICE, 0, 900)
        DEVICE.chmod(0o660)
        as_nobody().finds("permission", "problem",
                          "mode 0660, root:twheel, and nobody is not in that group",
                          "^sudo usermod -aG twheel nobody$")
        go = folder / "go"
        os.mkfifo(go)
        session = start("su", "-s", "/bin/sh", "nobody", "-c",
                        f"read -r _ <{go}; exec twheel doctor",
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with go.open("w", encoding="ascii") as file:
            GROUP.write_text(before + "twheel:x:900:nobody\n", encoding="ascii")
            file.write("\n")
        out, _ = session.communicate(timeout=60)
        Report(session.returncode, out, "").finds(
            "permission", "problem", "nobody is in group twheel, but this session is older",
            "^newgrp twheel$")
        as_nobody().finds("permission", "ok", "^mode 0660, root:twheel$") \
            .finds("timer", "ok", "a timer of 20ms")
    finally:
        GROUP.write_text(before, encoding="ascii")
        os.chown(DEVICE, 0, 0)
        DEVICE.chmod(0o600)


# --- an old module that is still loaded ---

RELOAD = "modprobe -r twheel && modprobe twheel"
SERVICE = "held.service"
RESTART = f"^systemctl stop {SERVICE} && {RELOAD}; systemctl start {SERVICE}$"


def test_another_build_is_installed():
    """Nothing holds a wheel, so it can be loaded."""
    install_module(b"srcversion=.", b"srcversion=Z")
    look().finds("loaded", "problem", f"^{VERSION} is loaded, but another build of {VERSION} is "
                 "installed: .*nothing holds", f"^{RELOAD}$")
    as_nobody().finds("loaded", "problem", "nothing holds a wheel",
                      "^sudo modprobe -r twheel && sudo modprobe twheel$")


def test_another_version_is_installed_and_a_process_holds_a_wheel(ended):
    """Its owner ends, its service is stopped, or nobody sees it."""
    module_is(b"9.9.9")
    pid = hold(ended)
    look().finds("loaded", "problem", f"^{VERSION} is loaded, but 9.9.9 is installed: .*owner has "
                 rf"to end first: twheel \({pid}\)$", f"^{RELOAD}$")
    as_nobody().finds("loaded", "problem", "only root can see who holds wheels",
                      "^sudo twheel doctor$")
    service = SERVICES / SERVICE
    service.mkdir(parents=True, exist_ok=True)
    (service / "cgroup.procs").write_text(f"{pid}\n", encoding="ascii")
    look().finds("loaded", "problem",
                 f"9.9.9 is installed: .*services that hold some: {SERVICE}$", RESTART)
    look("unshare", "--pid", "--fork", "--mount-proc").finds(
        "loaded", "problem", "holds a wheel that no process has as a file", "^reboot$")


def test_the_first_process_keeps_wheels_for_services(ended):
    """Only the service's end, or a reboot, frees them."""
    module_is(b"9.9.9")
    (SERVICES / SERVICE).mkdir(parents=True, exist_ok=True)
    first = ("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c")
    result = run(*first, "exec 5<>/dev/twheel; twheel doctor 5>&-; exit $?",
                 stderr=subprocess.STDOUT)
    Report(result.status, result.out, "").finds(
        "loaded", "problem",
        r"held; sh \(1\) keeps some for a service .*until systemctl stop SERVICE$", "^reboot$")
    result = run(*first, "exec 5<>/dev/twheel; sleep 1000 & "
                 f"echo $! >{SERVICES / SERVICE}/cgroup.procs; twheel doctor 5>&-; exit $?",
                 stderr=subprocess.STDOUT, stdin="")
    Report(result.status, result.out, "").finds(
        "loaded", "problem", rf"hold some: {SERVICE}; sh \(1\) keeps some", RESTART)
    child = start("sh", "-c",
                  "echo systemd >/proc/$$/comm; exec 5<>/dev/twheel; echo ready; read -r _",
                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ended.append(child)
    child.stdout.readline()
    look().finds("loaded", "problem", rf"held; systemd \({child.pid}\) keeps some", "^reboot$")


@cases(
    "case, service, text, command",
    ("of no service", "", "now 9 processes hold some; list them with$", "^twheel stat$"),
    ("of services with long names", "long-{:0150d}", "now 9 processes hold some", "^twheel stat$"),
    ("of one service", "same", "hold some: same.service$",
     "^systemctl stop same.service && .*; systemctl start same.service$"),
)
def test_nine_processes_hold_wheels(ended, service, text, command):
    """Their services are named if that is of use."""
    module_is(b"9.9.9")
    fd = os.open(DEVICE, os.O_RDWR)
    made = set()
    for _ in range(9):
        child = start("sleep", "1000", pass_fds=[fd])
        ended.append(child)
        if service:
            path = SERVICES / (service.format(child.pid) + ".service")
            made.add(path)
            path.mkdir(parents=True, exist_ok=True)
            (path / "cgroup.procs").write_text(f"{child.pid}\n", encoding="ascii")
    os.close(fd)
    look().finds("loaded", "problem", text, command)
    while ended:
        child = ended.pop()
        child.kill()
        child.wait()
    for path in made:
        until(lambda path=path: not (path / "cgroup.procs").read_text("ascii"))
        path.rmdir()


def test_no_module_is_installed_beside_the_one_that_is_loaded():
    """So a reboot would have none."""
    INSTALLED.unlink()
    (MODULES / "modules.dep").unlink()
    look().silent("module").finds("loaded", "ok", "modprobe knows none for .*, so after a reboot")
    install_module()


# --- no node, or another one ---

def test_the_device_is_gone():
    """It is made as told; programs have a wheel of the library's meanwhile."""
    install_module()
    DEVICE.unlink()
    report = look()
    report.finds("device", "problem", "no /dev/twheel here, though the module is loaded: it was",
                 "^rm -rf /dev/twheel && mknod -m 600 /dev/twheel c 10 [0-9]+$")
    report.silent("permission")
    report.finds("fallback", "ok",
                 "meanwhile programs with libtwheel have a wheel .* came [0-9.]+[mun]s late")
    look(env={"LD_LIBRARY_PATH": ""}).finds("fallback", "unknown", "not here to be tried")
    report.obey("device")
    look().finds("timer", "ok", "a timer of 20ms")


def test_another_file_is_in_the_device_s_place():
    """A folder, and another device."""
    DEVICE.unlink()
    DEVICE.mkdir()
    look().finds("device", "problem", "not a device, but something else",
                 "^rm -rf /dev/twheel && mknod")
    DEVICE.rmdir()
    run("mknod", DEVICE, "c", "10", "99")
    report = look()
    report.finds("device", "problem",
                 "is device 10:99, but twheel has been 10:[0-9]+ since it was loaded again")
    report.obey("device")


DEV = "mount -t tmpfs none /dev; mknod /dev/null c 1 3"
GIVEN = "give it to the container"


@cases(
    "case, script, env, text, command",
    ("a service", DEV, {}, "the container, or to the service with PrivateDevices=",
     "^systemd-run -p PrivateDevices=no -p 'DeviceAllow=/dev/twheel rw'"),
    ("systemd-nspawn", DEV + "; mount -t tmpfs none /run; mkdir /run/systemd; "
     "echo systemd-nspawn >/run/systemd/container", {}, GIVEN,
     "^systemd-nspawn --bind=/dev/twheel .*DeviceAllow="),
    ("podman", DEV + "; mount -t tmpfs none /run; : >/run/.containerenv", {}, GIVEN,
     "^podman run --device=/dev/twheel"),
    ("docker", ": >/.dockerenv; " + DEV, {}, GIVEN, "^docker run --device=/dev/twheel"),
    ("lxc", DEV, {"container": "lxc"}, GIVEN, "^lxc config device add NAME twheel"),
)
def test_the_device_is_missing_in(script, env, text, command):
    """A container or a service, which is to be given it."""
    report = apart(script, env)
    pathlib.Path("/.dockerenv").unlink(missing_ok=True)
    report.finds("device", "problem", text, command)


def test_the_device_is_where_devices_do_not_work():
    """The mount is nodev."""
    number = pathlib.Path("/sys/class/misc/twheel/dev").read_text("ascii").replace(":", " ")
    apart(f"mount -t tmpfs -o nodev none /dev; mknod /dev/twheel c {number}").finds(
        "open", "problem", "mounted nodev")


def test_the_cgroup_s_list_of_devices_has_it_not(folder):
    """A service may allow it."""
    devices = folder / "devices"
    devices.mkdir()
    if run("mount", "-t", "cgroup", "-o", "devices", "none", devices).status:
        pytest.skip("no cgroup of devices in this kernel")
    without = devices / "without"
    without.mkdir()
    (without / "devices.deny").write_text("c 10:* rwm\n", encoding="ascii")
    report = shell('echo $$ >"$1/tasks"; exec twheel doctor', without)
    without.rmdir()
    run("umount", devices)
    report.finds("open", "problem", "the cgroup's list of devices", "DeviceAllow=/dev/twheel rw'")


# --- limits ---

@cases("what", "wheels", "timers")
def test_no_more_are_allowed(what):
    """What is to be typed raises the limit."""
    path = PARAMETERS / f"max_user_{what}"
    before = path.read_text("ascii")
    path.write_text("0", encoding="ascii")
    report = look().finds(
        "limits", "problem",
        f"limit on {what}; .*options twheel max_user_{what}=[0-9]+ in /etc/modprobe.d",
        rf"^echo [0-9]+ \| tee {path}$")
    report.obey("limits")
    look().finds("limits", "ok", "room for")
    path.write_text(before, encoding="ascii")


def test_all_wheels_that_are_allowed_are_open(ended):
    """For good, or for as long as the module is loaded."""
    path = PARAMETERS / "max_user_wheels"
    path.write_text("3", encoding="ascii")
    hold(ended)
    wheels = [os.open(DEVICE, os.O_RDWR) for _ in range(2)]
    report = look()
    for fd in wheels:
        os.close(fd)
    path.write_text("256", encoding="ascii")
    report.finds("limits", "problem", "has 3 wheels and may have 3; for good", r"^echo 16 \| tee")


def test_the_cgroup_s_memory_is_too_small():
    """Also in one with signs that a shell would take for its own."""
    small = CGROUP / "it's\\x2dsmall"
    small.mkdir()
    (small / "memory.max").write_text("4M", encoding="ascii")
    report = shell('echo $$ >"$1/cgroup.procs"; exec twheel doctor', small)
    report.finds("limits", "problem",
                 "cgroup has no memory for a wheel of 65536 timers: its limit is 4.0 MiB",
                 "^echo 8388608 [|] tee ")
    report.obey("limits")
    assert (small / "memory.max").read_text("ascii") == "8388608\n"
    small.rmdir()


# --- the library ---

NO_LIBRARY = {"LD_LIBRARY_PATH": ""}
OPT = pathlib.Path("/opt/my")


def test_the_library_is_not_installed():
    """From source, or from the packages of Debian or Fedora as the program is."""
    look(env=NO_LIBRARY).finds("library", "problem", "not installed: programs", "make install$")
    installed = pathlib.Path("/usr/bin/twheel")
    shutil.copy(program("twheel"), installed)
    try:
        look(doctor=installed, env=NO_LIBRARY).finds(
            "library", "problem", "not installed", "^dnf install libtwheel twheel-tools$")
        DEBIAN.touch()
        look(doctor=installed, env=NO_LIBRARY).finds(
            "library", "problem", "not installed", "^apt install libtwheel0 twheel-tools$")
    finally:
        installed.unlink()
        DEBIAN.unlink(missing_ok=True)


def test_the_loader_does_not_know_of_the_library():
    """It is where make install puts it."""
    path = pathlib.Path("/usr/local/lib") / SONAME
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(LIBRARY, path)
    report = look(env=NO_LIBRARY)
    path.unlink()
    report.finds("library", "problem",
                 f"{SONAME} is in /usr/local/lib, where the loader does not look", "^ldconfig$")


@pytest.fixture(name="opt")
def fixture_opt():
    """Program and library in /opt/my; asks that program's doctor."""
    for name, source in ("bin/twheel", program("twheel")), ("lib/" + SONAME, LIBRARY):
        (OPT / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, OPT / name)
    yield lambda: look(doctor=OPT / "bin/twheel", env=NO_LIBRARY)
    shutil.rmtree(OPT)


def test_the_library_is_beside_the_program(opt):
    """In a folder that the loader may be told of."""
    opt().finds("library", "problem",
                f"{SONAME} is in /opt/my/lib, where the loader does not look$",
                "^echo /opt/my/lib [|] tee /etc/ld.so.conf.d/twheel.conf && ldconfig$")


@cases(
    "change, command",
    ("o+w /opt/my/lib", "^export LD_LIBRARY_PATH=/opt/my/lib$"),
    (f"o+w /opt/my/lib/{SONAME}", "^export LD_LIBRARY_PATH=/opt/my/lib$"),
    ("o+w /opt/my/.", "^export LD_LIBRARY_PATH=/opt/my/lib$"),
    ("g+w /opt/my/lib", ""),
    ("nobody /opt/my", ""),
)
def test_others_than_root_can_change_the_library(opt, change, command):
    """So the loader is not told of its folder."""
    run("chown" if change.startswith("nobody") else "chmod", *change.split())
    opt().finds("library", "problem", "is in /opt/my/lib, .* users other than root can change it",
                command)


@pytest.mark.usefixtures("opt")
def test_the_library_is_of_another_version():
    """Than the program."""
    data = LIBRARY.read_bytes().replace(VERSION.encode(), b"9.9.9")
    (OPT / "lib" / SONAME).write_bytes(data)
    look(env={"LD_LIBRARY_PATH": OPT / "lib"}).finds(
        "library", "problem", f"{SONAME} is 9.9.9, but this program is {VERSION}:", "make install$")


# --- not loaded ---

@pytest.fixture(name="unloaded", scope="module")
def fixture_unloaded():
    """From the first test that asks for this, the module is not loaded."""
    assert run("rmmod", "twheel").status == 0


without_module = pytest.mark.usefixtures("unloaded")


@without_module
def test_the_module_is_not_loaded():
    """Programs have a wheel of the library's meanwhile; a container's host loads it."""
    report = look()
    report.finds("signature", "ok", "the kernel asks for none")
    report.finds("loaded", "problem", "^not loaded$", "^modprobe twheel$")
    report.silent("device")
    report.finds("fallback", "ok", "meanwhile programs")
    look(env={"container": "docker"}).finds("loaded", "problem", "this container's host",
                                            "^twheel doctor$")


@without_module
def test_the_other_verbs_point_to_the_doctor():
    """In one line."""
    run("twheel", "features").refused(
        1, "^twheel features: no /dev/twheel: twheel doctor says why$")


@without_module
def test_the_kernel_takes_no_module(folder):
    """It is too old, takes no more, or is built without them."""
    look("setarch", "--uname-2.6").finds("kernel", "problem", "is older than 6.1")
    (folder / "one").write_text("1\n", encoding="ascii")
    report = apart(f"mount --bind {folder}/one /proc/sys/kernel/modules_disabled")
    report.finds("kernel", "problem", "loads no more modules", "^reboot$")
    report.finds("loaded", "problem", "^not loaded, and .* above is solved$")
    for env, where in ({}, "kernel$"), ({"container": "docker"}, "kernel on this container's host$"):
        report = apart("mount -t tmpfs none /proc; mkdir /proc/self", env)
        report.finds("kernel", "problem", f"without loadable modules .*{where}")
        report.finds("loaded", "problem", "^not loaded, and .* above is solved$")


@without_module
def test_modprobe_has_not_been_told_of_the_module():
    """By depmod."""
    install_module()
    (MODULES / "modules.dep").unlink()
    report = look()
    install_module()
    report.finds("module", "problem", f"{INSTALLED} is there, but modprobe does not know it",
                 "^depmod -a$")
    report.finds("loaded", "problem", "^not loaded, and .* above is solved$")


@without_module
def test_the_module_can_not_be_read():
    """It is empty."""
    INSTALLED.write_bytes(b"")
    look().finds("module", "problem", f"{INSTALLED} can't be read")


def built_for(release):
    """The installed module is for that release; its file stays as long as it was."""
    vermagic = f"vermagic={release}".ljust(len(f"vermagic={RELEASE} "))
    install_module(b"vermagic=" + re.escape(RELEASE).encode() + b" ", vermagic.encode())


@without_module
def test_the_module_is_built_for_another_kernel():
    """A package of Fedora has it for this one."""
    built_for(OTHER)
    look().finds("module", "problem", f"is built for {OTHER}, but {RELEASE} is running",
                 "^dnf install twheel-dkms$")


@without_module
@pytest.mark.usefixtures("debian")
def test_the_module_is_built_for_another_kernel_on_debian():
    """A package has it for this one."""
    built_for(OTHER)
    look().finds("module", "problem", f"is built for {OTHER}, but {RELEASE} is running",
                 "^apt install twheel-dkms$")


@without_module
def test_the_module_is_built_for_a_kernel_whose_name_goes_on():
    """A part of a name is not taken for all of it."""
    built_for(RELEASE + "x")
    look().finds("module", "problem", f"is built for {RELEASE}x[A-Z]*, but {RELEASE} is running")


@pytest.fixture(name="dkms")
def fixture_dkms():
    """dkms has the module's source, of this and maybe other versions."""
    made = []

    def add(version):
        path = SOURCES / f"twheel-{version}"
        path.mkdir(parents=True)
        made.append(path)
        (path / "dkms.conf").touch()

    add(VERSION)
    yield add
    for path in made:
        shutil.rmtree(path)


@without_module
def test_dkms_can_build_the_module(dkms):
    """By the newest of the sources that it has."""
    built_for(RELEASE + "x")
    look().finds("module", "problem", "is built for",
                 f"^dkms install --force twheel/{VERSION} -k {RELEASE}$")
    for version in "99.9.0", "99.10.0":
        dkms(version)
    look().finds("module", "problem", "is built for", "^dkms install --force twheel/99.10.0 ")


@pytest.fixture(name="moved")
def fixture_moved():
    """The module is installed for another kernel alone."""
    install_module()
    shutil.rmtree(f"/lib/modules/{OTHER}", ignore_errors=True)
    MODULES.rename(f"/lib/modules/{OTHER}")
    yield
    shutil.rmtree(f"/lib/modules/{OTHER}")
    shutil.rmtree(MODULES, ignore_errors=True)
    install_module()


@without_module
@pytest.mark.usefixtures("moved", "dkms")
def test_the_module_is_installed_for_another_kernel():
    """This one's headers are missing, and the distribution has them."""
    report = look()
    report.finds("module", "problem", f"installed for {OTHER}, but {RELEASE} is running",
                 "^dkms install")
    report.silent("signature")
    report.finds("headers", "problem", f"none for {RELEASE}, .*distribution")


@without_module
@pytest.mark.usefixtures("moved", "dkms", "debian")
def test_headers_are_a_package_of_debian():
    """With the name of the kernel, or of its flavour."""
    flavour = re.sub("^[^-]*-([0-9]*-)*", "", RELEASE)
    look().finds("headers", "problem", f"none for {RELEASE}, .*linux-headers-{flavour}",
                 f"^apt install linux-headers-{RELEASE}$")
    (MODULES / "build").mkdir(parents=True)
    (MODULES / "build" / "Makefile").touch()
    look().finds("headers", "ok", f"of {RELEASE}")


@pytest.fixture(name="nowhere")
def fixture_nowhere():
    """No module is installed."""
    INSTALLED.unlink(missing_ok=True)
    (MODULES / "modules.dep").unlink(missing_ok=True)
    (MODULES / "build").mkdir(parents=True, exist_ok=True)
    (MODULES / "build" / "Makefile").touch()
    yield
    install_module()


@without_module
@pytest.mark.usefixtures("nowhere", "debian", "dkms")
def test_the_module_is_installed_for_no_kernel():
    """dkms has its source."""
    look().finds("module", "problem", "not installed for any kernel", "^dkms install")


@cases(
    "case, tree, command",
    ("as usual", "tree", "^make -C {0} module && make -C {0} load$"),
    ("to be quoted", "my tree", "^make -C '{0}' module && make -C '{0}' load$"),
    # A command is not told in part, nor if it would do something to the terminal.
    ("too long", "'" * 200, None),
    ("with an escape", "a\033b", None),
)
@without_module
@pytest.mark.usefixtures("nowhere")
def test_the_program_is_in_a_source_tree_with_a_name(folder, tree, command):
    """The tree can build the module."""
    path = folder / tree / "tools/build/twheel"
    path.parent.mkdir(parents=True)
    shutil.copy(program("twheel"), path)
    report = look(doctor=path)
    if command:
        report.finds("module", "problem", "not installed for any",
                     command.format(folder / tree))
    else:
        assert "not installed for any" in report.out
        assert "make -C" not in report.out


# --- signatures ---

ENFORCE = """mount -t tmpfs none /sys/kernel/security
echo "none [integrity] confidentiality" >/sys/kernel/security/lockdown
"""
EFI = r"""mount -t tmpfs none /sys/firmware; mkdir -p /sys/firmware/efi/efivars
cd /sys/firmware/efi/efivars
printf '\6\0\0\0\1' >SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
"""
SHIM = "605dab50-e046-4300-abb6-3dd810dd8b23"
# As much of a certificate as is looked at: version, number "keyx", and a name.
CERTIFICATE = b"0\202\0\027" b"0\025\240\3\2\1\2\2\4keyx\14\10somebody"
DKMS_KEY = pathlib.Path("/var/lib/dkms/mok.pub")
MOK = pathlib.Path("/var/lib/shim-signed/mok/MOK.der")
NOTHING_TOLD = "the key of somebody is not found on this machine"


@cases(
    "by, script, text, command",
    ("module.sig_enforce", "mount --bind {0}/yes /sys/module/module/parameters/sig_enforce",
     r"signed modules \(module.sig_enforce\), and this one is not", "^apt install"),
    ("lockdown", ENFORCE, r"modules \(lockdown\), and this one is not", ""),
    ("Secure Boot", ENFORCE + EFI, r"modules \(Secure Boot\), and this one is not", ""),
)
@without_module
@pytest.mark.usefixtures("debian")
def test_the_module_is_not_signed(folder, by, script, text, command):
    """And the kernel takes signed ones alone."""
    install_module()
    (folder / "yes").write_text("Y\n", encoding="ascii")
    report = apart(script.replace("{0}", str(folder)))
    report.finds("signature", "problem", text, command)
    if by == "module.sig_enforce":
        report.finds("loaded", "problem", "^not loaded, and .* above is solved$")


@pytest.fixture(name="signed")
def fixture_signed():
    """The module is signed by "somebody", as modules were before PKCS#7: name, key, signature, and
    their lengths."""
    install_module()
    INSTALLED.write_bytes(KO.read_bytes() + b"somebodykeyxsign\0\4\1\10\4\0\0\0\0\0\0\4"
                          b"~Module signature appended~\n")
    for path in DKMS_KEY, MOK:
        path.parent.mkdir(parents=True, exist_ok=True)
    yield
    shutil.rmtree(DKMS_KEY.parent)
    shutil.rmtree(MOK.parent.parent)
    install_module()


@without_module
@pytest.mark.usefixtures("signed")
def test_nothing_is_known_of_the_signer():
    """There is no key here."""
    apart(ENFORCE).finds("signature", "unknown", NOTHING_TOLD)


@cases(
    "case, certificate",
    ("another key", CERTIFICATE.replace(b"keyx", b"keyy")),
    ("another name", CERTIFICATE.replace(b"somebody", b"somelady")),
    ("no form", CERTIFICATE.replace(b"somebody", b"")),
    ("cut off", CERTIFICATE[:CERTIFICATE.index(b"keyx")]),
)
@without_module
@pytest.mark.usefixtures("signed")
def test_another_key_tells_nothing(certificate):
    """Even if it is enrolled."""
    DKMS_KEY.write_bytes(certificate)
    report = apart(ENFORCE + EFI + f"cat {DKMS_KEY} >MokListRT-{SHIM}")
    report.finds("signature", "unknown", NOTHING_TOLD)
    report.finds("loaded", "problem", "^not loaded$", "^modprobe twheel$")


@cases(
    "state, script, verdict, text, command",
    ("unknown", ENFORCE, "unknown",
     f"by somebody; the firmware does not say whether {DKMS_KEY} is enrolled", ""),
    ("not enrolled", ENFORCE + EFI + f"echo others >MokListRT-{SHIM}", "problem",
     f"signed, but the key {DKMS_KEY} is not enrolled",
     f"^mokutil --import {DKMS_KEY} && reboot$"),
    ("waiting", ENFORCE + EFI + f"echo others >MokListRT-{SHIM}; cat {DKMS_KEY} >MokNew-{SHIM}",
     "problem", "waits to be enrolled", "^reboot$"),
    ("enrolled", ENFORCE + EFI + f"echo others >MokListRT-{SHIM}; cat {DKMS_KEY} "
     f">MokListRT1-{SHIM}", "ok", "by somebody, whose key is enrolled", ""),
)
@without_module
@pytest.mark.usefixtures("signed")
def test_the_signer_s_key_is(state, script, verdict, text, command):
    """Found behind another key, which is looked at first."""
    MOK.write_bytes(CERTIFICATE.replace(b"keyx", b"keyy"))
    DKMS_KEY.write_bytes(CERTIFICATE)
    report = apart(script).finds("signature", verdict, text, command)
    if state == "enrolled":
        report.finds("loaded", "problem", "^not loaded$", "^modprobe twheel$")


# Never to be undone: so this comes last.

@without_module
def test_a_kernel_that_is_locked_down_refuses_the_module():
    """And the doctor knows."""
    install_module()
    run("mount", "-t", "securityfs", "none", "/sys/kernel/security")
    try:
        pathlib.Path("/sys/kernel/security/lockdown").write_text("integrity", encoding="ascii")
    except OSError:
        pytest.skip("no lockdown in this kernel")
    assert run("insmod", INSTALLED).status != 0
    look().finds("signature", "problem", r"modules \(lockdown\), and this one is not")
