"""Processing of tuples with transactions: gathered, evaluated by any thread, called back.

These are the three steps of TStream (Zhang et al., ICDE 2020, section IV). First, the accesses of a tuple are
registered and postponed. Later they are evaluated, together with those of all others. Last, a callback hands
the component the results. There is no barrier between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from framework.model.errors import EmitError
from framework.runtime.exchange.pieces import Piece, split_at
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.processors import TupleProcessor
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Positions
from viper.rows import Inbox
from viper.transactions.recorder import Recorder


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
        """Prepare for tuples, for some of which the component has raised before, by their number among
        them."""
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
        callbacks: hand it the results.
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
        """A number that changes with each tuple; another thread sees by it that the task makes progress."""
        return self._callbacks.last_begun

    @property
    def may_need_component(self) -> bool:
        """As of `Processor`."""
        return True

    def begin(self, positions: Positions) -> None:
        """Prepare for tuples at these positions."""
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
    """The number of tuples that are gathered together: those of one position always are.

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


class Gathering:
    """Calls `process` of a bolt with shared tables.

    Meanwhile it may not emit or answer, as its answer depends on tables whose earlier transactions may not
    have been evaluated. Its declared state stays closed, as callbacks of earlier tuples may change it.

    Args:
        slot: holds the component.
        inbox: makes tuples of rows; the recorder knows by it which one is in process.
        recorder: notes the transactions of the component.
    """

    def __init__(self, slot: ComponentSlot, inbox: Inbox, recorder: Recorder) -> None:
        self._slot = slot
        self._inbox = inbox
        self._recorder = recorder

    def gather(self, pieces: list[Piece]) -> dict[int, BaseException]:
        """Call it for tuples; returns what it has raised, by the number of the tuple among them.

        Such a tuple has no transactions.
        """
        raised: dict[int, BaseException] = {}
        if self._slot.state is not None:
            self._slot.state.scope.leave()
        self._recorder.start()
        self._inbox.load(pieces)
        with self._recording(self._slot.host.component):
            while not self._is_done(raised):
                pass
        return raised

    def _is_done(self, raised: dict[int, BaseException]) -> bool:
        process, inbox = self._slot.process, self._inbox
        try:
            for tup in inbox:
                process(tup)
        except user_errors() as error:
            raised[inbox.handed - 1] = error
            self._recorder.discard_input()
            return False
        return True

    @contextmanager
    def _recording(self, component: Any) -> Iterator[None]:
        with refusing(component):
            given = {"transaction": self._recorder.begin, "alone": self._recorder.alone}
            component.__dict__.update(given)
            try:
                yield
            finally:
                for name in given:
                    del component.__dict__[name]


@contextmanager
def refusing(component: Any) -> Iterator[None]:
    """Within the block, a component that says what it wants of shared tables can neither emit nor answer."""
    before = {name: component.__dict__.get(name) for name in _REFUSED}
    component.__dict__.update(_REFUSED)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del component.__dict__[name]
            else:
                component.__dict__[name] = value


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise EmitError(
            f"{name}() where a bolt says what it wants of shared tables: that is evaluated later, so "
            f"{name}() belongs into process_result(), of batches into process_results()"
        )

    return refuse


_REFUSED: Final = {name: _refusal(name) for name in ("emit", "emit_rows", "ack", "fail")}
