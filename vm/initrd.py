# SPDX-License-Identifier: GPL-2.0
"""The file system of a guest of vm/run: all that it has is in its initramfs."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
ETC = {
    "etc/passwd": "root:x:0:0:root:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost twheel\n",
}


def run(*command, **more):
    """What a command prints. If it fails, it has said why."""
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=False, **more)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout.rstrip("\n")


def printed(*command):
    """What a command prints that may fail."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          encoding="utf-8", errors="replace", check=False).stdout


def put(root, option, source, dest):
    """Copy a file or folder to a path in the guest, a folder if it ends in /."""
    if not os.path.exists(source):
        sys.exit(f"run: {option}: there is no {source}")
    path = root / dest.lstrip("/")
    if dest.endswith("/"):
        path /= os.path.basename(source.rstrip("/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    run("cp", "-rL", source, path)
    if os.path.isfile(source) and os.access(source, os.X_OK):
        for library in re.findall(r"/[^ \n]*", printed("ldd", source)):
            if not (root / library[1:]).exists():
                run("install", "-D", library, root / library[1:])


def quoted(word):
    """A word for the guest's shell, which takes it for nothing else."""
    return "'" + word.replace("'", r"'\''") + "'"


def settings(args, lines):
    """What vm/init has to know, as variables of the shell: the serial lines among it."""
    # A program that draws on its terminal finds the host's; in a pipe or a log it finds a dumb one.
    term, columns, rows = "dumb", 80, 24
    if os.isatty(1):
        term = os.environ.get("TERM") or term
        columns, rows = shutil.get_terminal_size()
    return f"interactive={args.interactive:d} systemd={'1' if args.systemd else ''}\n" \
        f"term={quoted(term)} cols={columns} rows={rows}\n" \
        f"command_line=/dev/{lines[0]} report_line=/dev/{lines[1]}\n" \
        f"insmod_args={quoted(args.insmod_args)}\n"


def initrd(args, module, tmp, kernel, lines):
    """Make the initramfs, a file in tmp, as the options of vm/run say. A kernel of another
    processor has its own programs."""
    for item in args.get:
        if ":" not in item:
            sys.exit(f"run: --get wants GUEST:HOST, not {item}")
    root = tmp / "root"
    files = {
        **ETC,
        "run/twheel/settings": settings(args, lines),
        "run/twheel/command": " ".join(map(quoted, args.command)),
        "run/twheel/get": "".join(item.partition(":")[0].lstrip("/") + "\n" for item in args.get),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(os.fsencode(text))
    busybox = kernel / "busybox"
    put(root, "busybox", busybox if busybox.exists() else shutil.which("busybox") or "busybox",
        "/bin/busybox")
    if (kernel / "lines.ko").exists():
        put(root, "lines.ko", str(kernel / "lines.ko"), "/run/twheel/")
    put(root, "vm/init", f"{TREE}/vm/init", "/init")
    if module:
        put(root, "--module", module, "/run/twheel/twheel.ko")
    for item in args.put:
        source, _, dest = item.partition(":")
        put(root, "--put", source, dest or "/bin/")
    for number, item in enumerate(args.tree, 1):
        if not os.path.exists(item):
            sys.exit(f"run: --tree: there is no {item}")
        (root / "run/twheel/trees").mkdir(exist_ok=True)
        (root / f"run/twheel/trees/{number}.tar").symlink_to(os.path.realpath(item))
    run("sh", "-c", 'find . -print0 | cpio -0 -o -L -H newc -R 0:0 --quiet >"$1"', "sh",
        tmp / "initrd", cwd=root)
    shutil.rmtree(root)
