"""Anything that Spark reads, described by plain values."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from framework.frontends.declaration import shown
from framework.model.errors import LoadError, ViperError
from framework.model.importing import import_object
from framework.model.topology import one_of, unknown
from spark_ingest.errors import JobError
from spark_ingest.job.files import Files, paths_of, without_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KINDS = ("files", "table", "query", "function")
_READING = ("format", "options", "schema")


@dataclass(frozen=True)
class Source:
    """The source of a job's rows: exactly one of `files`, `table`, `query` and `function`.

    Raises:
        JobError: none of them, or several; an option that fits none; files that do not exist.
    """

    files: tuple[str, ...] | None = None
    """Paths, folders or globs; local ones are relative to the current folder."""
    format: str | None = None
    """Of `files`, or of all `views`, e.g. ``csv``. None: by the first file's suffix."""
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Spark's options for reading these, e.g. ``header: true``."""
    table: str | None = None
    """A table of Spark's catalog."""
    query: str | None = None
    """A SELECT in Spark's SQL."""
    views: Mapping[str, Any] = field(default_factory=dict)
    """Names that the query may use, each with the path that it stands for. If the values for all views do not
    fit, a mapping of `files`, `format`, `options` and `schema` takes the place of the path."""
    function: str | None = None
    """``package.module:name``: called with the SparkSession, it returns a DataFrame."""
    schema: str | None = None
    """Columns of these, with types as in SQL (``id long, at timestamp``), where the format has none."""
    frame: DataFrame | None = field(default=None, compare=False, repr=False)
    """A DataFrame of this process; see `of`."""

    def __post_init__(self) -> None:
        if self.files is not None:
            object.__setattr__(self, "files", paths_of(self.files))
        self._check_kind()
        self._check_details()
        made = self._files()
        if self.views:
            plain = {name: _plain_view(view, made[name].files) for name, view in self.views.items()}
            object.__setattr__(self, "views", plain)

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
            return self._files()[""].read(spark)
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
        return () if self.files is None else self._files()[""].paths()

    def check(self) -> None:
        """The files, as far as they can be seen without Spark.

        A function's module is left alone: it may make a session, which has to find Spark as it is set up.

        Raises:
            JobError: files that do not exist, or nothing says what they are.
        """
        for name, files in self._files().items():
            with _of_view(name):
                files.check()

    def _files(self) -> dict[str, Files]:
        """The files, under no name, or those of the views, each under its own."""
        reading = {name: getattr(self, name) for name in _READING}
        if self.files is not None:
            return {"": Files(self.files, **reading)}
        return {name: Files.of_view(name, view, reading) for name, view in self.views.items()}

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
        plain = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Source:
        """The source that `to_plain` wrote."""
        allowed = {f.name for f in fields(cls)} - {"frame"}
        for name in plain:
            if name not in allowed:
                raise JobError(unknown("keyword of a source", name, allowed))
        return cls(**plain)

    def _check_kind(self) -> None:
        chosen = [kind for kind in (*KINDS, "frame") if getattr(self, kind) is not None]
        if len(chosen) != 1:
            found = " and ".join(chosen) if chosen else "none of them"
            raise JobError(f"a source is exactly one of {one_of(KINDS)}: found {found}")

    def _check_details(self) -> None:
        if not isinstance(self.views, Mapping):
            raise JobError(
                f"views is {self.views!r}: expected names with paths, e.g. {{'trips': 'trips.csv'}}"
            )
        if self.views and self.query is None:
            raise JobError(f"views are for a query to use: found them with {self.kind}")
        for name in _READING:
            if getattr(self, name) and self.files is None and not self.views:
                raise JobError(f"{name} is for files and for the views of a query: found it with {self.kind}")
        if self.function is not None and not all(str(self.function).partition(":")):
            raise JobError(f"function is {self.function!r}: expected 'package.module:name'")

    def _queried(self, spark: SparkSession, query: str) -> DataFrame:
        """The query is analysed at once, so its views are needed for that moment only."""
        made: dict[str, DataFrame] = {}
        try:
            for name, files in self._files().items():
                if any(table.isTemporary and table.name == name for table in spark.catalog.listTables()):
                    raise JobError(f"view {name!r}: the session has a view of that name; choose another")
                with _of_view(name):
                    frame = files.read(spark)
                frame.createTempView(name)
                made[name] = frame
            return _selected(spark, query, made)
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
        """The function that `function` names.

        Raises:
            JobError: there is no such module or name, or it cannot be called.
        """
        try:
            found = import_object(self.function or "")
        except LoadError as error:
            raise JobError(f"function {error}") from error  # which begins with its name
        if not callable(found):
            raise JobError(
                f"function {self.function!r} is no function, but of type {type(found).__name__}: "
                "expected one that takes the SparkSession and returns a DataFrame"
            )
        return found


def _plain_view(view: Any, paths: Sequence[str]) -> Any:
    """The description of a view, with texts for paths; one alone stays one."""
    files = view["files"] if isinstance(view, Mapping) else view
    plain = paths[0] if isinstance(files, str | os.PathLike) else list(paths)
    return {**view, "files": plain} if isinstance(view, Mapping) else plain


@contextmanager
def _of_view(name: str) -> Iterator[None]:
    """Have an error name the view that it is about, if it is about one."""
    try:
        yield
    except JobError as error:
        if not name:
            raise
        raise JobError(f"view {name!r}: {str(error).removeprefix('files: ')}") from error.__cause__


def _selected(spark: SparkSession, query: str, views: Mapping[str, DataFrame]) -> DataFrame:
    from pyspark.errors import AnalysisException

    from spark_ingest.engine.failing import short

    try:
        return spark.sql(query)
    except AnalysisException as error:
        hint = without_names(column for frame in views.values() for column in frame.columns)
        if not hint or "UNRESOLVED_COLUMN" not in str(error):
            raise
        raise JobError(f"query: {short(error)}{hint}") from error


def _result_of(function: Any, name: str, spark: SparkSession) -> Any:
    """The result of the user's function; an error that it raises is reported with the user's line."""
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
