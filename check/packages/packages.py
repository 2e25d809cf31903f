# SPDX-License-Identifier: GPL-2.0
"""The packages of this tree, as each system has them, and what there is to know of a package."""
import os
import pathlib
import re
import subprocess

from commands import run

TREE = pathlib.Path(__file__).resolve().parents[2]
VERSION = (TREE / "VERSION").read_text("ascii").strip()
LATER = re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), VERSION)


def do(*command, **options):
    """Run a command that has to succeed, in this tree."""
    result = run(*command, **{"cwd": TREE, "timeout": 1500, **options})
    assert result.status == 0
    return result


def output(*command):
    """What a command prints, of which a test that fails shows nothing else."""
    return subprocess.check_output([str(word) for word in command], cwd=TREE, encoding="utf-8")


def tree_files():
    """The files that git knows or would take."""
    return output("bash", "-c", ". vm/lib && tree_files").splitlines()


def another(version, folder):
    """A copy of this tree that says it is this version."""
    folder.mkdir()
    do("bash", "-c", '. vm/lib && tree_files | tar -c -T - | tar -x -C "$1"', "bash", folder)
    for name in "VERSION", "dkms.conf", "debian/changelog", "lib/twheel.h":
        text = (folder / name).read_text("utf-8")
        (folder / name).write_text(text.replace(VERSION, version), "utf-8")
    return folder


def paths_of(listing):
    """The paths in a listing as ls -l prints it, but for folders and files about the package."""
    lines = [line.partition(" -> ")[0] for line in listing.splitlines() if line[0] != "d"]
    paths = {re.sub(r"^\.?/", "", line.split()[-1]) for line in lines}
    return {f"/{path}" for path in paths if path[0] != "."}


class Deb:
    """Packages of Debian."""
    name, files = "deb", "*.deb"
    packages = {"twheel-dkms", "libtwheel0", "libtwheel-dev", "twheel-tools", "twheel-doc"}
    build = "debian/build"

    @staticmethod
    def of(file):
        """The name and the version of a package."""
        return tuple(output("dpkg-deb", "-W", "--showformat=${Package} ${Version}", file).split())

    @staticmethod
    def paths(file):
        """The files in a package, but for what each distribution has for licences and changes."""
        return {path for path in paths_of(output("dpkg-deb", "-c", file))
                if not path.startswith("/usr/share/doc/")}


class Rpm:
    """Packages of Fedora."""
    name, files = "rpm", "*.rpm"
    packages = {"twheel-dkms", "libtwheel", "libtwheel-devel", "twheel-tools"}
    build = "contrib/rpm/build"
    # Debian's packages with the same files.
    same = {"twheel-dkms": ["twheel-dkms"], "libtwheel": ["libtwheel0"],
            "libtwheel-devel": ["libtwheel-dev"], "twheel-tools": ["twheel-tools"]}
    # Fedora's macros compress man pages, and Debian's rpm has none of these.
    compressed = False

    @staticmethod
    def libdir():
        """Where its libraries are."""
        return output("rpm", "--eval", "%{_libdir}").strip()

    @staticmethod
    def of(file):
        """The name and the version of a package."""
        return tuple(output("rpm", "-qp", "--qf", "%{NAME} %{VERSION}", file).split())

    @staticmethod
    def paths(file):
        """The files in a package, but for what each distribution has for licences and changes."""
        listing = output("rpm", "-qp", "--qf", r"[%{FILEMODES:perms} %{FILENAMES}\n]", file)
        return {path for path in paths_of(listing)
                if not path.startswith(("/usr/share/licenses/", "/usr/lib/.build-id/"))}

    @staticmethod
    def install(files, folder):
        """Unpack packages, without root and without a database."""
        root = folder / "root"
        root.mkdir()
        for file in files:
            do("sh", "-c", 'rpm2cpio "$1" | cpio -idm --quiet', "sh", file, cwd=root)
        return root


class Arch:
    """Packages of Arch Linux."""
    name, files = "arch", "*.pkg.tar.*"
    packages = {"twheel-dkms", "libtwheel", "twheel-tools"}
    build = "contrib/arch/build"
    same = {"twheel-dkms": ["twheel-dkms"], "libtwheel": ["libtwheel0", "libtwheel-dev"],
            "twheel-tools": ["twheel-tools"]}
    compressed = True

    @staticmethod
    def libdir():
        """Where its libraries are."""
        return "/usr/lib"

    @staticmethod
    def of(file):
        """The name and the version of a package."""
        info = output("bsdtar", "-xOf", file, ".PKGINFO")
        name, version = (re.search(f"(?m)^{key} = (.*)$", info)[1] for key in ("pkgname", "pkgver"))
        return name, version.removesuffix("-1")

    @staticmethod
    def paths(file):
        """The files in a package, but for what each distribution has for licences and changes."""
        return {path for path in paths_of(output("bsdtar", "-tvf", file))
                if not path.startswith("/usr/share/licenses/")}

    @staticmethod
    def install(files, folder):
        """Have pacman install packages into an empty folder."""
        pacman = Pacman(folder)
        pacman.install(files)
        return pacman.root


class Pacman:
    """pacman, which is told that a folder is all of the machine."""

    def __init__(self, folder):
        self.root, self.config = folder / "root", folder / "pacman.conf"
        for name in "root", "db", "hooks":
            (folder / name).mkdir()
        self.config.write_text(f"""[options]
RootDir = {self.root}
DBPath = {folder}/db
CacheDir = {folder}/cache
HookDir = {folder}/hooks
GPGDir = {folder}/gnupg
LogFile = {folder}/log
Architecture = auto
SigLevel = Never
""", "utf-8")

    def __call__(self, *words):
        """It wants to be root."""
        return do("fakeroot", "--", "pacman", "--config", self.config, "--noconfirm", *words)

    def install(self, files):
        """Twice --nodeps: the folder has neither what these need nor its versions."""
        self("-U", "--nodeps", "--nodeps", *files)

    def has(self, version):
        """pacman has the packages of this version and no others, and all of their files."""
        self("-Qk")
        assert self("-Q").lines == [f"{name} {version}-1" for name in sorted(Arch.packages)]


def twheel(root):
    """The version that the command says which is installed there."""
    return do(root / "usr/bin/twheel", "--version").out


class Program:
    """A program that is built with the library in a folder, as its pkg-config says."""
    text = r"""
#include <stdio.h>
#include <twheel.h>

int main(void)
{
    struct twheel *wheel;

    printf("%s %s\n", twheel_version(), TWHEEL_VERSION);
    return twheel_open(&wheel, NULL);
}
"""

    def __init__(self, root, libdir, folder):
        self.program, self.libraries = folder / "program", f"{root}{libdir}"
        flags = do("pkg-config", "--cflags", "--libs", "libtwheel",
                   env={"PKG_CONFIG_PATH": f"{self.libraries}/pkgconfig",
                        "PKG_CONFIG_SYSROOT_DIR": root}).out.split()
        do("gcc", "-x", "c", "-o", self.program, "-", *flags, stdin=self.text)

    def versions(self):
        """Of the library that the loader finds, and of the header that it was built with."""
        return do(self.program, env={"LD_LIBRARY_PATH": self.libraries}).out.split()


def only_these(folder, *programs):
    """A folder for PATH that has no other programs."""
    folder.mkdir()
    for name in programs:
        path = next(found for part in os.environ["PATH"].split(":")
                    if os.access(found := pathlib.Path(part, name), os.X_OK))
        (folder / name).symlink_to(path)
    return folder
