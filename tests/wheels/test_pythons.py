"""The interpreters that are taken for a release, and the messages about the others."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest

from tests.wheels.pythons import UnusableError, find, supported

OLDEST = supported()[0]
GOOD = {"version": OLDEST.removeprefix("python"), "exact": "3.x.7", "headers": True, "venv": True}


def program(folder: Path, name: str, script: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def answering(folder: Path, name: str, **answer: object) -> str:
    """An interpreter that says of itself what it is told to."""
    return program(folder, name, f"echo '{json.dumps({**GOOD, **answer})}'")


def test_the_versions_are_those_of_the_metadata_from_the_oldest_on() -> None:
    minors = [int(name.removeprefix("python3.")) for name in supported()]
    assert minors == list(range(11, 11 + len(minors)))
    assert len(minors) >= 3


def test_the_interpreter_of_the_tests_can_build() -> None:
    assert find(sys.executable).exact == platform.python_version()


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(UnusableError, match="not found on this machine"):
        find("python3.999")


def test_a_program_that_only_refuses_is_no_python(tmp_path: Path) -> None:
    refusing = program(tmp_path, OLDEST, "echo 'no such version is chosen' >&2; exit 127")
    with pytest.raises(UnusableError, match="does not start: no such version is chosen"):
        find(refusing)


def test_a_program_of_another_version_than_its_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=r"it is Python 3\.x\.7"):
        find(answering(tmp_path, supported()[1]))


def test_a_version_that_is_not_supported_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match=rf"Python 3\.9\.1 is none of {OLDEST}, "):
        find(answering(tmp_path, "python3", version="3.9", exact="3.9.1"))


@pytest.mark.parametrize(("what", "package"), [("headers", "dev"), ("venv", "venv")])
def test_what_is_missing_is_told_with_its_package(tmp_path: Path, what: str, package: str) -> None:
    with pytest.raises(UnusableError, match=f"without .*{what}; .* {OLDEST}-{package}$"):
        find(answering(tmp_path, OLDEST, **{what: False}))


def test_one_that_has_everything_is_taken(tmp_path: Path) -> None:
    assert find(answering(tmp_path, OLDEST)).exact == "3.x.7"
