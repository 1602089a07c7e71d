"""Changes the routes of a task's tuples from the cut of a reconfiguration on."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from framework.planning.routing import SwitchingRouter, TaskSet
from framework.runtime.coordination.cut_record import NO_PROPOSAL, CutRecord, CutState, Purpose, before_ticks
from framework.runtime.coordination.scale_record import ScaleRecord
from viper.jumbo import Emission
from viper.position import END, Position, Positions

_FOR_EVER: Final = 2**62
"""An attempt that is never made: a producer that has ended is behind the cut of all."""


class Switched(NamedTuple):
    """A router whose component may get other tasks."""

    tag: int
    """The index of the stream that it divides."""
    component: str
    """That gets the tuples."""
    router: SwitchingRouter


class RouteSwitch:
    """Informs the routers of one task of the tuple from which on they use the new routes.

    A source brings nothing behind the cut before that is decided, so whoever has a tuple behind it to send
    off finds the decision here. The positions of tuples count, not the input that has led to them: a window's
    output may lie before the cut although the task is after it.

    Args:
        cut: the record of the run where it is decided.
        scales: says which tasks there are before and behind.
        task: id of the task that emits.
        switched: its routers.
    """

    def __init__(self, cut: CutRecord, scales: ScaleRecord, task: int, switched: Sequence[Switched]) -> None:
        self._cut = cut
        self._scales = scales
        self._task = task
        self._switched = tuple(switched)
        self._components = {component for _, component, _ in switched}
        self._word = -1
        """That of the record when it was read last."""
        self._proposal = NO_PROPOSAL
        self._behind: Mapping[str, TaskSet] = {}
        """By component which tasks there are behind its cut."""
        self._is_ahead = False
        """True if a cut is decided, and no tuple after it has come yet."""
        self._told = 0
        """The last attempt behind whose cut the task has said to be."""

    def look(self, emission: Emission) -> None:
        """Hear the decision, and inform the routers which of these tuples, in their order, lie after the
        cut."""
        if self._cut.word != self._word:
            self._hear()
        if not self._is_ahead or not len(emission.payload):
            return
        place = self._cut.place(self._task, self._proposal.attempt, self._proposal.until_us)
        positions = emission.positions
        if positions.last() >= place:
            self._is_ahead = False
            first = _first_from(positions, place)
            tags = None if emission.tags is None else array("H", emission.tags)[:first]
            for tag, component, router in self._switched:
                before = first if tags is None else tags.count(tag)
                router.become(self._behind[component], before)

    def settle(self) -> None:
        """Note that the tuples that `look` got last have been divided."""
        for _, _, router in self._switched:
            router.settle()

    def committed(self, published: Position) -> None:
        """Note that all output of the task is committed, and that it emits nothing before a position any
        more.

        So its successor emits only what lies behind the cut, and need not know what was in force before.
        """
        if published >= END:
            self._scales.divide_anew(self._task, _FOR_EVER)
            return
        if self._cut.word != self._word:
            self._hear()
        proposal = self._proposal
        if self._is_decided and proposal.attempt != self._told:
            place = self._cut.place(self._task, proposal.attempt, proposal.until_us)
            if published >= before_ticks(place):
                self._scales.divide_anew(self._task, proposal.attempt)
                self._told = proposal.attempt

    @property
    def _is_decided(self) -> bool:
        """True if a reconfiguration is decided, as far as the task has heard."""
        return self._proposal.state is CutState.DECIDED and self._proposal.purpose is Purpose.RECONFIGURATION

    def _hear(self) -> None:
        before: Mapping[str, TaskSet] = {}
        while self._cut.word != self._word:  # the tasks are those of what it says
            self._word, self._proposal = self._cut.read(self._task)
            before = {component: self._scales.wanted(component) for component in self._components}
            self._behind = {component: self._scales.proposed(component) for component in self._components}
        self._is_ahead = self._is_decided
        for _, component, router in self._switched:
            router.become(before[component])


def _first_from(positions: Positions, place: Position) -> int:
    return bisect_left(range(len(positions)), True, key=lambda nth: positions[nth] >= place)
