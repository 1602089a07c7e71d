"""A folder to which files are added, and a file to which lines are appended, while it is read."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Final

from framework.model.errors import SourceError
from framework.operators.sources.changes import FILE, FOLDER, NEW_NAMES, Changes
from framework.operators.sources.listing import SourceFile, in_folder
from framework.operators.sources.opening import HEAD_BYTES, check_text, is_packed, is_utf_8


class GrowingFolder:
    """The files of a folder one after the other, in the order of their names, the new ones as they appear.

    The number of partitions is fixed before a run begins, so all files together are one partition. Whoever
    reads the folder again must find the same order. So the name of each new file must come after all names
    before it, as names with a date or a growing number do. A file has to appear whole: write it under a name
    that begins with a dot or an underscore, and rename it.

    Args:
        path: the folder.
        end_marker: the name of a file in it whose appearance says that no further file will come.

    Raises:
        SourceError: there is nothing at the path, or no folder.
    """

    def __init__(self, path: str, end_marker: str | None = None) -> None:
        if not os.path.isdir(path):
            try:
                SourceFile.at(path)
            except SourceError as error:
                raise SourceError(
                    f"{error}; follow=True watches a folder for new files, or a file for new lines, and "
                    "either must be there before the run begins"
                ) from None
            raise SourceError(f"{path} is no folder")
        self.path = path
        self._marker = None if end_marker is None else os.path.join(path, end_marker)
        self.changes = Changes({path: FOLDER})
        """The changes of the folder, while its files are read."""

    def files(self) -> Iterator[SourceFile | None]:
        """The files; None where there is no further one for now.

        Raises:
            SourceError: a file has appeared under a name that comes before those that were read.
        """
        try:
            yield from self._found()
        finally:
            self.changes.close()

    def _found(self) -> Iterator[SourceFile | None]:
        read: list[str] = []
        while True:
            self.changes.forget()
            is_last_look = self._marker is not None and os.path.exists(self._marker)
            found = [path for path in in_folder(self.path) if path != self._marker]
            self._check(read, found)
            new = found[len(read) :]
            for path in new[:1]:  # as the others may be changed meanwhile
                yield SourceFile.at(path)
                read.append(path)
            if not new:
                if is_last_look:
                    return
                if not self.changes.begins():
                    yield None

    def _check(self, read: list[str], found: list[str]) -> None:
        known = set(read)
        if found[: len(read)] == read:
            return
        gone = known.difference(found)
        if gone:
            raise SourceError(
                f"{min(gone)} has gone while the folder is read: a run must find it when it goes on"
            )
        early = next(path for path in found if path not in known)
        raise SourceError(
            f"{early} has appeared after {read[-1]} was read: the names of new files must come behind all "
            "before, or another run would read them in another order"
        )


_CHUNK_BYTES: Final = 1 << 18
_LEFT: Final = (
    "{path} {what} while it is followed: a run that goes on must find all its rows again; put it back, or "
    "have new files appear in a folder, and follow that"
)


class GrowingFile:
    """The text of a file as it is appended, for as long as nobody says that it is whole.

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
        folder = {} if end_marker is None else {os.path.dirname(path) or os.curdir: NEW_NAMES}
        self.changes = Changes({path: FILE, **folder})
        """The changes of the file, while it is read."""

    def texts(self, file: SourceFile, encoding: str, *, translates: bool = True) -> Iterator[str | None]:
        """Yield the text of the file piece by piece; None while there is nothing more for now.

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
        with open(file.path, "rb", buffering=0) as opened, closing(self.changes):
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
            self.changes.forget()
            is_last_look = self._marker is not None and os.path.exists(self._marker)
            while chunk := opened.read(_CHUNK_BYTES):
                total += len(chunk)
                yield chunk
            self._check(opened, file, total)
            if is_last_look:
                return
            if not self.changes.begins():
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
