"""Say what is missing on this machine before anything is built, and how to get it.

With the argument ``java``: what is missing for Spark.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator

MINIMUM = (3, 11)


def missing() -> Iterator[tuple[str, str]]:
    """Yield the missing prerequisites, as (what it is, Debian's package for it)."""
    if importlib.util.find_spec("ensurepip") is None:
        yield "the venv module of this Python", "python3-venv"
    if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
        yield "the headers of this Python (Python.h)", "python3-dev"
    if shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
        yield "a C compiler (cc)", "gcc libc6-dev"


def missing_for_spark() -> Iterator[tuple[str, str]]:
    """Yield the same for Spark. The version of Java is checked when Spark starts."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which(os.path.join(home, "bin", "java") if home else "java") is None:
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "no java on the PATH"
        yield f"Java 17 or newer, which Spark runs on ({where})", "openjdk-17-jre-headless"


def main(*topics: str) -> str | None:
    """List the missing prerequisites, a line for each; None if nothing is missing."""
    if sys.version_info < MINIMUM:
        this, least = sys.version.split()[0], ".".join(map(str, MINIMUM))
        return f"Python {least} or newer is needed, found {this}: name one with make PYTHON=python{least}"
    found = missing_for_spark() if "java" in topics else missing()
    lines = (f"missing: {what}; on Debian: apt-get install {package}" for what, package in found)
    return "\n".join(lines) or None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
