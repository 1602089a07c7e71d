"""The marks that show that a dataset's files are still those that were there when it was opened."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from spark_ingest.datasets import manifest as manifests
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.errors import DatasetError


class Mark(NamedTuple):
    """By what a file is known without reading it.

    Two files may have the same size and footer, and other rows. But one that is made while the other exists
    has another inode, and one that is made later, or written over it, another time.
    """

    inode: int
    bytes: int
    changed_ns: int


class Marks:
    """Of some files, as they are now.

    Args:
        paths: the files; any other is taken as it is.

    Raises:
        OSError: one of them cannot be found.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._marks = {path: _mark(os.stat(path)) for path in paths}

    def check(self, path: Path) -> None:
        """Compare a file that has just been opened; what then takes its place is of no matter.

        If the path still leads to the file that was there, it did so when that was opened. To check the
        opened file itself would need its descriptor, which pyarrow before 25 does not give.

        Raises:
            DatasetError: it is not the one that was there.
            FileNotFoundError: it is there no more.
        """
        if path in self._marks and _mark(os.stat(path)) != self._marks[path]:
            raise _replaced(path)

    def check_missing(self, path: Path) -> None:
        """Compare a file that is not there.

        Raises:
            DatasetError: it was.
        """
        if path in self._marks:
            raise _replaced(path)


UNMARKED = Marks()


def marks_of(dataset: Dataset) -> Marks:
    """Of all files of a dataset that was just opened.

    Raises:
        DatasetError: it has been replaced since.
    """
    try:
        marks = Marks(Path(name) for stream in dataset.streams for name in stream.files)
    except OSError:
        raise _replaced(dataset.path) from None
    # A dataset is replaced as a whole: with the manifest still there, so were the files.
    if manifests.read(dataset.path) != dataset.manifest:
        raise _replaced(dataset.path)
    return marks


def _mark(found: os.stat_result) -> Mark:
    return Mark(found.st_ino, found.st_size, found.st_mtime_ns)


def _replaced(path: Path) -> DatasetError:
    return DatasetError(
        f"{path} is not the one that was opened: the dataset was replaced or changed during the run; "
        "start the run again"
    )
