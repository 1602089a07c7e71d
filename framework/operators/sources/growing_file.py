"""A file to which lines are appended while it is read."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from typing import IO, Final

from framework.model.errors import SourceError
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import check_text, is_packed, is_utf_8
from framework.operators.sources.signatures import HEAD_BYTES

_CHUNK_BYTES: Final = 1 << 18
_LEFT: Final = (
    "{path} {what} while it is followed: a run that goes on must find all its rows again; put it back, or "
    "have new files appear in a folder, and follow that"
)


class GrowingFile:
    """The text of a file as it is appended, for as long as nobody says that it is whole.

    A look in vain takes 9 us, three calls of the system, and tasks leave an idle source alone for longer and
    longer. So waiting for events of the file system would gain next to nothing.

    Args:
        path: of the file, which may still be empty.
        end_marker: the name of a file beside it whose appearance says that nothing more will be appended.

    Raises:
        SourceError: there is no such file, or it is compressed.
    """

    def __init__(self, path: str, end_marker: str | None = None) -> None:
        if is_packed(path):
            raise SourceError(f"{path} is compressed: follow=True wants a file to which text is appended")
        self._marker = None if end_marker is None else os.path.join(os.path.dirname(path), end_marker)
        self.file = SourceFile.growing(path)
        """The file as it was found."""

    def texts(self, file: SourceFile, encoding: str, *, translates: bool = True) -> Iterator[str | None]:
        """What is in the file, piece by piece; None where there is nothing more for now.

        Args:
            file: the file, as the run has found it when it began.
            encoding: its encoding; a byte order mark of UTF-8 is left out.
            translates: whether all line ends become a line feed.

        Raises:
            SourceError: it was cut off or rotated, or is no text.
            Exception: it cannot be read, or is not of this encoding; `reading` makes a SourceError of it.
        """
        kind = codecs.getincrementaldecoder("utf-8-sig" if is_utf_8(encoding) else encoding)
        decoder = io.IncrementalNewlineDecoder(kind(), translate=translates)
        is_first = True
        with open(file.path, "rb", buffering=0) as opened:
            file.check(opened)
            for chunk in self._chunks(opened, file):
                if chunk is not None and is_first:
                    check_text(file, encoding, chunk[:HEAD_BYTES])
                    is_first = False
                yield None if chunk is None else decoder.decode(chunk)
        yield decoder.decode(b"", final=True)

    def _chunks(self, opened: IO[bytes], file: SourceFile) -> Iterator[bytes | None]:
        total = 0
        while True:
            is_last_look = self._marker is not None and os.path.exists(self._marker)
            while chunk := opened.read(_CHUNK_BYTES):
                total += len(chunk)
                yield chunk
            self._check(opened, file, total)
            if is_last_look:
                return
            yield None

    def _check(self, opened: IO[bytes], file: SourceFile, total: int) -> None:
        if os.fstat(opened.fileno()).st_size < total:
            raise SourceError(_LEFT.format(path=file.path, what="was cut off"))
        try:
            is_there = os.stat(file.path).st_ino == file.inode
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise SourceError(_LEFT.format(path=file.path, what="was removed or rotated"))
