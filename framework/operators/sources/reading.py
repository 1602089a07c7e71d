"""Conversion of a reader's errors into errors that name the file, in one place for all formats.

Malformed rows are not treated here: `on_malformed` says what becomes of them.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from framework.model.errors import SourceError
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import head_of, is_packed, no_text, opened_bytes, signature_of

_CUT_OFF = ("truncated data", "unexpected end of data")
"""The reasons that Python's decoders of UTF-16 and UTF-32 give at the end of a file."""
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


@dataclass
class Progress:
    """The progress in reading a file."""

    records: int = 0
    """The number of its records that have been read."""


@contextmanager
def reading(file: SourceFile, format: str, encoding: str | None = None) -> Iterator[Progress]:
    """Read a file in the block: each exception becomes a SourceError with the file, and the place in it.

    Args:
        file: the file.
        format: as which it is read, e.g. Parquet.
        encoding: of its text, where it is text.

    Yields:
        How far it has been read, for whoever reads it to note.
    """
    progress = Progress()
    try:
        yield progress
    except SourceError:
        raise
    except UnicodeError as error:
        if encoding is None:
            raise _unreadable(file, format, progress.records, error) from error
        raise SourceError(_undecodable(file, encoding, error)) from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise SourceError(f"{file.path}: {_in_words(error)}") from None
        raise _unreadable(file, format, progress.records, error) from error


def _unreadable(file: SourceFile, format: str, records: int, error: Exception) -> SourceError:
    behind = f" behind record {records:,}" if records else ""
    said = " ".join(str(error).split())
    if isinstance(error, _DAMAGED) or (isinstance(error, OSError) and is_packed(file.path)):
        return SourceError(f"{file.path}: the compressed file is damaged or cut off{behind}: {said}")
    if not isinstance(error, OSError) and not type(error).__module__.startswith("pyarrow"):
        said = f"{type(error).__name__}: {said}"
    return SourceError(f"{file.path}: cannot be read as {format}{behind} ({said}){_known(file, format)}")


def _known(file: SourceFile, format: str) -> str:
    """The format by the first bytes, where it is another one."""
    try:
        found = signature_of(head_of(file))
    except OSError:
        return ""
    if found is None or found.name == format:
        return ""
    return f": it is {found.name}"


def _in_words(error: OSError) -> str:
    """The reason of the system, and what to do where that is known."""
    if error.errno == errno.EMFILE:
        return (
            f"{error.strerror}: raise the limit (ulimit -n), or read one file after the other (in_turn=True)"
        )
    return error.strerror or str(error)


def _undecodable(file: SourceFile, encoding: str, error: UnicodeError) -> str:
    """The byte that is wrong, with its line if that is known: not if a line's end is several bytes."""
    if not isinstance(error, UnicodeDecodeError):  # as of UTF-16 without a byte order mark
        return f"{file.path}: is not {encoding} ({error}): name the file's encoding"
    place, byte, number, has_others = file.path, error.object[error.start], 0, False
    try:
        with opened_bytes(file) as stream:
            for line in stream:
                number += 1
                line.decode(encoding)
                has_others = has_others or not line.isascii()
    except UnicodeDecodeError as found:
        if "\n".encode(encoding) == b"\n":
            place, byte = f"{file.path}:{number}", found.object[found.start]
    except Exception:  # the file has gone meanwhile, or is damaged as well
        pass
    wrong = f"{place}: byte 0x{byte:02x} is not {encoding}"
    if has_others:
        return f"{wrong}, and other characters before it are: mend or remove it"
    if "\n".encode(encoding) == b"\n":
        return f"{wrong}: name the file's encoding (encoding='latin-1')"
    return _of_wide_characters(file, encoding, error, wrong)


def _of_wide_characters(file: SourceFile, encoding: str, error: UnicodeDecodeError, wrong: str) -> str:
    """The same of UTF-16 and UTF-32: damaged, where the file begins as such, or text in another encoding."""
    try:
        head = head_of(file)
    except Exception:  # it has gone meanwhile, or is damaged as well
        head = b"\0"
    if signature_of(head) is not None and no_text(head, encoding) is None:
        if error.reason in _CUT_OFF:
            cut_off = f"the file is {encoding} and ends within a character: it is cut off"
            return f"{file.path}: {cut_off}; fetch it again"
        return f"{wrong}, and the file begins as such: mend or remove it"
    if b"\0" not in head and _is_utf_8(head):
        return f"{wrong}: name the file's encoding (encoding='utf-8')"
    return f"{wrong}: mend it, or name the file's encoding"


def _is_utf_8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
