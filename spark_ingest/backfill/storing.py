"""The outputs of a backfill as Parquet files, in a folder that appears whole or not at all."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from framework.version import VERSION
from spark_ingest.backfill.asking import ask
from spark_ingest.backfill.early import SUMMARY, check_early, refused
from spark_ingest.backfill.errors import understood
from spark_ingest.backfill.running import Backfill, opened
from spark_ingest.engine.failing import short
from spark_ingest.engine.progress import OnProgress, followed
from spark_ingest.errors import DatasetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


def backfill_to(
    topology: object,
    folder: str | PathLike[str],
    outputs: Sequence[str],
    *,
    force: bool = False,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> Mapping[str, int]:
    """Run a topology over the history of its spouts, and write what it emits.

    Each output becomes a folder of Parquet files, ``late/early`` the folder ``late.early``, with the columns
    of a `Backfill`. Within a file rows are in the order of their positions.

    Args:
        topology: as of `backfill`, like `outputs` and `options`.
        folder: a path, or a URL that Spark and its executors can write to (``hdfs://...``).
        outputs: the streams that are wanted.
        force: replace what a backfill has written there before.
        on_progress: called with Spark's progress, from another thread.
        options: further arguments of `backfill`.

    Returns:
        The number of rows of each output.

    Raises:
        DatasetError: the folder holds something, or cannot be written.
        BackfillError: a component raised; the folder is as it was.
        ViperError: as of `backfill`.
    """
    path = fspath(folder)
    asked = ask(topology, outputs, **options)
    check_early(path, asked.conf, force)
    with opened(asked, lambda spark: _target(spark, path).check(force)) as made:
        target = _target(made.spark, path)
        with target.replaced() as work:
            return _write(made, work, target, on_progress)


def _write(made: Backfill, work: str, target: _Target, on_progress: OnProgress | None) -> Mapping[str, int]:
    rows: dict[str, int] = {}
    for name, frame in made.items():
        path = f"{work}/{_folder_of(name)}"
        with understood(f"output {name!r}"), followed(made.spark, f"writing {name}", on_progress):
            frame.write.parquet(path)
            rows[name] = made.spark.read.schema(frame.schema).parquet(path).count()
    outputs = {
        name: {"folder": _folder_of(name), "schema": frame.schema.simpleString(), "rows": rows[name]}
        for name, frame in made.items()
    }
    with understood(f"writing {SUMMARY}"):
        text = json.dumps({"version": VERSION, "outputs": outputs}, indent=2)
        target.write(f"{work}/{SUMMARY}", text + "\n")
    return rows


def _target(spark: SparkSession, folder: str) -> _Target:
    with understood(f"looking at {folder}"):
        return _Target(spark, folder)


def _folder_of(output: str) -> str:
    return output.replace("/", ".")


class _Target:
    """A folder of any file system that Spark knows."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._jvm: Any = spark._jvm
        plain = self._path(folder)
        self._files: Any = plain.getFileSystem(spark._jsc.hadoopConfiguration())
        self._folder: Any = self._files.makeQualified(plain)
        self._name = folder

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def check(self, force: bool) -> None:
        """Refuse a folder that nothing may be written to.

        Raises:
            DatasetError: it may not.
            SparkError: that cannot be seen.
        """
        with understood(f"looking at {self._name}"):
            if not self._files.exists(self._folder) or self._is_empty():
                return
            is_ours = self._files.exists(self._path(f"{self._folder}/{SUMMARY}"))
        why = refused(self._name, is_ours, force)
        if why is not None:
            raise DatasetError(why)

    def _is_empty(self) -> bool:
        status = self._files.getFileStatus(self._folder)
        return bool(status.isDirectory()) and len(self._files.listStatus(self._folder)) == 0

    @contextmanager
    def replaced(self) -> Iterator[str]:
        """A folder beside it that takes its place at the end of the block, or is gone where that raises."""
        with understood(f"looking at {self._name}"):
            parent, name = self._folder.getParent(), self._folder.getName()
            work = self._path(f"{parent}/.{name}.{uuid4().hex}")
        try:
            yield str(work.toString())
            with understood(f"putting {self._name} in place"):
                self._put(work)
        except BaseException:
            self._remove(work)
            raise

    def _put(self, work: Any) -> None:
        """Have it take the folder's place; what was there is gone only once it has."""
        old = self._path(f"{work.toString()}.old")
        try:
            if self._files.exists(self._folder):
                self._move(self._folder, old)
            self._move(work, self._folder)
        except BaseException:
            # Not into a folder that is there: a file system would move it inside.
            if self._files.exists(old) and not self._files.exists(self._folder):
                self._move(old, self._folder)
            raise
        self._remove(old)

    def _remove(self, folder: Any) -> None:
        """Remove what nobody needs; a failure to do so is not reported as the error."""
        from py4j.protocol import Py4JError

        try:
            self._files.delete(folder, True)
        except (Py4JError, OSError) as error:
            log.warning("cannot remove what is left of a backfill beside %s: %s", self._name, short(error))

    def _move(self, one: Any, other: Any) -> None:
        if not self._files.rename(one, other):
            raise DatasetError(f"cannot move {one.toString()} to {other.toString()}")

    def write(self, path: str, text: str) -> None:
        """Write a small file."""
        stream = self._files.create(self._path(path))
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
