"""Channels and their reference, driven by the same random steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.viper.reference import ReferenceChannel, Tuple
from viper.arena import Arena
from viper.errors import OrderError, SourceClosedError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.position import END, LEAST, Position, Positions

STEPS = st.integers(0, 2)
"""How far a position lies behind the one before it; ties are likely."""
SOURCES = st.integers(0, 4)


def later(position: Position, step: int) -> Position:
    ts = 0 if position == LEAST else position.ts
    return Position(ts, 0, position.lo + step) if step < 2 else Position(ts + 1, 0, 0)


class ChannelMachine(RuleBasedStateMachine):
    """Does to a channel what its tasks do, in any order."""

    reference_class: type[ReferenceChannel] = ReferenceChannel

    @initialize(
        sources=st.integers(1, 5), slots=st.sampled_from([1, 2, 8]), tuples=st.sampled_from([4, 8, 32])
    )
    def begin(self, sources: int, slots: int, tuples: int) -> None:
        arena = Arena.private(ScaleGate.size(sources, 1, slots, tuples, 0))
        self.count, self.tuples, self.items = sources, tuples, 0
        self.gate = ScaleGate.create(arena, sources, slots=slots, tuples=tuples)
        self.reader = self.gate.reader(0)
        self.reference = self.reference_class(sources, slots, tuples)

    @rule(source=SOURCES, steps=st.lists(STEPS, min_size=1, max_size=8))
    def add(self, source: int, steps: list[int]) -> None:
        source %= self.count
        model = self.reference.sources[source]
        if model.floor == END:
            return
        tuples: list[Tuple] = []
        position = model.floor
        for step in steps[: self.tuples]:
            position = later(position, step)
            self.items += 1
            tuples.append((position, f"item {self.items}"))
        assert self._add(source, tuples) == model.add(tuples)

    @rule(source=SOURCES, step=STEPS)
    def heartbeat(self, source: int, step: int) -> None:
        source %= self.count
        model = self.reference.sources[source]
        if model.floor != END:
            position = later(model.floor, step)
            self.gate.source(source).heartbeat(position)
            model.heartbeat(position)

    @rule(source=SOURCES)
    def heartbeat_behind(self, source: int) -> None:
        self.gate.source(source % self.count).heartbeat(LEAST)

    @rule(source=SOURCES)
    def close(self, source: int) -> None:
        self.gate.source(source % self.count).close()
        self.reference.sources[source % self.count].heartbeat(END)

    @rule(source=SOURCES)
    def add_behind_the_floor(self, source: int) -> None:
        source %= self.count
        floor = self.reference.sources[source].floor
        if floor == LEAST:
            return
        with pytest.raises(SourceClosedError if floor == END else OrderError):
            self._add(source, [(LEAST, "too late")])

    @rule(limit=st.integers(0, 20))
    def get_ready(self, limit: int) -> None:
        into = Positions()
        runs = self.reader.get_ready(limit, into)
        items = [(source, item) for source, jumbo, *cut in runs for (item,) in jumbo.rows[cut[0] : sum(cut)]]
        found = [(source, (at, item)) for at, (source, item) in zip(into, items, strict=True)]
        expected: list[tuple[int, Tuple]] = []
        while len(expected) < limit and self.reference.ready():
            expected.append(self.reference.deliver())
        assert found == expected

    @invariant()
    def agrees(self) -> None:
        reader, reference = self.reader, self.reference
        assert reader.ready() == reference.ready()
        assert reader.watermark() == reference.frontier()
        assert reader.drained() == reference.drained()
        assert reader.holding_source() == reference.holding_source()
        waiting = [sum(len(tuples) for _, tuples in source.jumbos) for source in reference.sources]
        assert [source.waiting_tuples for source in self.gate.statistics().readers[0].sources] == waiting

    def _add(self, source: int, tuples: list[Tuple]) -> bool:
        positions = Positions()
        for position, _ in tuples:
            positions.append(position)
        return self.gate.source(source).add(Jumbo([(item,) for _, item in tuples]), positions, 0, len(tuples))


class TestChannel(ChannelMachine.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=300, stateful_step_count=40)


# The first example that tells them apart will do.
CATCH = settings(max_examples=300, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)


class TiesByLastIndex(ReferenceChannel):
    def key(self, index: int) -> tuple[Position, int]:
        return self.sources[index].bound(), -index


class SilentSourcesAreIgnored(ReferenceChannel):
    def first(self) -> int:
        speaking = [i for i in range(len(self.sources)) if self.sources[i].jumbos]
        return min(speaking or range(len(self.sources)), key=self.key)


class ProgressIsIgnored(ReferenceChannel):
    def key(self, index: int) -> tuple[Position, int]:
        source = self.sources[index]
        return (source.bound() if source.jumbos or source.progress == END else source.last_delivered), index


@pytest.mark.parametrize("mistake", [TiesByLastIndex, SilentSourcesAreIgnored, ProgressIsIgnored])
def test_the_model_catches_mistakes(mistake: type[ReferenceChannel]) -> None:
    machine: Any = type(mistake.__name__, (ChannelMachine,), {"reference_class": mistake})
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=CATCH)
