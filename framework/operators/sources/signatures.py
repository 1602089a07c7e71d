"""Formats by the first bytes of a file: text was expected, and something else is there."""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

HEAD_BYTES: Final = 512
"""How many of the first bytes tell it."""


class Signature(NamedTuple):
    """A format."""

    name: str
    """As a message says it, with an article where there is one."""
    begins: re.Pattern[bytes]
    """Bytes that no text begins with, at least none that is a table or a log."""
    advice: str
    """How its rows can be read."""
    suffix: str = ""
    """The end of the names of files that are unpacked while they are read."""


def _begins(*prefixes: bytes) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, prefixes)))


_RENAMED: Final = "rename it, as files are unpacked while they are read whose names end in {0}"
_CONVERTED: Final = "convert it to Parquet, and read that by ParquetSource"
_UNPACKED: Final = "unpack it first ({0}), or pack it anew as .gz, .bz2 or .xz"

SIGNATURES: Final = (
    Signature("gzip", _begins(b"\x1f\x8b"), _RENAMED.format(".gz"), ".gz"),
    Signature(
        "bzip2",
        re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"),
        _RENAMED.format(".bz2"),
        ".bz2",
    ),
    Signature("xz", _begins(b"\xfd7zXZ\0"), _RENAMED.format(".xz"), ".xz"),
    Signature("zstd", _begins(b"\x28\xb5\x2f\xfd"), _UNPACKED.format("zstd -d")),
    Signature("lz4", _begins(b"\x04\x22\x4d\x18"), _UNPACKED.format("lz4 -d")),
    Signature("snappy", _begins(b"\xff\x06\0\0sNaPpY"), _UNPACKED.format("snzip -d")),
    Signature("compress (.Z)", _begins(b"\x1f\x9d"), _UNPACKED.format("uncompress")),
    Signature("a 7z archive", _begins(b"7z\xbc\xaf\x27\x1c"), "unpack it first (7z x)"),
    Signature(
        "a zip archive",
        _begins(b"PK\x03\x04", b"PK\x05\x06"),
        "unpack it first (unzip); a workbook of Excel is one as well: save its table as CSV",
    ),
    Signature("a tar archive", re.compile(rb"(?s).{257}ustar"), "unpack it first (tar -x)"),
    # Of these two the magic could begin a line of names, but binary data has a NUL soon, and text has none.
    Signature("Parquet", re.compile(rb"(?s)PAR[1E].*\0"), "read it by ParquetSource"),
    Signature("ORC", re.compile(rb"(?s)ORC.*\0"), _CONVERTED + " (pyarrow.orc reads it)"),
    Signature("Avro", _begins(b"Obj\x01"), _CONVERTED),
    Signature("Arrow", _begins(b"ARROW1\0\0"), _CONVERTED + " (pyarrow.feather reads it)"),
    Signature("a database of SQLite", _begins(b"SQLite format 3\0"), "save its table as CSV (sqlite3 -csv)"),
    Signature(
        "an old document of Office", _begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "save its table as CSV"
    ),
    Signature("UTF-32", _begins(b"\xff\xfe\0\0", b"\0\0\xfe\xff"), "say so (encoding='utf-32')"),
    Signature("UTF-16", _begins(b"\xff\xfe", b"\xfe\xff"), "say so (encoding='utf-16')"),
    Signature("UTF-16", re.compile(rb"([^\0]\0){4}"), "say so (encoding='utf-16-le')"),
    Signature("UTF-16", re.compile(rb"(\0[^\0]){4}"), "say so (encoding='utf-16-be')"),
)
"""Most are binary; a text in UTF-16 or UTF-32 is one of them only where another encoding was named."""


def signature_of(head: bytes) -> Signature | None:
    """The format of a file that begins with these bytes; None for plain text, and for what nobody knows."""
    return next((known for known in SIGNATURES if known.begins.match(head)), None)


def no_text(head: bytes, encoding: str) -> Signature | None:
    """The format of a file that is no text of this encoding; None where it may be such.

    Args:
        head: its first bytes, unpacked if its name says so.
        encoding: as Python names it.
    """
    found = signature_of(head)
    is_named = found is not None and found.name.lower() == codecs.lookup(encoding).name[: len("utf-16")]
    return None if is_named else found
