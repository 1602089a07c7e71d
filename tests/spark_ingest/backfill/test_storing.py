"""A backfill's folder takes the place of another, or of none; without Spark, in a file system of ours."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from spark_ingest.backfill.storing import _Target
from spark_ingest.errors import DatasetError


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

    def __init__(self) -> None:
        self._refused = list(self.refused)

    def makeQualified(self, path: HadoopPath) -> HadoopPath:
        return path

    def exists(self, path: HadoopPath) -> bool:
        return os.path.exists(path.path)

    def delete(self, path: HadoopPath, recursive: bool) -> bool:
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
