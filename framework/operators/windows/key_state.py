"""Windows by key as declared state, and which of them end next.

The windows of a key are pickled together when a slice ends that has changed them. The process alone knows at
which times the windows of a key end, and finds this again in the table. It may name a key whose window is
there no more, or ends later by now: then that key has nothing to fire.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from framework.operators.state import StateAccess
from framework.operators.state.declaration import PickledState
from framework.operators.state.kept import Kept, KeptValues
from framework.operators.state.loading import loaded
from framework.operators.windows.due import Due, Ending, Endings
from framework.operators.windows.grids import Grid
from framework.operators.windows.key_window import KeyWindow, KeyWindows, unpacked
from framework.operators.windows.spec import BEHIND_TIME, LATENESS_MS, PARTIAL, TIME_FIELD, WindowSpec
from viper.addressed import VALUES
from viper.hashing import group_of_hash, stable_hash
from viper.state import items, token_of

NamedKey = tuple[Hashable, Any, int]
"""The token that a key is found by, the key, and its group."""


class KeyWindowState(PickledState):
    """The windows of a component by key; the handle is `OpenKeyWindows`."""

    kind = "key window"
    holds = "windows"

    def handle(self, access: StateAccess) -> OpenKeyWindows:
        """As in the base class."""
        return OpenKeyWindows(access)


class OpenKeyWindows:
    """The windows of the keys that one task owns."""

    def __init__(self, access: StateAccess) -> None:
        self._access = access
        self._groups = access.groups
        (self._table,) = access.tables
        self._values = KeptValues(access)
        self.now = access.now
        """Returns the time of the tuple in process, in microseconds."""
        self.key_fields = access.key_fields
        """As of `StateAccess`."""
        self.spec: WindowSpec
        self.lateness_us = 0
        """The time for which a window is kept after its end."""
        self.grid: Grid
        """The bounds of windows by time that come every so much."""
        self._takes_late = False
        """True if late tuples are treated apart from others."""
        self._fires_rest = False
        """True if windows that no tuple has completed fire at the end of the input."""
        self._is_open = False
        self._number = 0
        """Of the window that was made last."""
        self._endings = Endings()
        self._being_taken: tuple[Due, Iterator[tuple[Kept, KeyWindow]]] | None = None
        """Windows that are due, of which the first ones were taken."""
        self._unread: set[int] = set()
        """The groups that were taken over, and that are not looked at before their first end."""
        self._noted = 0
        """The number of the window that was the last one when key groups were handed over."""

    def open(self, spec: WindowSpec, conf: Mapping[str, Any]) -> None:
        """Continue with the windows in the table.

        Args:
            spec: how the windows are formed.
            conf: says how long they are kept, and whether one fires that is not complete.
        """
        self.spec = spec
        self.lateness_us = round(min(conf[LATENESS_MS] * 1000, BEHIND_TIME))
        if spec.slide_us is not None:
            self.grid = spec.grid()
        self._takes_late = conf[TIME_FIELD] is not None
        self._fires_rest = conf[PARTIAL]
        self._is_open = True
        self._find_ends(self._groups)
        self._noted = self._number

    # -- as `NotingHandle`

    def note(self) -> None:
        """As `NotingHandle.note`: of each group the first end, and the number of the window made last."""
        if not self._is_open:
            return
        self._noted = self._number
        for group, end in self._first_ends().items():
            self._table.note(group, end, self._number)

    def own(self, groups: range) -> None:
        """As `OwningHandle.own`.

        To look at all windows of a group takes long, and is left until the first of them ends.

        Raises:
            RuntimeError: windows were made since the last `note`, so that the order of windows would be lost.
        """
        if self._number != self._noted and self._is_open:
            raise RuntimeError(
                f"state {self._access.name} has made windows since hand_over(): expected none before its key "
                "groups are handed over"
            )
        self._values.let_all_go()
        gained = [group for group in groups if group not in self._groups]
        self._groups = groups
        self._unread.intersection_update(groups)
        for group in gained if self._is_open else ():
            if self._table.count(group):
                end, number = self._table.noted(group)
                self._number = max(self._number, number)
                self._unread.add(group)
                self._endings.of(end, group)
        self._noted = self._number

    def _first_ends(self) -> dict[int, int]:
        """By group, a time before which none of its windows ends; of all groups that have windows."""
        return self._endings.firsts(group for group in self._groups if self._table.count(group))

    def _find_ends(self, groups: Iterable[int]) -> None:
        """Note when the windows of key groups end, of which nothing is known yet."""
        for group in groups:
            for _, (data,) in items(self._table, group):
                for window in unpacked(*loaded(data)).by_start.values():
                    self._number = max(self._number, window.number)
                    self._note_end(window, group)

    # -- the key of a tuple

    def of_tuple(self) -> Kept | None:
        """The windows of the key of the tuple in process, which are about to change.

        None where another task owns the key.

        Raises:
            LookupError: no tuple with a key is in process.
        """
        scope = self._access.scope
        kept = self._values.get(scope.token)
        return self.of(scope.key) if kept is None else self._touched(kept)

    def of(self, key: Any) -> Kept | None:
        """Likewise, of any key.

        Raises:
            TypeError: it is none.
        """
        kept = self._of(self.named(key))
        return None if kept is None else self._touched(kept)

    def in_group(self, key: Any, group: int) -> Kept:
        """Likewise, of a key in a group that the task owns."""
        token = token_of(key)
        return self._touched(self._values.get(token) or self._found(token, key, group))

    def named(self, key: Any) -> NamedKey:
        """Return a key with its token and group, for `of_named`; errors as of `of`."""
        return token_of(key), key, self.group_of(key)

    def of_named(self, key: NamedKey) -> Kept | None:
        """As `of`, for a change that will not be taken back."""
        kept = self._of(key)
        if kept is not None:
            self._values.mark(kept)
        return kept

    def _of(self, key: NamedKey) -> Kept | None:
        token, value, group = key
        if group not in self._groups:
            return None
        return self._values.get(token) or self._found(token, value, group)

    @property
    def groups(self) -> range:
        """The key groups that the task owns."""
        return self._groups

    @property
    def address(self) -> tuple[Any, ...]:
        """That of the tuple in process, whose keys its producer has derived; see `viper.addressed`."""
        row = self._access.scope.row
        assert row is not None, "a tuple is in process"
        return row[-VALUES:]

    def group_of(self, key: Any) -> int:
        """The group of a key."""
        return group_of_hash(stable_hash(key), self._access.group_count)

    def _touched(self, kept: Kept) -> Kept:
        self._values.touch(kept)
        return kept

    def _found(self, token: Hashable, key: Any, group: int) -> Kept:
        found = self._table.get(key)
        value = KeyWindows(key, group) if found is None else unpacked(*loaded(found[0]))
        return self._values.keep(Kept(token, value.key, None, value))

    # -- its windows

    def make(
        self, kept: Kept, start: int, end: int, last: int, state: Any, *, is_over: bool = False
    ) -> KeyWindow:
        """A new window of a key, whose latest tuple has a time."""
        windows: KeyWindows = kept.value
        self._number += 1
        window = KeyWindow(windows.key, start, end, self._number, last, state, is_over=is_over)
        windows.by_start[start] = window
        self._note_end(window, windows.group)
        return window

    def put(self, kept: Kept, window: KeyWindow) -> None:
        """Keep a window that was taken out, and may have other bounds now."""
        kept.value.by_start[window.start] = window
        self._touched(self._values.keep(kept))
        self._note_end(window, kept.value.group)

    def drop(self, kept: Kept, window: KeyWindow) -> None:
        """Keep a window no longer."""
        del kept.value.by_start[window.start]  # the table knows no more of the key from the next flush on

    def _note_end(self, window: KeyWindow, group: int) -> None:
        end = window.end + self.lateness_us if window.is_over else window.end
        if not self.spec.is_timed:
            end = BEHIND_TIME
        self._endings.of(end, group)[window.number] = window.key

    # -- what ends

    def next_end(self) -> int | None:
        """A time before which no window ends; None where there is none that ends at a time."""
        return self._endings.first

    def first_end_behind(self, time_us: int) -> int:
        """The first end of a window that a tuple of this time, or of a later one, may make."""
        spec = self.spec
        if spec.gap_us is not None:  # that of a late tuple may end any time now
            return time_us + (1 if self._takes_late else spec.gap_us)
        return self.grid.end_of(self.grid.first_start(time_us))

    def next_due(self, time_us: int | None) -> Due | None:
        """The windows to fire next, where no tuple comes before a time, in the order of ends and groups.

        Args:
            time_us: the time in microseconds; None for the end of all time.
        """
        if self._being_taken is not None:
            return self._being_taken[0]
        return self._endings.due(time_us, self._groups)

    def take(self, due: Due, most: int | None = None) -> list[tuple[Kept, KeyWindow]]:
        """The windows that are due, those first that were made first; they are not due again.

        Args:
            due: what `next_due` or `rest` gave last.
            most: how many are taken at once, as others stay due; None for all.
        """
        left = self._found_due(due) if self._being_taken is None else self._being_taken[1]
        taken = list(islice(left, most))
        self._being_taken = None if most is None or len(taken) < most else (due, left)
        return taken

    @property
    def leaves_due(self) -> bool:
        """True if `take` has left windows that are due."""
        return self._being_taken is not None

    def _found_due(self, due: Due) -> Iterator[tuple[Kept, KeyWindow]]:
        if due.group in self._unread:
            self._unread.remove(due.group)
            self._find_ends([due.group])
        ending = self._endings.take(due)
        if self.lateness_us or not self.spec.is_timed or due.end_us >= BEHIND_TIME:
            return iter(self._found_at_once(due, ending))
        return self._found_singly(due, ending)

    def _found_singly(self, due: Due, ending: Ending) -> Iterator[tuple[Kept, KeyWindow]]:
        """Yield the windows of keys that have one window at most with that end; each is read when it is
        taken."""
        get, find, end_us = self._values.get, self._found, due.end_us
        for number, key in sorted(ending.items()):
            token = token_of(key)
            kept = get(token) or find(token, key, due.group)
            for window in kept.value.by_start.values():
                if window.number == number:  # else the one that was noted has been taken back
                    if window.end == end_us:
                        yield kept, window
                    elif self.spec.gap_us is not None:  # it has become longer
                        self._note_end(window, due.group)
                    break

    def _found_at_once(self, due: Due, ending: Ending) -> list[tuple[Kept, KeyWindow]]:
        found = []
        for token, key in {token_of(key): key for key in ending.values()}.items():
            kept = self._values.get(token) or self._found(token, key, due.group)
            for window in list(kept.value.by_start.values()):
                if window.is_over:
                    self._expire(kept, window, due.end_us)
                elif window.end == due.end_us or not self.spec.is_timed:
                    found.append((kept, window))
                elif window.end > due.end_us and self.spec.gap_us is not None:  # it has become longer
                    self._note_end(window, due.group)
        found.sort(key=lambda pair: pair[1].number)
        return found

    def _expire(self, kept: Kept, window: KeyWindow, time_us: int) -> None:
        if window.end + self.lateness_us <= time_us:
            self._touched(kept)
            self.drop(kept, window)

    def close(self, kept: Kept, window: KeyWindow) -> None:
        """Close a window that has ended: it is kept for late tuples, or no longer."""
        self._touched(kept)
        if self.lateness_us and window.end < BEHIND_TIME:
            window.is_over = True
            self._note_end(window, kept.value.group)
        else:
            self.drop(kept, window)

    def slide(self, windows: Iterable[tuple[Kept, KeyWindow]]) -> None:
        """Slide windows that have ended together, in their order; this is not taken back.

        Args:
            windows: windows of one key group and of one end, with the states that they continue with.
        """
        ending, end_us = Ending(), None
        keep, mark, grid = self._values.keep, self._values.mark, self.grid
        for kept, window in windows:
            by_start = kept.value.by_start
            del by_start[window.start]
            window.start = grid.next_start(window.start)
            window.end = grid.end_of(window.start)
            by_start[window.start] = window
            mark(keep(kept))
            if window.end != end_us:
                end_us = window.end
                ending = self._endings.of(end_us, kept.value.group)
            ending[window.number] = window.key

    def move(self, kept: Kept, window: KeyWindow, start_us: int) -> None:
        """Replace a window that ends now by the next one, which ends now as well; this is not taken back."""
        del kept.value.by_start[window.start]
        window.start = start_us
        kept.value.by_start[start_us] = window

    def end(self, windows: Iterable[tuple[Kept, KeyWindow]]) -> None:
        """Drop windows that have ended; this is not taken back."""
        for kept, window in windows:
            del kept.value.by_start[window.start]
            self._values.mark(kept)

    @property
    def takes_back(self) -> bool:
        """True if the changes of a tuple or a call may be taken back, and the task continue."""
        return self._access.goes_on

    # -- the end of the input

    def rest(self) -> Iterator[Due]:
        """Yield the windows that are left at the end of the input, by group.

        They are windows of tuples after all that have a time, and incomplete windows, if these shall fire.
        """
        if self.spec.is_timed or self._fires_rest:
            yield from self._endings.rest(self._groups)

    # -- as `DirtyHandle`

    def flush(self) -> None:
        """As `DirtyHandle.flush`."""
        pickled, put = self._values.pickled, self._table.set
        for kept in self._values.flush():
            windows: KeyWindows = kept.value
            if windows.by_start or windows.count:
                put(kept.key, (pickled(windows.packed()),))
            else:  # there is nothing to be remembered of the key
                self._values.let_go(kept)
                self._table.drop(kept.key)

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        self._values.forget()
