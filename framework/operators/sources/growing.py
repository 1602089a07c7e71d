"""A folder to which files are added while it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from framework.model.errors import SourceError
from framework.operators.sources.listing import SourceFile, in_folder


class GrowingFolder:
    """The files of a folder one after the other, in the order of their names, the new ones as they appear.

    The number of partitions is fixed before a run begins, so all files together are one partition. Whoever
    reads the folder again must find the same order, so the name of each new file must come behind all
    names before it, as those with a date or a growing number do. A file has to appear whole: write it
    under a name that begins with a dot or an underscore, and rename it.

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

    def files(self) -> Iterator[SourceFile | None]:
        """The files; None where there is no further one for now.

        Raises:
            SourceError: a file has appeared under a name that comes before those that were read.
        """
        read: list[str] = []
        while True:
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
