"""What a bolt's task reads from: its channel, and the ways back through cycles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framework.runtime.inputs.pieces import InputSource, Piece, by_level, cut
from viper.position import Level, Position, Positions
from viper.reader import Reader


class Inlet:
    """One reader, and the tasks that feed it."""

    def __init__(self, reader: Reader, sources: Sequence[InputSource], shares: bool) -> None:
        """
        Args:
            reader: delivers jumbo tuples.
            sources: the producing tasks, by their index at the reader's gate.
            shares: whether other replicas get the same values, which one of them may change.
        """
        self.reader = reader
        self.sources = tuple(sources)
        self._shares = shares

    def take(self, limit: int, positions: Positions) -> list[Piece]:
        """About so many tuples at most that are ready; their positions are appended.

        Raises:
            CodecError: something from another process cannot be read here.
        """
        return cut(self.reader.get_ready(limit, positions), self.sources, self._shares)


class BoltInput:
    """All that one task of a bolt receives."""

    def __init__(
        self,
        reader: Reader,
        sources: Sequence[InputSource],
        feedback: Sequence[tuple[Reader, InputSource]],
        shares: bool,
    ) -> None:
        """
        Args:
            reader: of the task's channel.
            sources: the producing tasks, by their index at the channel's gate.
            feedback: the ways back through cycles, with their producing tasks.
            shares: whether other replicas get the same values, which one of them may change.
        """
        self.channel = Inlet(reader, sources, shares)
        self.feedback = tuple(Inlet(back, (source,), shares) for back, source in feedback)
        inlets = (self.channel, *self.feedback)
        streams = [s for inlet in inlets for source in inlet.sources for s in source.streams.values()]
        self._has_one_level = len({stream.level for stream in streams}) == 1

    @property
    def is_cyclic(self) -> bool:
        """Whether tuples come back to the task through a cycle."""
        return bool(self.feedback)

    @property
    def has_producers(self) -> bool:
        """Whether the task has any input at all but ticks."""
        return any(source.streams for inlet in (self.channel, *self.feedback) for source in inlet.sources)

    def by_level(self, pieces: list[Piece]) -> Iterable[tuple[Level, list[Piece]]]:
        """Pieces in a row whose outputs are marked at the same level."""
        if self._has_one_level:
            return ((pieces[0][3].level, pieces),)
        return by_level(pieces)

    def is_ready(self) -> bool:
        """Whether a tuple could be processed now."""
        return self.channel.reader.ready() or any(back.reader.ready() for back in self.feedback)

    @property
    def held_by(self) -> str | None:
        """``component:task id`` of the task that holds the input back, if one does."""
        held = self.channel.reader.holding_source()
        return None if held is None else self.channel.sources[held].name

    @property
    def waits(self) -> bool:
        """Whether there is input that cannot be processed yet."""
        return self.channel.reader.waiting_tuples() > 0

    def watermark(self) -> Position:
        """Nothing below this position will come, but through a cycle."""
        return self.channel.reader.watermark()

    def last_ts(self) -> int:
        """How far event time has come, in microseconds, by what the producers say."""
        return self.channel.reader.last_ts()

    def done_with(self, waiting: int) -> None:
        """All that was taken is finished with, but for so many untracked tuples that came of it and wait."""
        self.channel.reader.working(waiting)
        for back in self.feedback:
            back.reader.working(0)
