"""Programs that the set-up lacks are reported with Debian's packages for them."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "prerequisites.py"


@pytest.fixture
def prerequisites() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prerequisites", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_missing_where_the_tests_run(prerequisites: ModuleType) -> None:
    assert prerequisites.main() is None


def test_everything_that_is_missing_is_said_at_once(
    prerequisites: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": "/nowhere"})
    monkeypatch.setattr(shutil, "which", lambda _: None)
    lines = prerequisites.main().splitlines()
    packages = [line.partition("apt-get install ")[2] for line in lines]
    assert packages == ["python3-venv", "python3-dev", "gcc libc6-dev"]


def test_an_old_python_is_named(prerequisites: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    assert prerequisites.main().startswith("Python 3.11 or newer is needed, found ")


class TestJava:
    @pytest.fixture(autouse=True)
    def no_java_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)

    @pytest.fixture
    def without_java(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("PATH", str(tmp_path))
        return tmp_path

    def test_that_it_is_missing_is_said_with_the_package(
        self, prerequisites: ModuleType, without_java: Path
    ) -> None:
        assert prerequisites.main("java") == (
            "missing: Java 17 or newer, which Spark runs on (no java on the PATH); "
            "on Debian: apt-get install openjdk-17-jre-headless"
        )

    def test_a_home_without_java_is_named(
        self, prerequisites: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        assert f"(JAVA_HOME is {tmp_path}, which has no bin/java)" in prerequisites.main("java")

    def test_java_on_the_path_is_enough(self, prerequisites: ModuleType, without_java: Path) -> None:
        (without_java / "java").touch(mode=0o755)
        assert prerequisites.main("java") is None
