"""Files as Spark reads them: which they are, and how they are read."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.model.topology import did_you_mean, one_of, unknown
from spark_ingest.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".snappy", ".lz4"}
FORMATS = sorted(set(SUFFIXES.values()))
_NAMELESS = re.compile(r"_c\d+")


@dataclass(frozen=True)
class Files:
    """Files of one format, and how to read them.

    Raises:
        JobError: a value that is none of those allowed.
    """

    files: tuple[str, ...]
    """Paths, folders or globs; local ones are relative to the current folder. A text is one of them."""
    format: str | None = None
    """E.g. ``csv``. None: by the first file's suffix."""
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Spark's options for reading that format, e.g. ``header: true``."""
    schema: str | None = None
    """Columns and their types as in SQL (``id long, at timestamp``), for formats that do not know them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", paths_of(self.files))
        if not isinstance(self.options, Mapping):
            raise JobError(f"options is {self.options!r}: expected names and values, e.g. {{'header': True}}")

    @classmethod
    def of_view(cls, name: str, view: Any, shared: Mapping[str, Any]) -> Files:
        """The files that a view of a query stands for.

        Args:
            name: of the view, for messages.
            view: a path, a list of them, or a mapping with `files` and the values for this view alone.
            shared: format, options and schema of all views; what the view itself says counts more.
        """
        described = dict(view) if isinstance(view, Mapping) else {"files": view}
        for key in described:
            if key not in ("files", *shared):
                raise JobError(f"view {name!r}: {unknown('keyword', key, ['files', *shared])}")
        own, common = described.get("options") or {}, shared.get("options") or {}
        if isinstance(own, Mapping) and isinstance(common, Mapping):
            described["options"] = {**common, **own}
        try:
            return cls(**{"files": (), **shared, **described})
        except JobError as error:
            raise JobError(f"view {name!r}: {error}") from None

    def paths(self) -> tuple[str, ...]:
        """Absolute paths, globs resolved, sorted; URLs (``s3a://...``) as they are.

        Raises:
            JobError: a local path or glob that matches nothing.
        """
        return tuple(path for pattern in self.files for path in _resolved(pattern))

    def check(self) -> None:
        """Check as much as can be seen without Spark.

        Raises:
            JobError: there are no such files, or nothing says what they are.
        """
        self.paths()
        self.kind()

    def read(self, spark: SparkSession) -> DataFrame:
        """The rows.

        Raises:
            JobError: there are no such files, Spark has no such format, the schema cannot be read, or there
                are no columns.
        """
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        paths = list(self.paths())
        try:
            frame = self._reader(spark).load(paths)
        except (Py4JError, PySparkException) as error:
            if "DATA_SOURCE_NOT_FOUND" not in str(error):
                raise
            raise JobError(
                f"format is {self.format!r}, which Spark does not have: expected {one_of(FORMATS)}, or "
                f"another one that is installed there{did_you_mean(str(self.format), FORMATS)}"
            ) from error
        if not frame.columns:
            raise JobError(
                f"{_listed(self.files)} has no columns: it is empty; leave it out, or give schema= "
                "(id long, at timestamp)"
            )
        return frame

    def _reader(self, spark: SparkSession) -> DataFrameReader:
        from pyspark.errors import ParseException

        from spark_ingest.engine.failing import short

        reader = spark.read.format(self.kind()).options(**self.options)
        try:
            return reader.schema(self.schema) if self.schema else reader
        except ParseException as error:
            raise JobError(
                f"schema is {self.schema!r}, which Spark cannot read ({short(error)}): "
                "expected names and types as in SQL: 'id long, at timestamp'"
            ) from error

    def kind(self) -> str:
        """The format, which the first file's suffix says where nothing else does.

        Raises:
            JobError: the suffix says nothing.
        """
        return self.format or _format_of(self.files[0])


def paths_of(value: Any) -> tuple[str, ...]:
    """The paths that a value stands for, one alone or several.

    Raises:
        JobError: they are none.
    """
    several = value if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else [value]
    paths = tuple(several)
    if not all(isinstance(path, str | os.PathLike) for path in paths):
        raise JobError(f"files is {value!r}: expected a path, a glob or a list of them")
    if not all(map(os.fspath, paths)) or not paths:
        raise JobError("files is empty: expected a path, a glob or a list of them")
    return tuple(map(os.fspath, paths))


def without_names(columns: Iterable[str]) -> str:
    """A hint for messages about columns whose names Spark has made up; empty without such columns."""
    if not any(map(_NAMELESS.fullmatch, columns)):
        return ""
    return (
        "; _c0, _c1, ... are Spark's names for columns of CSV files whose first line counts as data: "
        "if it has the names, read them with the option header=true"
    )


def is_local(path: str) -> bool:
    """True if a path is one of this machine's file system, and no URL."""
    return "://" not in path and not path.startswith("file:")


def _resolved(pattern: str) -> Sequence[str]:
    if not is_local(pattern):
        return [pattern]
    absolute = os.path.abspath(os.path.expanduser(pattern))
    if os.path.exists(absolute):
        return [_literally(absolute)]
    if "{" in absolute:  # Spark's globs know alternatives, Python's do not.
        return [absolute]
    found = sorted(glob.glob(absolute))
    if not found:
        what = "no file matches" if glob.has_magic(absolute) else "there is no"
        raise JobError(f"files: {what} {pattern!r} in {os.getcwd()}")
    return list(map(_literally, found))


def _literally(path: str) -> str:
    """A path as Spark takes it, which sees a glob in every one."""
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", path)


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"files: {files[0]!r}{more}"


def _format_of(path: str) -> str:
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED]
    known = SUFFIXES.get(suffixes[-1].lower()) if suffixes else None
    if known is None:
        raise JobError(
            f"files: {path!r} does not say what it is: give format= "
            f"({one_of(FORMATS)}, or any other that Spark has)"
        )
    return known
