"""Opens text files, compressed or not, and reads them in portions of whole lines."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, cast

from framework.model.errors import SourceError
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.signatures import HEAD_BYTES, no_text, signature_of

CHUNK_CHARACTERS = 1 << 18
"""How much is read at a time: more gains nothing, and every file that is merged with others has as much."""
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
    """True if a byte order mark is left out."""
    return codecs.lookup(encoding).name == "utf-8"


def is_packed(path: str) -> bool:
    """Whether a file of this name is unpacked while it is read."""
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
