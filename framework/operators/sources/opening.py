"""Opens text files, compressed or not, and reads them in portions of whole lines."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final, NamedTuple, cast

from framework.model.errors import SourceError
from framework.operators.sources.listing import SourceFile

CHUNK_CHARACTERS = 1 << 18
"""The characters that are read at a time: more gains nothing, and all files that are merged hold as many."""
_PACKED = (".gz", ".bz2", ".xz")
_SAMPLE_BYTES = 1 << 16
_LZMA_ALONE = b"\x5d\0\0"
"""The beginning of the format before xz, which Python reads as well."""


def checked_encoding(encoding: str) -> str:
    """The encoding itself.

    Raises:
        SourceError: Python knows none of this name.
    """
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # which refuses codecs of bytes, such as hex
        is_text = isinstance(encoding, str)
    except (LookupError, TypeError, ValueError):
        is_text = False
    if not is_text:
        raise SourceError(f"encoding is {encoding!r}, which is none: expected utf-8, latin-1, ...")
    return encoding


def is_utf_8(encoding: str) -> bool:
    """True if an encoding is UTF-8, of which a byte order mark is left out."""
    return codecs.lookup(encoding).name == "utf-8"


def is_packed(path: str) -> bool:
    """True if a file of this name is unpacked while it is read."""
    return path.endswith(_PACKED)


def estimated_lines(files: Sequence[SourceFile]) -> int | None:
    """About how many lines plain files have, by the first lines of the largest one; None if it has none."""
    largest = max(files, key=lambda file: file.bytes)
    with opened_bytes(largest) as opened:
        sample = opened.read(_SAMPLE_BYTES)
    lines = sample.count(b"\n") or len(sample[:1])
    return round(sum(file.bytes for file in files) * lines / len(sample)) if lines else None


def head_of(file: SourceFile) -> bytes:
    """The first bytes of a file as it lies there.

    Raises:
        OSError: it cannot be read.
    """
    with open(file.path, "rb") as plain:
        return plain.read(HEAD_BYTES)


@contextmanager
def opened_bytes(file: SourceFile) -> Iterator[IO[bytes]]:
    """The bytes of a file for the block, unpacked if its name ends in .gz, .bz2 or .xz.

    Raises:
        SourceError: it is not the file that was found, or not packed as its name says.
        Exception: it cannot be read, or is damaged; `reading` makes a SourceError of it.
    """
    with open(file.path, "rb") as plain:
        file.check(plain)
        _check_packed(file, plain.peek(HEAD_BYTES)[:HEAD_BYTES])
        yield _unpacked(file.path, plain)
        file.check(plain)


@contextmanager
def opened_text(file: SourceFile, encoding: str, newline: str | None = None) -> Iterator[io.TextIOWrapper]:
    """The text of a file for the block; a byte order mark of UTF-8 is left out.

    Args:
        file: the file.
        encoding: its encoding, as Python names it.
        newline: as of `open`.

    Raises:
        SourceError: it is no text, but of a format that is known.
        Exception: as of `opened_bytes`, or the text is not of this encoding.
    """
    with opened_bytes(file) as stream:
        head = cast(io.BufferedReader, stream).peek(HEAD_BYTES)[:HEAD_BYTES]
        check_text(file, encoding, head)
        if is_utf_8(encoding) and head.startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        text = io.TextIOWrapper(stream, encoding, newline=newline)
        try:
            yield text
        finally:
            text.detach()


def check_text(file: SourceFile, encoding: str, head: bytes) -> None:
    """Refuse what is no text, even if the encoding knows a character for every byte.

    Args:
        file: the file.
        encoding: its encoding.
        head: its first bytes, unpacked if its name says so.

    Raises:
        SourceError: it is of another format, and how to read that.
    """
    found = no_text(head, encoding)
    if found is None:
        return
    if is_packed(file.path) and found.suffix:
        raise SourceError(f"{file.path}: it is {found.name} once more when it is unpacked: unpack it once")
    unpacked = " when it is unpacked" if is_packed(file.path) else ""
    raise SourceError(
        f"{file.path}: expected text in {encoding}, and it is {found.name}{unpacked}: {found.advice}"
    )


def chunks_of(text: io.TextIOWrapper) -> Iterator[str]:
    """A text piece by piece, never the whole of it at once."""
    while chunk := text.read(CHUNK_CHARACTERS):
        yield chunk


def portions_of(chunks: Iterable[str | None], most: int) -> Iterator[list[str] | None]:
    """The lines of a text without their ends, at most so many at a time; the last one need not have an end.

    Args:
        chunks: the text piece by piece; None where there is nothing more for now, which is handed on.
        most: the most lines of a portion.
    """
    begun: list[str] = []
    for chunk in chunks:
        if chunk is None:
            yield None
            continue
        first, newline, others = chunk.partition("\n")
        begun.append(first)
        if newline:
            lines = ["".join(begun), *others.split("\n")]
            begun = [lines.pop()]
            for start in range(0, len(lines), most):
                yield lines[start : start + most]
    if last := "".join(begun):
        yield [last]


def _unpacked(path: str, plain: io.BufferedReader) -> IO[bytes]:
    if path.endswith(".gz"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=plain))
    if path.endswith(".bz2"):
        return bz2.BZ2File(plain)
    if path.endswith(".xz"):
        return lzma.LZMAFile(plain)
    return plain


def _check_packed(file: SourceFile, head: bytes) -> None:
    """Refuse a file that is not packed as its name says.

    Raises:
        SourceError: it is plain text, or of another format.
    """
    suffix = next((suffix for suffix in _PACKED if file.path.endswith(suffix)), "")
    found = signature_of(head)
    if not head or not suffix or (found is not None and found.suffix == suffix):
        return
    if suffix == ".xz" and head.startswith(_LZMA_ALONE):
        return
    if found is not None:
        advice = f"and it is {found.name}: {found.advice}"
    elif b"\0" in head:
        advice = f"and it begins with {head[:8]!r}: it is damaged, or something else"
    else:
        advice = f"and it begins with {head[:20]!r}: rename it if it is plain text"
    raise SourceError(f"{file.path}: its name ends in {suffix}, {advice}")


HEAD_BYTES: Final = 512
"""The number of first bytes that reveal the format."""


class Signature(NamedTuple):
    """A format."""

    name: str
    """As a message says it, with an article where there is one."""
    begins: re.Pattern[bytes]
    """Bytes that no text begins with, at least none that is a table or a log."""
    advice: str
    """The way in which its rows can be read."""
    suffix: str = ""
    """The end of the names of files that are unpacked while they are read."""


def _begins(*prefixes: bytes) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, prefixes)))


_RENAMED: Final = "rename it, as files are unpacked while they are read whose names end in {0}"
_CONVERTED: Final = "convert it to Parquet, and read that by ParquetSource"
_UNPACKED: Final = "unpack it first ({0}), or pack it again as .gz, .bz2 or .xz"

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
