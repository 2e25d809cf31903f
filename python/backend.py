# SPDX-License-Identifier: LGPL-2.1-or-later
"""How pip and build make a wheel of this folder: by setuptools, on a copy, because it leaves files
beside the sources.

pip hides from a build what is installed, and downloads what it needs. Here a build uses the
setuptools that is installed, if there is one, so that it needs no network."""
import contextlib
import importlib.util
import os
import shutil
import site
import sys
import sysconfig
import tempfile

# Where a virtual environment has packages, and the Python that it was made from.
sys.path += site.getsitepackages()
for scheme in {"posix_prefix", "deb_system"}.intersection(sysconfig.get_scheme_names()):
    sys.path.append(sysconfig.get_path("purelib", scheme, {"base": sys.base_prefix}))


def missing(config_settings=None):
    """What pip has to download."""
    return [name for name in ("setuptools", "wheel") if not importlib.util.find_spec(name)]


@contextlib.contextmanager
def copied():
    """The current folder is a copy."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(shutil.copytree(here, f"{folder}/twheel", ignore=shutil.ignore_patterns("build")))
        try:
            yield
        finally:
            os.chdir(here)


def hook(name):
    """Setuptools' function of that name, in a copy."""
    def call(folder, *settings):
        from setuptools import build_meta  # pylint: disable=import-outside-toplevel
        folder = os.path.abspath(folder)
        with copied():
            return getattr(build_meta, name)(folder, *settings)
    return call


get_requires_for_build_wheel = get_requires_for_build_sdist = missing
build_wheel, build_sdist = hook("build_wheel"), hook("build_sdist")
