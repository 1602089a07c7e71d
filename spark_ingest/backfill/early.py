"""The check that a folder of this machine can take a backfill: before Spark starts, which takes seconds."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spark_ingest.errors import DatasetError
from spark_ingest.job.files import is_local

SUMMARY = "backfill.json"
"""Says which outputs there are, their folders, columns and rows; it makes a folder one of ours."""
_DEFAULT = "spark.hadoop.fs.default"
"""The beginning of keys that may name another file system: `fs.defaultFS`, and `fs.default.name` of old."""
_NOT_PLAIN = frozenset("%?#")
"""Characters that mean one thing in a URL, and nothing or something else to Hadoop."""
_ELSEWHERE = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables that lead Spark to settings by which a path may be of another file system."""


def check_early(folder: str, conf: Mapping[str, Any] | None, force: bool) -> None:
    """Refuse a folder that Spark would refuse, where it is sure to be of this machine.

    Args:
        folder: a path or a URL.
        conf: Spark's configuration.
        force: whether a backfill that is there may be replaced.

    Raises:
        DatasetError: the folder holds something, or cannot be written.
    """
    if not folder.strip():
        raise DatasetError("no folder is named for the output: expected a path, or a URL that Spark knows")
    path = _here(folder, conf or {})
    if path is None:
        return
    try:
        _check(folder, path, force)
    except OSError as error:  # it lies in a folder into which this user may not look
        raise DatasetError(f"cannot write to {folder}: {error.strerror}") from error


def _check(folder: str, path: Path, force: bool) -> None:
    _check_parent(folder, path)
    if path.is_file():
        raise DatasetError(f"{folder} is a file: expected a new folder, or one that a backfill made")
    if path.is_dir() and any(path.iterdir()):
        why = refused(folder, (path / SUMMARY).exists(), force)
        if why is not None:
            raise DatasetError(why)


def refused(folder: str, is_ours: bool, force: bool) -> str | None:
    """Why a folder with something in it is not replaced; None if it is.

    Args:
        folder: as the user writes it.
        is_ours: whether a backfill made it.
        force: whether that may be replaced.
    """
    if not is_ours:
        return f"{folder} holds something else than a backfill: choose another folder, or empty it"
    if not force:
        return (
            f"{folder} holds a backfill already: choose another folder, or replace it (--force, force=True)"
        )
    return None


def _here(folder: str, conf: Mapping[str, Any]) -> Path | None:
    """The path on this machine that a folder is; None where another file system may be meant."""
    if folder.startswith("file:"):
        return _of_url(folder)
    if not is_local(folder) or _spark_runs() or any(key.startswith(_DEFAULT) for key in conf):
        return None
    return None if any(os.environ.get(name) for name in _ELSEWHERE) else Path(folder).absolute()


def _of_url(url: str) -> Path | None:
    """The path of a `file:` URL as Hadoop reads it, which decodes nothing; None where it is not plain."""
    path = url.removeprefix("file:").removeprefix("//")
    return Path(path) if path.startswith("/") and _NOT_PLAIN.isdisjoint(path) else None


def _spark_runs() -> bool:
    """True if there is a session in this process, which knows its file systems and needs no start."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None


def _check_parent(folder: str, path: Path) -> None:
    """Spark makes the folders above one."""
    above = next(parent for parent in path.parents if parent.exists())
    if not above.is_dir():
        raise DatasetError(f"cannot write to {folder}: {above} is a file")
    if not os.access(above, os.W_OK | os.X_OK):
        raise DatasetError(f"cannot write to {folder}: {above} is not writable for this user")
