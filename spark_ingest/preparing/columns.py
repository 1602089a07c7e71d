"""The columns of a job's files, as far as they can be seen without Spark.

A column that does not exist is then reported at once, and not when Spark has started. Cases that cannot be
decided so are left to Spark: compressed files, folders with partitions, formats whose columns Spark infers.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spark_ingest.job.files import Files, is_local
from spark_ingest.job.source import Source
from spark_ingest.job.stream_spec import StreamSpec
from spark_ingest.job.types import check_names

MOST_FILES = 20
"""So many files are looked into at most; with more of them it would take long."""

_SEPARATORS = {"sep", "delimiter"}
_PLAIN_CSV = {"header", "inferschema", "mode", "timestampformat", "dateformat", *_SEPARATORS}
"""Options for CSV files that do not change which columns there are; with any other, Spark has to find out."""

_FIELD = re.compile(r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>\w+))[\s:]")
_NESTED = re.compile(r"\([^()]*\)|<[^<>]*>")


def check_columns_of_files(source: Source, spec: StreamSpec) -> None:
    """Refuse names of columns that no file has, where that shows without Spark.

    Raises:
        JobError: as `spark_ingest.job.types.check_columns` does for a DataFrame.
    """
    if source.files is None:
        return
    files = Files(source.files, source.format, source.options, source.schema)
    found = _in_schema(files.schema) if files.schema else _in_files(files)
    if found:
        check_names(found, spec)


def _in_schema(schema: str) -> Sequence[str] | None:
    """The names in columns as SQL writes them (``id long, at timestamp``); None where Spark must read it."""
    flat, found = schema, 1
    while found:
        flat, found = _NESTED.subn("", flat)
    fields = [_FIELD.match(part) for part in flat.split(",")]
    if "`" in flat.replace("``", "") and any("," in name for name in re.findall(r"`[^`]*`", flat)):
        return None
    names = [field and (field["plain"] or field["quoted"].replace("``", "`")) for field in fields]
    return [name for name in names if name] if all(names) else None


def _in_files(files: Files) -> Sequence[str] | None:
    """The columns of all files together; None where one of them cannot be looked into."""
    readers = {"csv": _in_csv, "parquet": _in_parquet}
    reader = readers.get(files.kind())
    paths = _plain_files(files.paths())
    if reader is None or not paths:
        return None
    found = [reader(path, {name.lower(): value for name, value in files.options.items()}) for path in paths]
    if any(columns is None for columns in found):
        return None
    return list(dict.fromkeys(name for columns in found for name in columns or ()))


def _plain_files(paths: Sequence[str]) -> Sequence[str] | None:
    """The files at paths, if they are few, local, and in no folder that stands for a column."""
    if not all(map(is_local, paths)) or any("{" in path for path in paths):
        return None
    literal = [re.sub(r"\\(.)", r"\1", path) for path in paths]
    found = [file for path in literal for file in _below(Path(path))]
    partitioned = any("=" in part for file in found for part in file.parts[:-1])
    return None if partitioned or len(found) > MOST_FILES else [str(file) for file in found]


def _below(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for name in sorted(os.listdir(path)):
            if not name.startswith(("_", ".")):
                yield from _below(path / name)
    else:
        yield path


def _in_csv(path: str, options: Mapping[str, object]) -> Sequence[str] | None:
    """The names in the first line, or Spark's names for nameless columns."""
    separators = {str(options[name]) for name in _SEPARATORS & options.keys()} or {","}
    separator = separators.pop()
    if not set(options) <= _PLAIN_CSV or separators or len(separator) != 1:
        return None
    try:
        with open(path, encoding="utf-8", newline="") as file:
            line = next((line for line in file if line.strip()), "")
            (first,) = csv.reader([line], delimiter=separator, strict=True)
    except (OSError, ValueError, csv.Error):  # compressed, in another encoding, or quoted over several lines
        return None
    if not first or line.startswith("\ufeff") or "\\" in line:
        return None
    if str(options.get("header", "false")).lower() != "true":
        return [f"_c{number}" for number in range(len(first))]
    # Spark gives names of its own to columns without a name, and to several of one name.
    folded = {name.casefold() for name in first}
    return first if "" not in folded and len(folded) == len(first) else None


def _in_parquet(path: str, options: Mapping[str, object]) -> Sequence[str] | None:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_schema
    except ImportError:
        return None
    try:
        return [str(name) for name in read_schema(path).names]
    except (OSError, ArrowException):
        return None
