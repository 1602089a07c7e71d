"""The generalised operator O+ of the STRETCH paper: windows of one key each, over event time.

Vincenzo Gulisano et al., "STRETCH: Virtual Shared-Nothing Parallelism for Scalable and Elastic Stream
Processing", IEEE Transactions on Parallel and Distributed Systems, 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal, Self

from framework.components.bolt import Bolt
from framework.components.late_tuples import LateTuples
from framework.components.tuple import Tuple
from framework.state.kept import Kept
from framework.windows import Count
from framework.windows.key_state import KeyWindowState, first_start
from framework.windows.key_window import KeyWindow
from framework.windows.lengths import length_of
from framework.windows.spec import (
    LATE_STREAM,
    LATENESS_MS,
    LENGTH_COUNT,
    PARTIAL,
    TIME_FIELD,
    forming,
    forming_sessions,
    milliseconds,
    spec_in,
)
from framework.windows.state import BEHIND_TIME

Length = Count | timedelta | int | str
"""Of a window: a number of tuples, or a duration; an int is one in microseconds, a text such as ``10s``."""
Rows = Iterable[Sequence[Any]] | None


class OPlus(Bolt):
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

    Windows are [start, start + size), and start at the multiples of `advance`. What `output` gives stands at
    the window's end; what `update` gives stands below its tuple. See ``docs/windows.md``.

    The key of a tuple is that of the fields grouping by which it comes. A class that defines `keys` has as
    many for each tuple as that returns; where it has several tasks, all tuples come to all of them (``all``
    grouping), and each works for the keys that it owns.
    """

    size: Length | None = None
    """How long a window is: a duration, or a `Count` of tuples with one key."""
    advance: Length | None = None
    """From the start of one window to that of the next; as long as a window, if None."""
    gap: timedelta | int | str | None = None
    """Of sessions, in the place of size and advance: a window ends when no tuple has come for so long."""
    windows: Literal["multi", "single"] = "multi"
    """Whether each window has a state of its own, or each key one that slides on from window to window."""
    inputs: Literal[1, 2] = 1
    """With two inputs, each has a state of its own in each window, and `update` is told whose a tuple is."""

    window_state = KeyWindowState()
    """The windows of the task's keys."""

    derives_keys: ClassVar[bool] = False
    """Whether the class defines `keys`."""
    _window_config: Mapping[str, Any] = {}
    _late: LateTuples | None = None
    _take: Callable[[Kept, Tuple], Rows]
    _sides: Mapping[tuple[str, str], int] = {}

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
        gap: timedelta | int | str | None = None,
        windows: Literal["multi", "single"] | None = None,
    ) -> None:
        """
        Args:
            size: as the attribute, whose place each of these takes if it is there.
            advance: likewise.
            gap: likewise.
            windows: likewise.
        """
        super().__init__()
        given = {"size": size, "advance": advance, "gap": gap, "windows": windows}
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
        """What is to be emitted when a window has ended; by default nothing."""

    def slide(self, window: Any) -> Any:
        """The state that remains of a single window, as it moves on by `advance`; must be overridden.

        Its start and end are still those before. With two inputs it is called for each.
        """
        raise NotImplementedError(f"{type(self).__name__} must define slide(self, window)")

    # -- how windows are formed

    def with_allowed_lateness(self, lateness: timedelta) -> Self:
        """Keep windows for a time behind their end, for late tuples: with each of these they fire again."""
        return self._with({LATENESS_MS: milliseconds("the allowed lateness", lateness, zero=True)})

    def with_partial_window(self) -> Self:
        """At the end of the input, fire the windows that no tuple has completed."""
        return self._with({PARTIAL: True})

    def with_timestamp_field(self, field: str) -> Self:
        """Say that a field has the time of a tuple. Spouts must take their timestamps from it, too."""
        return self._with({TIME_FIELD: field})

    def with_late_tuple_stream(self, stream: str) -> Self:
        """Emit tuples that come too late for their windows on a stream, each as the only value."""
        return self._with({LATE_STREAM: stream})

    @property
    def component_configuration(self) -> Mapping[str, Any]:
        """How its windows are formed, as configuration.

        Raises:
            TypeError: a length is none.
            ValueError: a length is not above 0, or windows are what they cannot be.
        """
        return {**self._forming(), **self._window_config}

    def _with(self, configured: Mapping[str, Any]) -> Self:
        self._window_config = {**self._window_config, **configured}
        return self

    def _forming(self) -> Mapping[str, Any]:
        if self.windows not in ("multi", "single"):
            raise ValueError(f"windows={self.windows!r}: expected 'multi' or 'single'")
        if self.inputs not in (1, 2):
            raise ValueError(f"inputs={self.inputs!r}: expected 1 or 2")
        if self.gap is not None:
            if self.size is not None or self.advance is not None or self.windows == "single":
                raise ValueError(f"gap={self.gap!r}: expected no size, no advance, and windows='multi'")
            return forming_sessions(length_of("gap", self.gap))
        if self.size is None:
            return {}
        advance = self.size if self.advance is None else self.advance
        return forming(length_of("size", self.size), length_of("advance", advance))

    # -- what the runtime calls

    def process(self, tup: Tuple) -> None:
        """Take a tuple into its windows; not to be overridden."""
        kept = self.window_state.of_tuple()
        if kept is not None:
            self._emit_rows(self._take(kept, tup))

    def _emit_rows(self, rows: Rows) -> None:
        if rows is not None:
            emit = self.emit
            for row in rows:
                emit(row)

    def _open_windows(self, conf: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        """Go on with the windows that the task has."""
        spec = spec_in(conf)
        assert spec is not None, f"planning has refused windows without {LENGTH_COUNT}"
        self.window_state.open(spec, conf)
        self._size, self._advance = spec.length_us or 0, spec.slide_us or 0
        take = self._take_single if self.windows == "single" else self._take_multi
        self._take = take

    def _take_multi(self, kept: Kept, tup: Tuple) -> Rows:
        """Take a tuple into all windows of its time."""
        state, windows = self.window_state, kept.value.by_start
        time_us = state.now()
        start, rows = first_start(time_us, self._size, self._advance), None
        while start <= time_us:
            window = windows.get(start)
            if window is None:
                window = state.make(kept, start, start + self._size, time_us, self.create())
            window.last = time_us
            made = self.update(window, tup)
            if made is not None:
                rows = made if rows is None else [*rows, *made]
            start += self._advance
        return rows

    def _take_single(self, kept: Kept, tup: Tuple) -> Rows:
        """Take a tuple into the window of its key that slides."""
        state, windows = self.window_state, kept.value.by_start
        time_us = state.now()
        window = next(iter(windows.values()), None)
        if window is None:
            start = first_start(time_us, self._size, self._advance)
            if start > time_us:  # between two windows
                return None
            window = state.make(kept, start, start + self._size, time_us, self.create())
        window.last = time_us
        return self.update(window, tup)

    def _fire(self, kept: Kept, window: KeyWindow) -> None:
        """Emit what a window comes to, that has ended and was taken out."""
        self._emit_rows(self.output(window))
        if self.windows == "single" and window.end < BEHIND_TIME:
            start = window.start + self._advance
            if window.last >= start:
                window.state = self.slide(window)
                window.start, window.end = start, window.end + self._advance
                self.window_state.put(kept, window)
