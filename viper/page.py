"""The page of a task: how far it has come in its inputs and outputs, in words that go back with its state.

When the process of a task is killed, the task's log is played back, and what the page says is true again. Its
successor is delivered what the dead one had taken since, does the same again, and leaves out what the
consumers have already. So nothing is lost, nothing comes twice, and no consumer can tell.

    page = TaskPage.create(arena, inputs=gate.source_count, outputs=1)
    page.read(0, gate, 0)
    page.feed(0, next_gate.source(0))
    ...
    if page.note(writer):  # all that was taken has been processed, and all that was emitted is in its rings
        writer.commit()
        gate.reader(0).release()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viper._backend import ffi, lib
from viper.arena import Arena
from viper.errors import StateFullError
from viper.gate import ScaleGate
from viper.position import Positions
from viper.source import Source
from viper.state import Writer


class TaskPage:
    """The page of one task, as one process sees it; `create` makes it, `attach` finds it again."""

    def __init__(self, arena: Arena, offset: int, *, inputs: int, outputs: int) -> None:
        self.offset = offset
        """Its offset in its arena."""
        self._inputs, self._outputs = inputs, outputs
        self._arena = arena  # keeps the memory
        arena._at(offset, self.size(inputs, outputs))
        page = lib.vp_page_new(arena._header, offset, inputs, outputs)
        if not page:
            raise MemoryError("no memory for a task's page")
        self._page: Any = ffi.gc(page, lib.vp_page_free)
        self._kept: list[object] = []  # whose memory it reads

    @classmethod
    def create(cls, arena: Arena, *, inputs: int, outputs: int) -> TaskPage:
        """A new one, of a task that has done nothing.

        Args:
            arena: where it lies: that of the task's log.
            inputs: the number of rings that the task reads.
            outputs: the number of rings that it feeds.

        Raises:
            ArenaError: the arena has no room for it.
        """
        offset = arena.allocate(cls.size(inputs, outputs))
        return cls(arena, offset, inputs=inputs, outputs=outputs)

    @classmethod
    def attach(cls, arena: Arena, offset: int, *, inputs: int, outputs: int) -> TaskPage:
        """The one at an offset, made with the same numbers."""
        return cls(arena, offset, inputs=inputs, outputs=outputs)

    @staticmethod
    def size(inputs: int, outputs: int) -> int:
        """Bytes that a page takes of an arena."""
        return int(lib.vp_arena_rounded(lib.vp_page_size(inputs, outputs)))

    # -- for the task

    def read(self, first: int, gate: ScaleGate, reader: int) -> None:
        """Say which reader the task takes its input by, and have that hold what it has delivered.

        Args:
            first: the number of the input that the gate's first source is; the others follow.
            gate: the gate.
            reader: index of the reader there.

        Raises:
            IndexError: the page has not that many inputs.
        """
        _check(first + gate.source_count - 1, self._inputs, "inputs")
        gate.reader(reader).hold(singly=self.singly > 0)
        lib.vp_page_read(self._page, first, gate._gate, reader)
        self._kept.append(gate)

    def read_by_the_dead(self, first: int, gate: ScaleGate, reader: int) -> None:
        """Say which reader the task took its input by before it died; arguments as of `read`."""
        lib.vp_page_read(self._page, first, gate._gate, reader)
        self._kept.append(gate)

    def feed(
        self,
        output: int,
        source: Source,
        *,
        repeats_positions: bool = True,
        on_left_out: Callable[[Positions, int, int], None] = lambda positions, first, count: None,
    ) -> int:
        """Say which source an output of the task is, and have that leave out what its readers have already.

        Args:
            output: the number of the output.
            source: the producing end.
            repeats_positions: whether a successor emits the same at the same positions.
            on_left_out: called with positions, an index and a number of tuples when these are left out.

        Returns:
            How many tuples the successor of a killed task will leave out.

        Raises:
            IndexError: the page has not that many outputs.
        """
        _check(output, self._outputs, "outputs")
        left = int(lib.vp_page_feed(self._page, output, source._ring))
        self._kept.append(source)
        if left:
            compared = {"compares_positions": repeats_positions}
            source.repeat(_Repeat(self._page, output, left, on_left_out, **compared))
        return left

    def note(self, writer: Writer) -> bool:
        """Write how far the task has come; a commit is to follow.

        To be called when all that it was delivered has been processed, and all that was emitted for it is in
        its rings.

        Returns:
            True if it has come any further since the last time.

        Raises:
            StateFullError: the log of the task cannot grow.
        """
        noted: int = lib.vp_page_note(self._page, writer._writer)
        if noted < 0:
            raise StateFullError("the pool has no room for the log of a task's page")
        return noted > 0

    @property
    def left(self) -> int:
        """The number of tuples that are still to be left out, of all outputs."""
        return sum(int(lib.vp_page_skip(self._page, number, 0)) for number in range(self._outputs))

    @property
    def singly(self) -> int:
        """The number of tuples that it had better take one by one, as a process has died among them."""
        return int(lib.vp_page_singly(self._page))

    def go_singly(self, tuples: int) -> None:
        """Have the task, or its successor, take so many tuples one by one."""
        lib.vp_page_set_singly(self._page, tuples)

    def ahead(self, output: int, source: Source) -> int:
        """After the task's process died: how many tuples an output has that its successor will leave out.

        Args:
            output: the number of the output.
            source: the producing end, which was recovered.

        Raises:
            IndexError: the page has not that many outputs.
        """
        _check(output, self._outputs, "outputs")
        self._kept.append(source)
        return int(lib.vp_page_feed(self._page, output, source._ring))

    # -- for anybody

    @property
    def commits(self) -> int:
        """The number of times that it has come further."""
        return int(lib.vp_page_commits(self._page))

    @property
    def delivered(self) -> list[int]:
        """The tuples that the task was delivered, by input."""
        return [int(lib.vp_page_delivered(self._page, number)) for number in range(self._inputs)]

    @property
    def handed_over(self) -> list[int]:
        """The tuples that it has handed over, by output."""
        return [int(lib.vp_page_handed_over(self._page, number)) for number in range(self._outputs)]

    def taken(self, first: int, gate: ScaleGate, reader: int) -> list[int]:
        """After the process died: the tuples that it had taken by a reader and not committed, by input.

        Claimed ones are one number, as if they had come by one input.
        """
        if gate.claims:
            return [int(lib.vp_page_taken_of_claim(self._page, first, gate._gate, reader))]
        inputs = range(first, first + gate.source_count)
        return [int(lib.vp_page_taken(self._page, number)) for number in inputs]

    def leave_out(self, writer: Writer) -> None:
        """After the process died: keep what it had taken and not committed from the successor. A commit is to
        follow.

        Raises:
            StateFullError: the log of the task cannot grow.
        """
        if lib.vp_page_leave_out(self._page, writer._writer) < 0:
            raise StateFullError("the pool has no room for the log of a task's page")

    def rewind(self, first: int, gate: ScaleGate, reader: int) -> None:
        """After the task's process died and its log was played back: have a successor resume after the page.

        Args:
            first: the number of the input that the gate's first source is.
            gate: where the task read.
            reader: index of its reader there.

        Raises:
            IndexError: the page has not that many inputs.
        """
        _check(first + gate.source_count - 1, self._inputs, "inputs")
        lib.vp_gate_rewind_reader(gate._gate, reader, self._page, first)


class _Repeat:
    """The tuples that a successor leaves out of one output."""

    __slots__ = ("_output", "_page", "compares_positions", "left", "left_out")

    def __init__(
        self,
        page: Any,
        output: int,
        left: int,
        on_left_out: Callable[[Positions, int, int], None],
        *,
        compares_positions: bool,
    ) -> None:
        self._page = page
        self._output = output
        self.left = left
        self.left_out = on_left_out
        self.compares_positions = compares_positions

    def skip(self, tuples: int) -> int:
        """So many were left out; returns how many are left."""
        self.left = int(lib.vp_page_skip(self._page, self._output, tuples))
        return self.left


def _check(number: int, count: int, what: str) -> None:
    if not 0 <= number < count:
        raise IndexError(f"no number {number} among the page's {count} {what}")
