"""A backfill's folder takes the place of another, or of none; without Spark, in a file system of ours."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from py4j.protocol import Py4JError

from spark_ingest.backfill.storing import _Target
from spark_ingest.errors import DatasetError, SparkError


class HadoopPath:
    """As much as is used of Hadoop's class of paths."""

    def __init__(self, path: str) -> None:
        self.path = path

    def toString(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def getParent(self) -> HadoopPath:
        return HadoopPath(os.path.dirname(self.path))

    def getName(self) -> str:
        return os.path.basename(self.path)

    def getFileSystem(self, configuration: Any) -> Any:
        return FileSystem()


class FileSystem:
    """Whose moves are refused, one by one, as `refused` says."""

    refused: tuple[bool, ...] = ()
    deletes: bool = True

    def __init__(self) -> None:
        self._refused = list(self.refused)

    def makeQualified(self, path: HadoopPath) -> HadoopPath:
        return path

    def exists(self, path: HadoopPath) -> bool:
        return os.path.exists(path.path)

    def delete(self, path: HadoopPath, recursive: bool) -> bool:
        if not self.deletes:
            raise Py4JError("no permission")
        shutil.rmtree(path.path, ignore_errors=True)
        return True

    def rename(self, one: HadoopPath, other: HadoopPath) -> bool:
        assert not os.path.exists(other.path), "it would be moved inside"
        if self._refused and self._refused.pop(0):
            return False
        os.rename(one.path, other.path)
        return True


def target_of(folder: Path) -> _Target:
    hadoop = SimpleNamespace(fs=SimpleNamespace(Path=HadoopPath))
    jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(hadoop=hadoop)))
    java = SimpleNamespace(hadoopConfiguration=lambda: None)
    spark: Any = SimpleNamespace(_jvm=jvm, _jsc=java)
    return _Target(spark, str(folder))


def write(folder: Path, what: str) -> None:
    folder.mkdir()
    (folder / what).touch()


def content(folder: Path) -> dict[str, list[str]]:
    return {path.name: os.listdir(path) for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.mark.parametrize("is_there", [True, False])
def test_the_new_one_is_in_its_place_and_nothing_beside(folder: Path, is_there: bool) -> None:
    if is_there:
        write(folder, "old")
    with target_of(folder).replaced() as work:
        write(Path(work), "new")
    assert content(folder.parent) == {"out": ["new"]}


@pytest.mark.parametrize("refused", [(True,), (False, True)], ids=["the old one", "the new one"])
def test_what_cannot_be_moved_leaves_the_old_one(
    folder: Path, refused: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileSystem, "refused", refused)
    write(folder, "old")
    with pytest.raises(DatasetError, match="cannot move"), target_of(folder).replaced() as work:
        write(Path(work), "new")
    assert content(folder.parent) == {"out": ["old"]}


def test_an_error_before_leaves_the_old_one(folder: Path) -> None:
    write(folder, "old")
    with pytest.raises(ValueError, match="too much"), target_of(folder).replaced() as work:
        write(Path(work), "new")
        raise ValueError("too much")
    assert content(folder.parent) == {"out": ["old"]}


def test_an_old_one_that_cannot_be_removed_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(FileSystem, "deletes", False)
    write(folder, "old")
    with target_of(folder).replaced() as work:
        write(Path(work), "new")
    left = next(path for path in folder.parent.iterdir() if path.name.startswith(".out"))
    assert content(folder.parent) == {"out": ["new"], left.name: ["old"]}
    assert f"beside {folder}: no permission" in caplog.text


def test_what_cannot_be_removed_does_not_hide_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileSystem, "deletes", False)
    with pytest.raises(ValueError, match="too much"), target_of(folder).replaced():
        raise ValueError("too much")


def test_what_cannot_be_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exists(files: FileSystem, path: HadoopPath) -> bool:
        raise Py4JError("no such host")

    monkeypatch.setattr(FileSystem, "exists", exists)
    with pytest.raises(SparkError, match=f"^looking at {folder} failed in Spark: no such host$"):
        target_of(folder).check(False)
