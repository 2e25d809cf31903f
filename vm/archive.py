# SPDX-License-Identifier: GPL-2.0
"""Packages of other Debians, and of other processors, by an apt that keeps its index in a folder of
its own: nothing is installed, and the machine's own index stays as it is."""
import os
import pathlib
import re
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What the makefiles of a kernel call, whose compiler is in a root.
PROGRAMS = ("base-files", "dash", "coreutils", "diffutils", "findutils", "grep", "mawk", "sed",
            "make", "binutils", "perl")
# Debian's name of a processor, the kernel's, and that of its compilers.
PROCESSORS = {"amd64": ("x86_64", "x86-64-linux-gnu"), "arm64": ("arm64", "aarch64-linux-gnu"),
              "riscv64": ("riscv", "riscv64-linux-gnu"), "s390x": ("s390", "s390x-linux-gnu"),
              "i386": ("i386", "i686-linux-gnu")}


def output(*command, folder=TREE, **options):
    """What a command prints; an exception if it fails."""
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True,
                          encoding="utf-8", cwd=folder, **options).stdout.strip()


def of_shell(line):
    """What a line of shell prints that uses vm/lib."""
    return output("bash", "-euc", f". vm/lib; {line}")


def of_machine():
    """apt's lines for the archives from which this machine has its own Debian."""
    lines = of_shell("mirror >/dev/null; apt-get indextargets "
                     "--format '$(LABEL) $(REPO_URI) $(RELEASE) $(COMPONENT)'").splitlines()
    return "".join(f"{line}\n" for line in sorted(
        {re.sub(r"^Debian\S*", f"deb [signed-by={KEYRING}]", line) for line in lines
         if re.match(r"Debian\S* .* main$", line)}, key=lambda line: -line.count("-")))


class Archive:
    """What apt says of the suites of some sources, the last of which it prefers."""

    def __init__(self, folder, processor=None):
        self.sources, self.lists = folder / "sources.list", folder / "lists"
        for place in "lists/partial", "cache/archives/partial":
            (folder / place).mkdir(parents=True, exist_ok=True)
        self.options = [f"-o{name}={value}" for name, value in {
            "Dir::Etc::SourceList": self.sources, "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null", "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State": folder, "Dir::State::status": "/dev/null",
            "Dir::Cache": folder / "cache", "APT::Sandbox::User": "",
            "Acquire::Languages": "none", "Acquire::Retries": 1, "Acquire::http::Timeout": 10,
            "Acquire::https::Timeout": 10}.items()]
        if processor:
            self.options.append(f"-oAPT::Architectures::={processor}")

    def update(self, sources):
        """Ask the archives what they have."""
        self.sources.write_text(sources, "ascii")
        try:
            self.ask("apt-get", "-q", "-oAPT::Update::Error-Mode=any", "update",
                     env={**os.environ, "LC_ALL": "C"}, stderr=subprocess.PIPE)
        except subprocess.CalledProcessError as why:
            print(why.stderr, file=sys.stderr, flush=True)
            raise
        self.lists.touch()

    def ask(self, program, *words, **options):
        """What a program of apt prints."""
        suite = self.sources.read_text("ascii").split()[-2]
        # Of which apt takes nothing unless it is told to.
        prefer = [f"-oAPT::Default-Release={suite}"] if re.search("-|experimental", suite) else []
        return output(program, *self.options, *prefer, *words, **options)

    def depends(self, package):
        """The packages that a package depends on, the first of alternatives."""
        found = re.search("(?m)^Depends: (.*)",
                          self.ask("apt-cache", "show", "--no-all-versions", package))
        return re.findall(r"(?:^|, *)([^ ,:|]+)", found[1]) if found else []

    def version(self, package):
        """The version that would be installed, or ""."""
        found = re.search(r"(?m)^  Candidate: ([^(].*)", self.ask("apt-cache", "policy", package))
        return found[1] if found else ""

    def fetch(self, package, folder):
        """Download a package into a folder, unless its version is there; its file."""
        name, _, processor = package.partition(":")
        # apt writes the epoch's colon, if any, as %3a. A file is complete when it has its name.
        pattern = f"{name}_{self.version(package).replace(':', '%3a')}_{processor or '*'}.deb"
        if not list(folder.glob(pattern)):
            self.ask("apt-get", "-q", "download", package, folder=folder)
        return next(folder.glob(pattern))

    def compilers(self, headers, processor):
        """The packages of the cross compiler that some headers of a kernel want."""
        versions = re.findall(r"gcc-(\d+)", " ".join(self.depends(f"{headers}:{processor}")))
        return {f"gcc-{version}-{PROCESSORS[processor][1]}" for version in versions}
