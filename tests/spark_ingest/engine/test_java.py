"""Java: none, the wrong one, or one that does not run; found out before Spark is started with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_ingest.engine.java import find_java, java_version, needed_version
from spark_ingest.errors import SparkError

INSTALL = "install Java 17 \\(on Debian: apt-get install openjdk-17-jre-headless\\)"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


def install(home: Path, told: str, status: int = 0) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(exist_ok=True)
    java.write_text(f"#!/bin/sh\necho '{told}' >&2\nexit {status}\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("told", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_371"', 8),
        ('openjdk version "21" 2023', 21),
    ],
)
def test_what_java_says(home: Path, told: str, version: int) -> None:
    assert java_version(install(home, told)) == version


def test_java_home_goes_before_the_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = install(home, 'openjdk version "17.0.1"')
    monkeypatch.setenv("PATH", str(java.parent))
    assert find_java("4.0.0") == java
    monkeypatch.setenv("JAVA_HOME", str(home / "other"))
    with pytest.raises(
        SparkError, match=r"JAVA_HOME is '.*other', but there is no .*other/bin/java: correct or un"
    ):
        find_java("4.0.0")


def test_no_java(home: Path) -> None:
    with pytest.raises(SparkError, match=f"there is none on the PATH and no JAVA_HOME: {INSTALL}"):
        find_java("4.0.0")


def test_a_java_that_is_too_old(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(home, 'openjdk version "11.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(
        SparkError, match=f"is Java 11, but Spark 4.1.0 needs 17 or newer: {INSTALL}, and set JAVA_HOME"
    ):
        find_java("4.1.0")
    assert find_java("3.5.1") == home / "bin" / "java"
    assert needed_version("10.0.0") == 17


def test_what_is_no_java(home: Path) -> None:
    with pytest.raises(SparkError, match="does not say its version, but 'hello"):
        java_version(install(home, "hello"))
    with pytest.raises(SparkError, match="does not run: "):
        java_version(home / "nothing")
