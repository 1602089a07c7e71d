"""Anything that Spark reads, described by plain values."""

from __future__ import annotations

import glob
import os
import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.declaration import shown
from framework.errors import LoadError, ViperError
from framework.importing import import_object
from framework.topology import one_of, unknown
from spark_ingest.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

KINDS = ("files", "table", "query", "function")
SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc"}
COMPRESSED = {".gz", ".bz2", ".zst", ".snappy", ".lz4"}


@dataclass(frozen=True)
class Source:
    """Where a job's rows come from: exactly one of `files`, `table`, `query` and `function`.

    Raises:
        JobError: none of them, or several; an option that fits none; files that do not exist.
    """

    files: tuple[str, ...] | None = None
    """Paths, folders or globs; local ones are relative to the current folder."""
    format: str | None = None
    """Of `files` and `views`, e.g. ``csv``. None: by the first file's suffix."""
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Spark's options for reading that format, e.g. ``header: true``."""
    table: str | None = None
    """A table of Spark's catalog."""
    query: str | None = None
    """A SELECT in Spark's SQL."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Names that the query may use, each with the path that it stands for."""
    function: str | None = None
    """``package.module:name``: called with the SparkSession, it returns a DataFrame."""
    schema: str | None = None
    """Columns and their types as in SQL (``id long, at timestamp``), for formats that do not know them."""
    frame: DataFrame | None = field(default=None, compare=False, repr=False)
    """A DataFrame of this process; see `of`."""

    def __post_init__(self) -> None:
        if isinstance(self.files, (str, os.PathLike)):
            object.__setattr__(self, "files", (os.fspath(self.files),))
        elif self.files is not None:
            object.__setattr__(self, "files", tuple(map(os.fspath, self.files)))
        self._check_kind()
        self._check_details()

    @classmethod
    def of(cls, df: DataFrame) -> Source:
        """A DataFrame that was made in Python, in this process. It cannot be written down (`to_plain`)."""
        return cls(frame=df)

    @property
    def kind(self) -> str:
        """``files``, ``table``, ``query``, ``function`` or ``frame``."""
        return next(kind for kind in (*KINDS, "frame") if getattr(self, kind) is not None)

    def read(self, spark: SparkSession) -> DataFrame:
        """The rows, as a DataFrame.

        Raises:
            JobError: a file, table, function or view does not exist, or the function returns something else.
        """
        if self.frame is not None:
            return self.frame
        if self.files is not None:
            return self._reader(spark, self.files[0]).load(list(self.paths()))
        if self.table is not None:
            return spark.table(self.table)
        if self.query is not None:
            return self._queried(spark, self.query)
        return self._called(spark)

    def paths(self) -> tuple[str, ...]:
        """Of `files`: absolute paths, globs resolved, sorted; URLs (``s3a://...``) as they are.

        Raises:
            JobError: a local path or glob that matches nothing.
        """
        return tuple(path for pattern in self.files or () for path in _resolved(pattern))

    def to_plain(self) -> dict[str, Any]:
        """Only plain values, as for JSON and YAML: the keywords that are not left out.

        Raises:
            JobError: the source is a DataFrame of this process.
        """
        if self.frame is not None:
            raise JobError(
                "a DataFrame made in Python cannot be handed to another process: "
                "put what makes it into a function, and give function='package.module:name'"
            )
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in said.items()}

    @classmethod
    def from_plain(cls, said: Mapping[str, Any]) -> Source:
        """The source that `to_plain` wrote."""
        allowed = {f.name for f in fields(cls)} - {"frame"}
        for name in said:
            if name not in allowed:
                raise JobError(unknown("keyword of a source", name, allowed))
        return cls(**said)

    def _check_kind(self) -> None:
        given = [kind for kind in (*KINDS, "frame") if getattr(self, kind) is not None]
        if len(given) != 1:
            found = " and ".join(given) if given else "none of them"
            raise JobError(f"a source is exactly one of {one_of(KINDS)}: found {found}")
        if self.files == ():
            raise JobError("files is empty: expected a path, a glob or a list of them")

    def _check_details(self) -> None:
        if self.views and self.query is None:
            raise JobError(f"views are for a query to use: found them with {self.kind}")
        for name in ("format", "options", "schema"):
            if getattr(self, name) and self.files is None and not self.views:
                raise JobError(f"{name} is for files and for the views of a query: found it with {self.kind}")
        if self.function is not None and ":" not in self.function:
            raise JobError(f"function is {self.function!r}: expected 'package.module:name'")

    def _reader(self, spark: SparkSession, path: str) -> DataFrameReader:
        reader = spark.read.format(self.format or _format_of(path)).options(**self.options)
        return reader.schema(self.schema) if self.schema else reader

    def _queried(self, spark: SparkSession, query: str) -> DataFrame:
        """The query is analysed at once, so its views are needed for that moment only."""
        made: list[str] = []
        try:
            for name, pattern in self.views.items():
                if any(table.isTemporary and table.name == name for table in spark.catalog.listTables()):
                    raise JobError(f"view {name!r}: the session has a view of that name; choose another")
                self._reader(spark, pattern).load(list(_resolved(pattern))).createTempView(name)
                made.append(name)
            return spark.sql(query)
        finally:
            for name in made:
                spark.catalog.dropTempView(name)

    def _called(self, spark: SparkSession) -> DataFrame:
        from pyspark.sql import DataFrame

        made = _result_of(self.load_function(), str(self.function), spark)
        if not isinstance(made, DataFrame):
            raise JobError(
                f"function {self.function!r} returned {type(made).__name__}, expected a Spark DataFrame"
            )
        return made

    def load_function(self) -> Any:
        """What `function` names.

        Raises:
            JobError: there is no such module or name, or it cannot be called.
        """
        try:
            found = import_object(self.function or "")
        except LoadError as error:
            raise JobError(f"function {self.function!r}: {error}") from error
        if not callable(found):
            raise JobError(f"function {self.function!r} is a {type(found).__name__}, expected a function")
        return found


def _result_of(function: Any, name: str, spark: SparkSession) -> Any:
    """What the user's function returns; what it raises by itself is told with its line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return function(spark)
    except (ViperError, Py4JError, PySparkException):
        raise
    except Exception as error:
        file = getattr(getattr(function, "__code__", None), "co_filename", None)
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
        place = f"{shown(str(file))}:{lines[-1]}: " if lines else ""
        raise JobError(f"{place}function {name!r} raised {type(error).__name__}: {error}") from error


def is_local(path: str) -> bool:
    """Whether a path is one of this machine's file system, and no URL."""
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


def _format_of(path: str) -> str:
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED]
    known = SUFFIXES.get(suffixes[-1].lower()) if suffixes else None
    if known is None:
        raise JobError(
            f"files: {path!r} does not say what it is: give format= "
            f"({one_of(sorted(set(SUFFIXES.values())))}, or any other that Spark has)"
        )
    return known
