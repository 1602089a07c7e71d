"""The manifest of a prepared dataset: a JSON file beside its files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from framework.version import VERSION
from spark_ingest.errors import DatasetError

MANIFEST = "_manifest.json"
"""Spark passes over names that begin so, and reads the folder as Parquet."""
FORMAT = "viperstorm dataset"
FORMAT_VERSION = 1
"""Goes up when an older reader would misread what a newer writer writes."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a stream."""

    path: str
    """Relative to the manifest."""
    bytes: int
    rows: int
    footer: str
    """SHA-256 of its footer, by which the file itself is known."""
    content: str
    """SHA-256 of the bytes before the footer, by which its rows are known: Spark's footers differ from run
    to run, in the order of the encodings that they name."""


@dataclass(frozen=True, slots=True)
class ManifestStream:
    """A stream: its files, one after the other."""

    files: tuple[DataFile, ...]
    rows: int
    min_us: int | None
    """Event time of the first row, microseconds since 1970 UTC; None without rows."""
    max_us: int | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """All facts about a dataset but its rows."""

    timestamp: str
    """The source's column with the event time; it need not be among the fields."""
    unit: str
    fields: tuple[str, ...]
    types: Mapping[str, str]
    """Of each field, the type as Spark's SQL writes it."""
    streams: tuple[ManifestStream, ...]
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of ``nulls``, ``duplicates`` and ``unparsable``: rows ``found``, ``kept`` and ``dropped``."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The source, as `Source.to_plain` describes it; for a DataFrame, ``{"frame": its plan}``."""
    request: str | None = None
    """Identity of what was asked for, and of the input as it was; None where the input has none."""
    spark_version: str | None = None
    software: str = VERSION
    """The version of ViperStorm that prepared it."""

    @property
    def rows(self) -> int:
        """In all streams."""
        return sum(stream.rows for stream in self.streams)

    @property
    def min_us(self) -> int | None:
        """The earliest event time; None without rows."""
        return min((s.min_us for s in self.streams if s.min_us is not None), default=None)

    @property
    def max_us(self) -> int | None:
        """The latest event time; None without rows."""
        return max((s.max_us for s in self.streams if s.max_us is not None), default=None)

    @property
    def fingerprint(self) -> str:
        """Identity of the content: fields, types, and the data of each stream's files in order."""
        content = [
            self.timestamp,
            [[name, self.types[name]] for name in self.fields],
            [[(file.rows, file.content) for file in stream.files] for stream in self.streams],
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def to_json(manifest: Manifest) -> str:
    """The manifest as text, its format first."""
    content = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "fingerprint": manifest.fingerprint,
        "rows": manifest.rows,
        **asdict(replace(manifest, types=dict(manifest.types), source=dict(manifest.source))),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str | bytes, where: str) -> Manifest:
    """The manifest that a text holds.

    Args:
        text: from `to_json`.
        where: the dataset, for messages.

    Raises:
        DatasetError: it is none, a damaged one, or of a version that this one cannot read.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise DatasetError(f"{where} is no dataset: its {MANIFEST} is no JSON: {error}") from None
    _check_readable(content, where)
    try:
        manifest = _manifest(content)
        same = manifest.fingerprint == content["fingerprint"] and manifest.rows == content["rows"]
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"{where}: its {MANIFEST} is damaged: {type(error).__name__}: {error}; prepare it again"
        ) from error
    if not same:
        raise DatasetError(f"{where}: its {MANIFEST} was changed, and contradicts itself; prepare it again")
    return manifest


def write(folder: Path, manifest: Manifest) -> None:
    """Put the manifest into a folder, at once and for good.

    Raises:
        OSError: it cannot be written.
    """
    beside = folder / f".{MANIFEST}.new"
    with beside.open("w", encoding="utf-8") as file:
        file.write(to_json(manifest))
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, folder / MANIFEST)


def read(folder: Path) -> Manifest:
    """The manifest of a folder.

    Raises:
        DatasetError: there is none, or none that can be read.
    """
    try:
        text = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise DatasetError(_absent(folder)) from None
    except OSError as error:
        raise DatasetError(f"cannot read {folder / MANIFEST}: {error.strerror}") from error
    return from_json(text, str(folder))


def is_dataset(folder: Path) -> bool:
    """True if a folder is a dataset of any version, whole or not."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def _absent(folder: Path) -> str:
    if not folder.exists():
        return f"there is no {folder}: expected a folder that `viper prepare` made"
    if not folder.is_dir():
        return f"{folder} is a file: expected a folder that `viper prepare` made"
    parquet = any(folder.glob("*.parquet"))
    hint = "; its Parquet files are a source: prepare them into another folder" if parquet else ""
    return f"{folder} is no prepared dataset: there is no {MANIFEST} in it{hint}"


def _check_readable(content: Any, where: str) -> None:
    found = content.get("format") if isinstance(content, dict) else content
    if found != FORMAT:
        raise DatasetError(f"{where} is no dataset: found format {found!r:.100}, expected {FORMAT!r}")
    if content.get("version") != FORMAT_VERSION:
        raise DatasetError(
            f"{where} has version {content.get('version')!r} of the format, written by ViperStorm "
            f"{content.get('software')}; this is {VERSION}, which reads version {FORMAT_VERSION}: "
            f"prepare it again"
        )


def _manifest(content: Mapping[str, Any]) -> Manifest:
    others = {k: v for k, v in content.items() if k not in ("format", "version", "fingerprint", "rows")}
    others["fields"] = tuple(content["fields"])
    others["streams"] = tuple(map(_stream, content["streams"]))
    return Manifest(**others)


def _stream(content: Mapping[str, Any]) -> ManifestStream:
    files = tuple(DataFile(**file) for file in content["files"])
    return ManifestStream(files, content["rows"], content["min_us"], content["max_us"])
