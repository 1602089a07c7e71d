"""Words that outlive a process, and how a task writes them so that a slice goes back whole."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

NEVER = 1 << 60
ABSENT = object()


class Killed(Exception):
    """The process was killed; the store that it was about to make never happens."""


class Process:
    """A worker process: it makes a number of stores, and is killed before the next one."""

    def __init__(self, stores: int = NEVER) -> None:
        self.stores_left = stores

    def store(self) -> None:
        """Stand before each store that outlives the process.

        Raises:
            Killed: the process has made all the stores that it was granted.
        """
        if self.stores_left == 0:
            raise Killed
        self.stores_left -= 1


class Page:
    """The shared memory of one task: the words that define its progress, and its undo log."""

    def __init__(self) -> None:
        self.words: dict[Hashable, Any] = {}
        self.cells: dict[int, int] = {}
        """Written without a note in the log, as nobody reads a cell that is not taken."""
        self.entries: list[tuple[Hashable, Any]] = []
        self.length = 0
        """The number of entries of the log that count."""


class Writer:
    """The one writer of a page; whoever opens a page first takes back what was not committed."""

    def __init__(self, page: Page, process: Process) -> None:
        self.page = page
        self.process = process
        self.freed: list[int] = []
        self._play_back()

    def _play_back(self) -> None:
        page, store = self.page, self.process.store
        while page.length:
            word, before = page.entries[page.length - 1]
            store()
            if before is ABSENT:
                page.words.pop(word, None)
            else:
                page.words[word] = before
            store()
            page.length -= 1

    def read(self, word: Hashable, default: Any = None) -> Any:
        return self.page.words.get(word, default)

    def write(self, word: Hashable, value: Any) -> None:
        """Write a word: the entry, then that it counts, then the word itself."""
        page, store = self.page, self.process.store
        store()
        del page.entries[page.length :]
        page.entries.append((word, page.words.get(word, ABSENT)))
        store()
        page.length += 1
        store()
        page.words[word] = value

    def take_cell(self) -> int:
        free: tuple[int, ...] = self.read("free", ())
        if free:
            self.write("free", free[:-1])
            return free[-1]
        cell: int = self.read("cells", 0)
        self.write("cells", cell + 1)
        return cell

    def fill_cell(self, cell: int, value: int) -> None:
        self.process.store()
        self.page.cells[cell] = value

    def free_cell(self, cell: int) -> None:
        """Give a cell up; no later store of this slice may fall into it."""
        self.freed.append(cell)

    def commit(self) -> None:
        """Make the slice final, by one store."""
        if self.freed:
            self.write("free", (*self.read("free", ()), *self.freed))
            self.freed = []
        self.process.store()
        self.page.length = 0
