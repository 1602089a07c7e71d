"""The generalised operator O+ of the STRETCH paper: windows of one key each, over event time.

Vincenzo Gulisano et al., "STRETCH: Virtual Shared-Nothing Parallelism for Scalable and Elastic Stream
Processing", IEEE Transactions on Parallel and Distributed Systems, 2022.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal
from zoneinfo import ZoneInfo

from framework.operators.components.bolt import Bolt
from framework.operators.components.tuple import Tuple
from framework.operators.components.window_options import LateTuples, WindowOptions
from framework.operators.state.kept import Kept
from framework.operators.windows import Count
from framework.operators.windows.forms import FORMS, USUAL, Form, FormName, Rows, form_of
from framework.operators.windows.key_input import InputMode, key_input_of
from framework.operators.windows.key_state import KeyWindowState
from framework.operators.windows.key_window import KeyWindow, SideWindow
from framework.operators.windows.lengths import length_of
from framework.operators.windows.spec import (
    BEHIND_TIME,
    LATENESS_MS,
    LENGTH_COUNT,
    TIME_FIELD,
    forming,
    forming_sessions,
    spec_in,
)
from viper.scalars import python_keys
from viper.state import token_of

Length = Count | timedelta | int | str
"""Of a window: a number of tuples, or a duration; an int is one in microseconds, a text such as ``10s``."""


class OfTwoInputs:
    """An operator's windows, each of which has a state for either input.

    Args:
        operator: the operator.
        sides: by component and stream, the input that a tuple comes by.
    """

    def __init__(self, operator: OPlus, sides: Mapping[tuple[str, str], int]) -> None:
        self._operator = operator
        self._sides = sides

    def create(self) -> list[Any]:
        """As of `Operator`."""
        return [self._operator.create(), self._operator.create()]

    def update(self, window: KeyWindow, tup: Tuple) -> Rows:
        """As of `Operator`."""
        return self._operator.update(_both(window), tup, self._sides[tup.component, tup.stream])

    def output(self, window: KeyWindow) -> Rows:
        """As of `Operator`."""
        return self._operator.output(_both(window))

    def slide(self, window: KeyWindow) -> list[Any]:
        """As of `Operator`."""
        return [self._operator.slide(side) for side in _both(window)]


def _both(window: KeyWindow) -> tuple[SideWindow, SideWindow]:
    return SideWindow(window, 0), SideWindow(window, 1)


def sides_in(context: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """The number of the input that each stream is, in the order in which a component subscribes to them."""
    streams = context.get("source->stream->grouping", {}).items()
    names = [(source, name) for source, found in streams for name in found if not source.startswith("__")]
    return {stream: number for number, stream in enumerate(names)}


class OPlus(WindowOptions, Bolt):
    """Keeps a state for each key and window, updates it with each tuple, and emits when the window has ended.

        class Longest(OPlus):
            outputs = ["user", "length"]
            size, advance = "1h", "10m"

            def create(self):
                return 0

            def update(self, window, tup):
                window.state = max(window.state, len(tup.values.text))

            def output(self, window):
                yield window.key, window.state

    Windows are [start, start + size), and start at the multiples of `advance`. Rows that `output` returns lie
    at the window's end; rows that `update` returns lie below its tuple. See ``docs/windows.md``.

    The key of a tuple is that of the fields grouping by which it comes. In a class that defines `keys`, a
    tuple has as many keys as that returns. If such a bolt has several tasks, all tuples come to all of them
    (``all`` grouping), and each works for the keys that it owns.
    """

    size: Length | None = None
    """The length of a window: a duration, or a `Count` of tuples with one key."""
    advance: Length | None = None
    """From the start of one window to that of the next; as long as a window, if None."""
    offset: timedelta | int | str | None = None
    """The time by which windows start later than at the multiples of `advance`; or earlier, if below 0."""
    zone: str | ZoneInfo | None = None
    """The zone whose days, weeks or months size and advance are, such as ``Europe/Berlin``; UTC, if None."""
    gap: timedelta | int | str | None = None
    """Of sessions, in the place of size and advance: a window ends when no tuple has come for so long."""
    windows: FormName = USUAL
    """``multi`` if each window has a state of its own, ``single`` if each key has one that slides along."""
    inputs: Literal[1, 2] = 1
    """With two inputs, each has a state of its own in each window, and `update` gets the side of a tuple."""

    window_state = KeyWindowState()
    """The windows of the task's keys."""

    derives_keys: ClassVar[bool] = False
    """True if the class defines `keys`."""
    _late: LateTuples | None = None
    _is_addressed = False
    _is_copied = False
    _form: Form

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not (cls.auto_ack and cls.auto_fail and cls.auto_anchor):
            raise TypeError(
                f"{cls.__name__} sets auto_ack, auto_fail or auto_anchor to False, but a tuple is acked when "
                "its windows have taken it: derive it from Bolt"
            )
        if cls.process is not OPlus.process:
            raise TypeError(
                f"{cls.__name__} defines process, but gets its tuples in update: derive it from Bolt, or "
                "remove the method"
            )
        cls.derives_keys = cls.keys is not OPlus.keys

    def __init__(
        self,
        size: Length | None = None,
        advance: Length | None = None,
        *,
        offset: timedelta | int | str | None = None,
        zone: str | ZoneInfo | None = None,
        gap: timedelta | int | str | None = None,
        windows: FormName | None = None,
    ) -> None:
        """
        Args:
            size: as the attribute, whose place each of these takes if it is there.
            advance: likewise.
            offset: likewise.
            zone: likewise.
            gap: likewise.
            windows: likewise.
        """
        super().__init__()
        given = {"size": size, "advance": advance, "offset": offset, "zone": zone, "gap": gap}
        given["windows"] = windows
        for name, value in given.items():
            if value is not None:
                setattr(self, name, value)

    # -- what an operator defines

    def keys(self, tup: Tuple) -> Iterable[Any]:
        """The keys of a tuple; by default the one of its fields grouping."""
        return (self.window_state.key,)

    def create(self) -> Any:
        """The state of a window before its first tuple; by default None."""

    def update(self, window: Any, tup: Tuple, side: int = 0) -> Rows:
        """Take a tuple into a window; must be overridden.

        Args:
            window: a `KeyWindow`. With two inputs a `SideWindow` for each of them, and `side` is given.
            tup: the tuple.
            side: 0 or 1, the input that it came by, in the order of the bolt's inputs.

        Returns:
            Rows to be emitted below the tuple; None for none.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update(self, window, tup)")

    def output(self, window: Any) -> Rows:
        """Return the rows to emit when a window has ended; by default none."""

    def slide(self, window: Any) -> Any:
        """The state that remains of a single window, as it moves on by `advance`; must be overridden.

        Its start and end are still those before. With two inputs it is called for each.
        """
        raise NotImplementedError(f"{type(self).__name__} must define slide(self, window)")

    # -- how windows are formed

    @property
    def component_configuration(self) -> Mapping[str, Any]:
        """The forms of its windows, as configuration.

        Raises:
            TypeError: a length is not a length.
            ValueError: a length is not above 0, or the options of the windows exclude each other.
        """
        made = {**self._forming(), **self._window_config}
        if self.windows != USUAL and made.get(LATENESS_MS):
            raise ValueError(f"windows={self.windows!r} and allowed lateness: expected one of them")
        return made

    def _forming(self) -> Mapping[str, Any]:
        if self.windows not in FORMS:
            raise ValueError(f"windows={self.windows!r}: expected {' or '.join(map(repr, FORMS))}")
        if self.inputs not in (1, 2):
            raise ValueError(f"inputs={self.inputs!r}: expected 1 or 2")
        if self.gap is not None:
            others = self.size, self.advance, self.offset, self.zone
            if any(other is not None for other in others) or self.windows != USUAL:
                raise ValueError(
                    f"gap={self.gap!r}: expected no other length, no offset, no zone, and windows='multi'"
                )
            return forming_sessions(length_of("gap", self.gap))
        if self.size is None:
            return {}
        size, advance = self.size, self.size if self.advance is None else self.advance
        is_placed = self.offset is not None or self.zone is not None
        if isinstance(size, Count) and (self.windows != USUAL or is_placed):
            raise ValueError(f"size={size!r}, a count: expected no offset or zone, and windows='multi'")
        if self.zone is None:
            size, advance = length_of("size", size), length_of("advance", advance)
        return forming(size, advance, self.offset, self.zone)

    # -- what the runtime calls

    def process(self, tup: Tuple) -> None:
        """Take a tuple into the windows of its keys; not to be overridden."""
        if self.derives_keys:
            self._process_keys(tup)
            return
        if self.inputs == 2 and self._is_out(tup):
            return
        kept = self.window_state.of_tuple()
        if kept is None:
            return
        rows: list[Sequence[Any]] = []
        is_taken = self._takes(kept, tup, rows)
        for row in rows:
            self.emit(row)
        if not is_taken and self._late is not None:
            self._late.pass_by(tup)

    def _is_out(self, tup: Tuple) -> bool:
        """True if a tuple comes into no window, whatever its time."""
        return False

    def _process_keys(self, tup: Tuple) -> None:
        """Take a tuple into the windows of those of its keys that the task owns, group by group."""
        by_group: dict[int, list[Sequence[Any]]] = {}
        late: tuple[int, Tuple] | None = None
        for kept, taken, is_first in self._addressed(tup) if self._is_addressed else self._derived(tup):
            group = kept.value.group
            if not self._takes(kept, taken, by_group.setdefault(group, [])) and is_first:
                late = group, taken
        for group, rows in sorted(by_group.items()):
            if rows:
                self._collector.begin_group(group)
            for row in rows:
                self.emit(row)
        # The task tells of a late tuple that owns the first of its keys.
        if late is not None and self._late is not None:
            self._collector.begin_group(late[0])
            self._late.pass_by(late[1])

    def _derived(self, tup: Tuple) -> Iterator[tuple[Kept, Tuple, bool]]:
        """For each key of a tuple that the task owns: its windows, the tuple, whether no key is before it."""
        keys = {token_of(key): key for key in python_keys(self.keys(tup))}
        for number, key in enumerate(keys.values()):
            kept = self.window_state.of(key)
            if kept is not None:
                yield kept, tup, number == 0

    def _addressed(self, tup: Tuple) -> Iterator[tuple[Kept, Tuple, bool]]:
        """Likewise, of a tuple whose keys its producer has derived, or has copied it for."""
        state = self.window_state
        groups, keys, first = state.address
        own = state.groups
        make = None if type(tup.values) is tuple else type(tup.values)._make
        before = None
        for index in range(bisect_left(groups, own.start), bisect_left(groups, own.stop)):
            key, group = keys[index], groups[index]
            if self._is_copied:
                *values, key = key
                tup = tup._replace(values=tuple(values) if make is None else make(values))
            yield state.in_group(key, group), tup, group == first and group != before
            before = group

    def _takes(self, kept: Kept, tup: Tuple, rows: list[Sequence[Any]]) -> bool:
        """Take a tuple into windows of a key, if it is not too late for them; whether it is not."""
        if self._late is not None:
            time_us, now_us = self._late.time_of(tup), self.window_state.now()
            if time_us < now_us < BEHIND_TIME:
                return self._form.take_late(kept, tup, time_us, now_us, rows)
        self._form.take(kept, tup, rows)
        return True

    def _open_windows(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        """Continue with the windows that the task has."""
        spec = spec_in(conf)
        assert spec is not None, f"planning has refused windows without {LENGTH_COUNT}"
        state = self.window_state
        state.open(spec, conf)
        operator = self if self.inputs == 1 else OfTwoInputs(self, sides_in(context))
        self._form = form_of(state, operator, self.windows)
        key_input = key_input_of(conf)
        self._is_addressed = key_input.by_producer
        self._is_copied = key_input.mode is InputMode.KEYED
        if conf[TIME_FIELD] is not None:
            self._late = LateTuples(self, conf)

    def _fire(self, kept: Kept, window: KeyWindow) -> None:
        """Emit what a window comes to, that has ended and was closed."""
        for row in self._form.end(kept, window) or ():
            self.emit(row)

    def _fire_all(self, ended: Sequence[tuple[Kept, KeyWindow]]) -> None:
        """Emit what windows come to that have ended together, and close them, where nothing is taken back."""
        self._form.end_all(ended, self.emit)
