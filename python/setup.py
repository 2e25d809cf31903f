# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pyproject.toml has no words for: the extensions, and where libtwheel is.

pkg-config tells that; or $TWHEEL_PREFIX, where make install PREFIX= has put it.
"""
import os
import shlex
import subprocess
import sys

from setuptools import Extension, setup


def pkg_config(option):
    """What pkg-config says of libtwheel; None: nothing."""
    try:
        run = subprocess.run(["pkg-config", option, "libtwheel"], check=True,
                             capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return shlex.split(run.stdout)


def library():
    """How an extension finds the library."""
    prefix = os.environ.get("TWHEEL_PREFIX")
    if prefix:
        lib = os.path.join(prefix, "lib")
        return {"include_dirs": [os.path.join(prefix, "include")], "library_dirs": [lib],
                "runtime_library_dirs": [lib], "libraries": ["twheel"]}
    flags = pkg_config("--cflags")
    if flags is None:
        sys.exit("pkg-config does not find libtwheel: make install it, or say where it is by"
                 " TWHEEL_PREFIX=/where/it/is")
    return {"extra_compile_args": flags, "extra_link_args": pkg_config("--libs")}


how = library()
how["extra_compile_args"] = ["-std=gnu11", "-Wall", "-Wextra",
                             *how.get("extra_compile_args", [])]
setup(ext_modules=[
    Extension(f"twheel._{name}", [f"src/{name}.c"], depends=["src/common.h"], **how)
    for name in ("wheel", "loop")
])
