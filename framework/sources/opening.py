"""Opens text files, compressed or not, and reads them in portions of whole lines."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import lzma
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, cast

from framework.errors import SourceError
from framework.sources.listing import SourceFile

CHUNK_CHARACTERS = 1 << 18
"""How much is read at a time: more gains nothing, and every file that is merged with others has as much."""
UTF_8 = ("utf-8", "utf8", "utf_8")
"""The names of the encoding of which a byte order mark is left out."""
_PACKED = (".gz", ".bz2", ".xz")
_SAMPLE_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


def checked_encoding(encoding: str) -> str:
    """The encoding itself.

    Raises:
        SourceError: Python knows none of this name.
    """
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise SourceError(f"encoding is {encoding!r}, which is none: expected utf-8, latin-1, ...") from None
    return encoding


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


@contextmanager
def opened_bytes(file: SourceFile) -> Iterator[IO[bytes]]:
    """The bytes of a file for the block, unpacked if its name ends in .gz, .bz2 or .xz.

    Raises:
        SourceError: it cannot be read, is damaged, or is not the file that was found.
    """
    try:
        with open(file.path, "rb") as plain:
            file.check(plain)
            yield _unpacked(file.path, plain)
            file.check(plain)
    except _DAMAGED as error:
        raise SourceError(f"{file.path}: the compressed file is damaged or cut off: {error}") from None
    except OSError as error:
        raise SourceError(f"{file.path}: {in_words(error)}") from None


@contextmanager
def opened_text(file: SourceFile, encoding: str, newline: str | None = None) -> Iterator[io.TextIOWrapper]:
    """The text of a file for the block; a byte order mark of UTF-8 is left out.

    Args:
        file: the file.
        encoding: its encoding, as Python names it.
        newline: as of `open`.

    Raises:
        SourceError: as of `opened_bytes`, or the text is not of this encoding.
    """
    with opened_bytes(file) as stream:
        if encoding.lower() in UTF_8 and cast(io.BufferedReader, stream).peek(3)[:3] == _BOM:
            stream.read(3)
        text = io.TextIOWrapper(stream, encoding, newline=newline)
        try:
            yield text
        except UnicodeDecodeError as error:
            raise SourceError(undecodable(file, encoding, error)) from None
        finally:
            text.detach()


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


def in_words(error: OSError) -> str:
    """What the system has refused, and what to do where that is known."""
    if error.errno == errno.EMFILE:
        return (
            f"{error.strerror}: raise the limit (ulimit -n), or read one file after the other (in_turn=True)"
        )
    return error.strerror or str(error)


def undecodable(file: SourceFile, encoding: str, error: UnicodeDecodeError) -> str:
    """What is wrong, with the line where it can be told: not where a line's end is more than one byte."""
    place, byte, number = file.path, error.object[error.start], 0
    try:
        with opened_bytes(file) as stream:
            for line in stream:
                number += 1
                line.decode(encoding)
    except UnicodeDecodeError as found:
        if "\n".encode(encoding) == b"\n":
            place, byte = f"{file.path}:{number}", found.object[found.start]
    return f"{place}: byte 0x{byte:02x} is not {encoding}: name the file's encoding (encoding='latin-1')"
