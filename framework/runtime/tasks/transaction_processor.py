"""How tuples with transactions are processed: gathered, evaluated by whoever comes to it, called back.

These are the three steps of TStream (Zhang et al., ICDE 2020, section IV): what a tuple touches is told first
and postponed, evaluated later, together with that of all others, and what came of it is told to the component
by a callback. There is no barrier between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from framework.runtime.exchange.pieces import Piece, split_at
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.gathering import Gathering
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.processors import TupleProcessor
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Positions
from viper.rows import Inbox


class CallbackProcessor(TupleProcessor):
    """Calls `process_result` with each tuple and the results of its transactions."""

    def __init__(
        self,
        slot: ComponentSlot,
        inbox: Inbox,
        acker: Acker | None,
        counters: TaskCounters,
        membership: Membership,
    ) -> None:
        """
        Args:
            slot: as of the base class, like the others.
            membership: has the results.
        """
        super().__init__(slot, inbox, acker, counters)
        self._take = membership.recorder.take_results
        self._raised_before: dict[int, BaseException] = {}
        self._number = 0

    def expect(self, raised: dict[int, BaseException]) -> None:
        """Tuples come next for some of which the component has raised before, by their number among them."""
        self._raised_before, self._number = raised, 0

    def _callback(self) -> Callable[[Any], object]:
        take, call_back = self._take, self._slot.host.component.process_result

        def results(tup: Any) -> None:
            for result in take():
                call_back(tup, result)

        def results_or_errors(tup: Any) -> None:
            number, self._number = self._number, self._number + 1
            found = take()
            if number in self._raised_before:
                raise self._raised_before[number]
            for result in found:
                call_back(tup, result)

        return results_or_errors if self._raised_before else results


class TransactionProcessor:
    """Gives the tuples of a slice to a bolt with shared tables, some at a time.

    Args:
        gathering: has the component say what it wants.
        callbacks: tells it what has come of that.
        membership: of the group that evaluates it.
    """

    def __init__(self, gathering: Gathering, callbacks: CallbackProcessor, membership: Membership) -> None:
        self.gathering = gathering
        self._callbacks = callbacks
        self.membership = membership
        self._positions = Positions()
        self._first = 0
        """Index in there of the next tuple that is called back."""

    @property
    def left_open(self) -> int:
        """Tuples that raised and were neither acked nor failed."""
        return self._callbacks.left_open

    @property
    def last_begun(self) -> int:
        """A number that is another one for each tuple; another thread sees by it that the task goes on."""
        return self._callbacks.last_begun

    @property
    def may_need_component(self) -> bool:
        """As of `Processor`."""
        return True

    def begin(self, positions: Positions) -> None:
        """Tuples at these positions come next."""
        self._positions, self._first = positions, 0
        self._callbacks.begin(positions)

    def process(self, pieces: list[Piece]) -> Iterator[None]:
        """Process tuples; yields whenever the rest has to wait, for room or for others of the group."""
        while pieces:
            left = sum(piece[2] for piece in pieces)
            count = count_at_once(self._positions, self._first, left, self.membership.most)
            batch, pieces = split_at(pieces, count)
            yield from self._process_batch(batch)

    def _process_batch(self, batch: list[Piece]) -> Iterator[None]:
        count, membership = sum(piece[2] for piece in batch), self.membership
        raised = found = self.gathering.gather(batch)
        membership.collect(self._positions, self._first, count)
        while count:
            ready = membership.ready()
            if not ready:
                membership.wait_at(self._positions[self._first])
                yield
                continue
            membership.go_on()
            part, batch = split_at(batch, ready)
            self._callbacks.expect(raised)
            yield from self._callbacks.process(part)
            raised = {number - ready: error for number, error in raised.items() if number >= ready}
            self._first += ready
            count -= ready
            if count:  # its outputs are placed, and told, before the task may wait
                yield
        self._callbacks.expect({})
        found.clear()  # the errors know the frames that have it


def count_at_once(positions: Positions, first: int, left: int, most: int) -> int:
    """How many tuples are gathered together: those of one position always are.

    Args:
        positions: theirs, among others.
        first: index in there of the first one.
        left: how many there are.
        most: how many there should be at the most.
    """
    if most >= left:
        return left
    count = most
    while count < left and positions[first + count] == positions[first + count - 1]:
        count += 1
    return count
