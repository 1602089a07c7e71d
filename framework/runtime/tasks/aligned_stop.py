"""Where a task of a partitioned spout stops: where the others do, at one event time."""

from __future__ import annotations

from framework.runtime.coordination.source_cut import QUIET_S, QUIET_TURNS
from viper.cut import Cut
from viper.partitions import NO_LIMIT

OF_THE_DRAIN = 0.25
"""Which part of the time to drain an aligned stop may take. Whoever asks for an end does not want to wait,
and a task can be far ahead: the tuples of a stream with few rows lie in its channel before others come to
them."""


class AlignedStop:
    """Lets a task go on, when the run is to drain, until it has brought all rows before the stop time.

    Each task reports how far it has come, and rests until all have; then those that are behind catch up. So
    the run has brought all rows up to one event time, and nothing behind it.

    Args:
        cut: where the tasks agree on the stop time, and which member this task is; None where it stops by
        itself. longest_s: seconds that all of this may take; then the task stops where it is.
    """

    def __init__(self, cut: tuple[Cut, int] | None, longest_s: float) -> None:
        self._cut: Cut | None = cut[0] if cut else None
        self._member = cut[1] if cut else 0
        self._longest_s = longest_s
        self._asked_s: float | None = None
        self._quiet_since_s = 0.0
        self._quiet_turns = 0

    @property
    def asked(self) -> bool:
        """Whether the run is to drain."""
        return self._asked_s is not None

    @property
    def until_us(self) -> int | None:
        """Event time in microseconds up to which rows are wanted; None: none for now."""
        if not self.asked or self._cut is None:
            return NO_LIMIT
        return self._cut.at

    def ask(self, now_s: float) -> None:
        """The run is to drain, from this monotonic time in seconds on."""
        self._asked_s = now_s
        self._quiet_turns = 0

    def report(self, time_us: int) -> None:
        """All that was brought lies up to this event time, and no more is brought but until the cut."""
        if self._cut is not None:
            self._cut.say(self._member, time_us)

    def leave(self) -> None:
        """Stop for itself; the others may go by what it has said."""
        self._cut = None

    def brought(self, count: int, now_s: float) -> None:
        """It was its turn, and so many rows have come; waiting for the others' words does not count."""
        if count or self.until_us is None:
            self._quiet_turns = 0
            return
        if not self._quiet_turns:
            self._quiet_since_s = now_s
        self._quiet_turns += 1

    def is_there(self, next_us: int, now_s: float) -> bool:
        """Whether it stops here.

        Args:
            next_us: no row that may still come is earlier than this event time.
            now_s: monotonic time in seconds.
        """
        if self._asked_s is None or self._cut is None:
            return True
        at_us = self._cut.at
        if at_us is not None and next_us > at_us:
            return True
        quiet = self._quiet_turns >= QUIET_TURNS and now_s - self._quiet_since_s >= QUIET_S
        return quiet or now_s - self._asked_s >= self._longest_s
