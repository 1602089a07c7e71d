"""Identities of jobs and their input: equal only where preparing again would make the same dataset."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_ingest.datasets.formats import PARQUET, Format
from spark_ingest.datasets.manifest import FORMAT_VERSION
from spark_ingest.engine.session import set_for_now
from spark_ingest.job.files import is_local
from spark_ingest.job.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from spark_ingest.job.spec import JobSpec

_WITHOUT_DATA = ("OneRowRelation", "CTERelationRef", "CTERelationDef", "Range")
_EXPRESSION_ID = re.compile(r"#\d+L?")


def identity_of_files(job: JobSpec, stored: Format) -> str | None:
    """The identity of a job over local files, found without Spark; None for any other.

    Covers the files' paths, sizes and times of change, and every setting that decides what is made of them.

    Raises:
        JobError: there are no such files.
    """
    if job.source.files is None or not all(map(is_local, job.source.files)):
        return None
    paths = job.source.paths()
    if any("{" in path for path in paths):
        return None
    return _digest(job, stored, [list(entry) for path in paths for entry in _entries(path)])


def identity_of_plan(job: JobSpec, stored: Format, df: DataFrame) -> str | None:
    """The identity of any other job, from Spark's plan of it and the files that this reads.

    None where it cannot be known whether the next run would read the same: a DataFrame made in Python, a
    source that is no files, an expression that is random.
    """
    if job.source.kind == "frame" or not df._jdf.queryExecution().analyzed().deterministic():
        return None
    inputs = _inputs(df, job.source.kind)
    return None if inputs is None else _digest(job, stored, [_plan(df), _code(job.source), *inputs])


def _digest(job: JobSpec, stored: Format, inputs: list[Any]) -> str:
    settings = {key: value for key, value in job.conf.items() if key.startswith("spark.sql.")}
    asked = [job.source.to_plain(), asdict(job.streams), asdict(job.quality), settings, inputs]
    if stored is not PARQUET:  # as which datasets were stored before there was a choice
        asked.append(stored.name)
    return hashlib.sha256(json.dumps([FORMAT_VERSION, *asked], sort_keys=True).encode()).hexdigest()


def _entries(path: str) -> Iterator[tuple[str, int, int]]:
    """Path, bytes and time of change of the files at a path; what Spark skips in folders is left out."""
    return _below(re.sub(r"\\(.)", r"\1", path), frozenset())


def _below(path: str, above: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Like Spark, through links to folders; but not into one that lies in itself, where Spark fails."""
    if not os.path.isdir(path):
        yield _entry(path)
        return
    real = os.path.realpath(path)
    if real in above:
        return
    for name in sorted(filter(_is_read, os.listdir(path))):
        inner = os.path.join(path, name)
        if os.path.exists(inner):
            yield from _below(inner, above | {real})


def _is_read(name: str) -> bool:
    """Of a file or folder in a folder, as Spark's `HadoopFSUtils.shouldFilterOutPathName` has it."""
    if name.startswith(("_metadata", "_common_metadata")):
        return True
    hidden = name.startswith(".") or (name.startswith("_") and "=" not in name)
    return not hidden and not name.endswith("._COPYING_")


def _entry(path: str) -> tuple[str, int, int]:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns


def _plan(df: DataFrame) -> list[str]:
    """The analysed plan, with the views that it uses, and the optimized one, where the time now is a number.

    Without what differs from session to session.
    """
    execution = df._jdf.queryExecution()
    with set_for_now(df.sparkSession, {"spark.sql.debug.maxToStringFields": "100000"}):
        plans = [execution.analyzed().toString(), execution.optimizedPlan().toString()]
    return [_EXPRESSION_ID.sub("", plan) for plan in plans]


def _code(source: Source) -> str | None:
    """The module of the function, which may do its work in others of its functions."""
    if source.function is None:
        return None
    file = inspect.getsourcefile(inspect.unwrap(source.load_function()))
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else None


def _inputs(df: DataFrame, kind: str) -> list[list[Any]] | None:
    """Path, bytes and time of change of all files that are read; None if something else is read, too."""
    analyzed = df._jdf.queryExecution().analyzed()
    plans = [analyzed, *_items(analyzed.subqueriesAll())]
    files: list[str] = []
    for leaf in (leaf for plan in plans for leaf in _items(plan.collectLeaves())):
        name = leaf.getClass().getSimpleName()
        if name == "LogicalRelation" and leaf.relation().getClass().getSimpleName() == "HadoopFsRelation":
            files += leaf.relation().location().inputFiles()
        elif name not in _WITHOUT_DATA and not (name == "LocalRelation" and kind == "query"):
            return None
    return [_status(df, path) for path in sorted(set(files))]


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(i) for i in range(sequence.size())]


def _status(df: DataFrame, path: str) -> list[Any]:
    """Asked of the file system that Spark reads it from."""
    jvm: Any = df.sparkSession._jvm
    where = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI.create(path))
    hadoop = df.sparkSession._jsparkSession.sessionState().newHadoopConf()
    found = where.getFileSystem(hadoop).getFileStatus(where)
    return [path, found.getLen(), found.getModificationTime()]
