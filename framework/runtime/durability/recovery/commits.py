"""The commits of a task: what it has done lasts from there on, whatever becomes of its process."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final, Protocol

from viper.page import TaskPage
from viper.position import Positions
from viper.reader import Reader
from viper.state import KeyedTable, Writer

_PROTOCOL: Final = 5
_BEGUN: Final = "begun"
"""The name of a note that is there since the first commit."""


class Noted(Protocol):
    """A part of a task that goes on in another process where it was at the last commit."""

    def save(self) -> Any:
        """What a successor must know; it can be pickled, and is the same where nothing has changed."""

    def restore(self, noted: Any) -> None:
        """Go on from what was noted."""


class Commits:
    """Commits what one task has done, slice by slice.

    Args:
        writer: writes what goes back if the process dies.
        page: how far the task is in its inputs and outputs.
        notes: by name, what else its successor must know.
        reader: holds its input until the commit; None for a task that has none.
    """

    def __init__(self, writer: Writer, page: TaskPage, notes: KeyedTable, reader: Reader | None) -> None:
        self._writer = writer
        self._page = page
        self._notes = notes
        self._reader = reader
        self._singly = page.singly if reader is not None else 0
        """How many tuples are still taken one by one, as a process has died among them."""
        self._parts: dict[str, Noted] = {}
        self._ahead: list[Callable[[], None]] = []
        self._behind: list[Callable[[], None]] = []
        self._on_left_out: Callable[[Positions, int, int], None] = lambda positions, first, count: None
        self._noted: dict[str, bytes] = {}
        """The pickled note of each part, as of the last commit."""
        self.is_due = False
        """Whether something was brought in a turn that is over, and not committed as yet."""
        self.has_begun = notes.get(_BEGUN) is not None
        """Whether the task has committed anything, in this process or in one that has died."""

    def make_due(self) -> None:
        """A turn is over in which something was brought: it is to be committed once it is in channels."""
        self.is_due = True

    def take_due(self) -> bool:
        """Whether anything was brought since the last call that is to be committed."""
        is_due, self.is_due = self.is_due, False
        return is_due

    @property
    def left(self) -> int:
        """How many tuples the process before this one has emitted, and this one has not as yet."""
        return self._page.left

    def tell_left_out(self, call: Callable[[Positions, int, int], None]) -> None:
        """Have something called with positions, an index and a number of tuples when these are left out."""
        self._on_left_out = call

    def left_out(self, positions: Positions, first: int, count: int) -> None:
        """So many tuples are not handed over, as the process before this one has done it."""
        self._on_left_out(positions, first, count)

    def keep(self, name: str, part: Noted) -> None:
        """Commit a part of the task from now on; what a process before this one has noted of it is restored.

        Args:
            name: the part's, the same in every process.
            part: the part. It takes the place of one that was kept by this name in this process; then nothing
                is restored.
        """
        if name in self._parts:
            self._parts[name] = part
            return
        found = self._notes.get(name)
        if found is not None:
            (self._noted[name],) = found
            part.restore(pickle.loads(self._noted[name]))
        self._parts[name] = part

    def call_ahead(self, call: Callable[[], None]) -> None:
        """Have something called ahead of each commit, which what it changes in a kept part belongs to."""
        self._ahead.append(call)

    def call_behind(self, call: Callable[[], None]) -> None:
        """Have something called behind each commit: what others act upon leaves the task only then."""
        self._behind.append(call)

    def commit(self) -> None:
        """Make what was done since the last commit last, and release the input that it was done for.

        To be called when all input that was taken has been processed, and everything that was emitted for it
        is in channels.
        """
        if not self.has_begun:
            self._notes.set(_BEGUN, (b"",))
            self.has_begun = True
        for call in self._ahead:
            call()
        for name, part in self._parts.items():
            noted = pickle.dumps(part.save(), _PROTOCOL)
            if noted != self._noted.get(name):
                self._notes.set(name, (noted,))
                self._noted[name] = noted
        if self._page.note(self._writer) or self._writer.written:
            self._writer.commit()
            if self._reader is not None:
                self._reader.release()
                if self._singly:
                    self._go_on_singly(self._reader)
        for call in self._behind:
            call()

    def _go_on_singly(self, reader: Reader) -> None:
        """One of the tuples has been processed among which a process has died."""
        self._singly -= 1
        self._page.go_singly(self._singly)
        if not self._singly:
            reader.hold()
