"""Say what is missing on this machine before anything is built, and how to get it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator

MINIMUM = (3, 11)


def missing() -> Iterator[tuple[str, str]]:
    """What must be installed, as (what it is, Debian's package for it)."""
    if importlib.util.find_spec("ensurepip") is None:
        yield "the venv module of this Python", "python3-venv"
    if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
        yield "the headers of this Python (Python.h)", "python3-dev"
    if shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
        yield "a C compiler (cc)", "gcc libc6-dev"


def main() -> str | None:
    """What is missing, in a line for each; None if nothing is."""
    if sys.version_info < MINIMUM:
        found, least = sys.version.split()[0], ".".join(map(str, MINIMUM))
        return f"Python {least} or newer is needed, found {found}: name one with make PYTHON=python{least}"
    lines = (f"missing: {what}; on Debian: apt-get install {package}" for what, package in missing())
    return "\n".join(lines) or None


if __name__ == "__main__":
    sys.exit(main())
