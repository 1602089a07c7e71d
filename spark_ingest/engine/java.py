"""The Java that Spark is to run on: found and checked before anything is started with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from spark_ingest.errors import SparkError

WANTED = "install Java 17 (on Debian: apt-get install openjdk-17-jre-headless)"
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ANSWERS_WITHIN_S = 60


def find_java(spark_version: str) -> Path:
    """The ``java`` that Spark will be started with.

    Args:
        spark_version: e.g. ``"4.0.1"``; decides which Java is too old.

    Raises:
        SparkError: there is none, JAVA_HOME has none, or it is too old; says what to do.
    """
    java = _located()
    found, needed = java_version(java), needed_version(spark_version)
    if found < needed:
        raise SparkError(
            f"{java} is Java {found}, but Spark {spark_version} needs {needed} or newer: {WANTED}"
            f"{', and set JAVA_HOME to it' if 'JAVA_HOME' in os.environ else ''}"
        )
    return java


def needed_version(spark_version: str) -> int:
    """The oldest Java that a version of Spark runs on."""
    return 17 if int(spark_version.partition(".")[0]) >= 4 else 8


def java_version(java: Path) -> int:
    """The feature release of a Java, e.g. 17; 8 for ``1.8.0``.

    Raises:
        SparkError: the program does not run, or is no Java.
    """
    try:
        ran = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=_ANSWERS_WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkError(f"{java} does not run: {error}; {WANTED}") from error
    found = _VERSION.search(ran.stderr + ran.stdout)
    if found is None:
        raise SparkError(f"{java} does not say its version, but {ran.stderr[:200]!r}; {WANTED}")
    return int(found[1])


def _located() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if not os.access(java, os.X_OK):
            raise SparkError(
                f"JAVA_HOME is {home!r}, but there is no {java}: correct or unset it, or {WANTED}"
            )
        return java
    found = shutil.which("java")
    if found is None:
        raise SparkError(f"Spark needs Java, and there is none on the PATH and no JAVA_HOME: {WANTED}")
    return Path(found)
