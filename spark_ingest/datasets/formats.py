"""The formats of a dataset's files, as far as they can be recognized without the libraries that read them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

from spark_ingest.errors import DatasetError

_CHUNK_BYTES = 1 << 20
_LENGTH_BYTES = 4


class Format(NamedTuple):
    """A format whose files end with a footer, its length in four bytes (little-endian), and the magic."""

    name: str
    """As people write it."""
    suffix: str
    magic: bytes
    """At both ends of every file."""


PARQUET = Format("Parquet", ".parquet", b"PAR1")
ARROW = Format("Arrow", ".arrow", b"ARROW1")
STORED_AS = {"parquet": PARQUET, "arrow": ARROW}
"""By the name that whoever prepares a dataset gives."""


def format_of(path: Path) -> Format:
    """Choose the format of a dataset's file by its name; anything but ``.arrow`` is Parquet."""
    return ARROW if path.suffix == ARROW.suffix else PARQUET


def digests(path: Path) -> tuple[str, str]:
    """SHA-256 of a file's footer, and of the bytes before it, in hexadecimal; reads all of it.

    Raises:
        DatasetError: the file is not of its format, or was cut off.
    """
    with path.open("rb") as file:
        start, footer = _footer(file, path)
        file.seek(0)
        content = hashlib.sha256()
        while left := start - file.tell():
            content.update(file.read(min(left, _CHUNK_BYTES)))
    return hashlib.sha256(footer).hexdigest(), content.hexdigest()


def footer_digest(path: Path) -> str:
    """SHA-256 of a file's footer, in hexadecimal.

    Raises:
        DatasetError: the file is not of its format, or was cut off.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.sha256(_footer(file, path)[1]).hexdigest()


def _footer(file: BinaryIO, path: Path) -> tuple[int, bytes]:
    """Read a file's footer: its offset and its bytes."""
    found = format_of(path)
    tail_bytes = _LENGTH_BYTES + len(found.magic)
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - tail_bytes))
    tail = file.read()
    start = size - tail_bytes - int.from_bytes(tail[:_LENGTH_BYTES], "little")
    if tail[_LENGTH_BYTES:] != found.magic or start < len(found.magic):
        raise DatasetError(f"{path} is no whole {found.name} file; prepare the dataset again")
    file.seek(start)
    return start, file.read(size - tail_bytes - start)
