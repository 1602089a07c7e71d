"""Gates and their reference, driven by the same random steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.viper.reference import ReferenceReader, ReferenceSource, ReferenceStore, Tuple
from viper.arena import Arena
from viper.codec import encode
from viper.errors import OrderError, PayloadSizeError, SourceClosedError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, LEAST, Position, Positions
from viper.reader import Reader

STEPS = st.integers(0, 2)
"""The distance of a position from the one before it; ties are likely."""
SOURCES = st.integers(0, 4)
READERS = st.integers(0, 2)


def later(position: Position, step: int) -> Position:
    ts = 0 if position == LEAST else position.ts
    return Position(ts, 0, position.lo + step) if step < 2 else Position(ts + 1, 0, 0)


def jumbo_of(tuples: list[Tuple]) -> Jumbo:
    return Jumbo(Rows([(item,) for _, item in tuples]))


class GateMachine(RuleBasedStateMachine):
    """Does to a gate what its tasks do, in any order; some readers are in another process, as it were."""

    reader_class: type[ReferenceReader] = ReferenceReader

    @initialize(
        sources=st.integers(1, 5),
        readers=st.integers(1, 3),
        local=st.integers(0, 3),
        slots=st.sampled_from([1, 2, 8]),
        tuples=st.sampled_from([4, 8, 32]),
        payload_bytes=st.sampled_from([128, 1024]),
    )
    def begin(
        self, sources: int, readers: int, local: int, slots: int, tuples: int, payload_bytes: int
    ) -> None:
        shape: dict[str, Any] = {"slots": slots, "tuples": tuples, "payload_bytes": payload_bytes}
        self.arena = Arena.private(ScaleGate.size(sources, readers, **shape))
        offset = ScaleGate.create(self.arena, sources, readers, **shape).offset
        here = range(min(local, readers))
        self.gate = ScaleGate.attach(self.arena, offset, local_readers=here)
        elsewhere = ScaleGate.attach(self.arena, offset)
        self.readers = [(self.gate if i in here else elsewhere).reader(i) for i in range(readers)]
        self.encodes = len(here) < readers
        self.count, self.tuples, self.payload_bytes, self.items = sources, tuples, payload_bytes, 0
        self.models = [
            ReferenceSource(slots, ReferenceStore(tuples), ReferenceStore(payload_bytes // 8))
            for _ in range(sources)
        ]
        self.references: list[ReferenceReader] = [self.reader_class(self.models) for _ in range(readers)]
        self.expelled: set[int] = set()

    @rule(source=SOURCES, steps=st.lists(STEPS, min_size=1, max_size=8), width=st.integers(1, 60))
    def add(self, source: int, steps: list[int], width: int) -> None:
        source %= self.count
        model = self.models[source]
        if model.floor == END:
            return
        tuples: list[Tuple] = []
        position = model.floor
        for step in steps[: self.tuples]:
            position = later(position, step)
            self.items += 1
            tuples.append((position, f"item {self.items}".ljust(width)))
        size = len(encode(jumbo_of(tuples))) if self.encodes else 0
        if size > self.payload_bytes:
            self._refuse_payload(source, tuples, size)
        else:
            assert self._add(source, tuples) == model.add(tuples, size, self._released(source))

    def _refuse_payload(self, source: int, tuples: list[Tuple], size: int) -> None:
        """Never taken; but while the gate is full, that is not found out."""
        if not self.gate.source(source).room(len(tuples)):
            assert not self._add(source, tuples)
            return
        with pytest.raises(PayloadSizeError) as caught:
            self._add(source, tuples)
        assert (caught.value.size, caught.value.capacity) == (size, self.payload_bytes)

    def _released(self, source: int) -> int:
        """By all readers that count."""
        heads = [
            reference.cursors[source].jumbo
            for index, reference in enumerate(self.references)
            if index not in self.expelled
        ]
        return min(heads, default=len(self.models[source].jumbos))

    @rule(source=SOURCES, step=STEPS)
    def heartbeat(self, source: int, step: int) -> None:
        source %= self.count
        if self.models[source].floor != END:
            position = later(self.models[source].floor, step)
            self.gate.source(source).heartbeat(position)
            self.models[source].heartbeat(position)

    @rule(source=SOURCES)
    def heartbeat_behind(self, source: int) -> None:
        self.gate.source(source % self.count).heartbeat(LEAST)

    @rule(source=SOURCES)
    def close(self, source: int) -> None:
        self.gate.source(source % self.count).close()
        self.models[source % self.count].heartbeat(END)

    @rule(source=SOURCES)
    def recover(self, source: int) -> None:
        """A successor promises what its predecessor has added."""
        source %= self.count
        self.gate.source(source).recover()
        self.models[source].progress = self.models[source].floor

    @rule(source=SOURCES)
    def add_behind_the_floor(self, source: int) -> None:
        source %= self.count
        floor = self.models[source].floor
        if floor == LEAST:
            return
        with pytest.raises(SourceClosedError if floor == END else OrderError):
            self._add(source, [(LEAST, "too late")])

    @rule(reader=READERS, limit=st.integers(0, 20))
    def get_ready(self, reader: int, limit: int) -> None:
        reader %= len(self.readers)
        if reader in self.expelled:
            return
        reference, into = self.references[reader], Positions()
        runs = self.readers[reader].get_ready(limit, into)
        items = [
            (source, item)
            for source, jumbo, *cut in runs
            for (item,) in jumbo.payload.rows[cut[0] : sum(cut)]
        ]
        found = [(source, (at, item)) for at, (source, item) in zip(into, items, strict=True)]
        expected: list[tuple[int, Tuple]] = []
        while len(expected) < limit and reference.ready():
            expected.append(reference.deliver())
        assert found == expected

    @rule(reader=READERS)
    def succeed(self, reader: int) -> None:
        """A reader elsewhere dies, and another takes its place."""
        reader %= len(self.readers)
        if reader not in self.expelled and self.readers[reader] is not self.gate._readers.get(reader):
            elsewhere = ScaleGate.attach(self.arena, self.gate.offset)
            self.readers[reader] = elsewhere.reader(reader)
            self.references[reader].succeed()

    @rule(reader=READERS)
    def expel(self, reader: int) -> None:
        reader %= len(self.readers)
        if reader > 0:
            self.gate.expel_reader(reader)
            self.expelled.add(reader)

    @invariant()
    def agrees(self) -> None:
        for index, (reader, reference) in enumerate(zip(self.readers, self.references, strict=True)):
            if index not in self.expelled:
                self._agrees(index, reader, reference)
        for model, found in zip(self.models, self.gate.statistics().sources, strict=True):
            assert found.added_jumbos == len(model.jumbos)
            assert found.added_tuples == sum(len(jumbo.tuples) for jumbo in model.jumbos)

    def _agrees(self, index: int, reader: Reader, reference: ReferenceReader) -> None:
        assert reader.ready() == reference.ready()
        assert reader.watermark() == reference.watermark()
        assert reader.drained() == reference.drained()
        assert reader.holding_source() == reference.holding_source()
        statistics = self.gate.statistics().readers[index]
        waiting = [len(cursor.waiting()) for cursor in reference.cursors]
        assert statistics.holding == reference.holding_source()
        assert [source.waiting_tuples for source in statistics.sources] == waiting
        assert reader.waiting_tuples() == sum(waiting)

    def _add(self, source: int, tuples: list[Tuple]) -> bool:
        positions = Positions()
        for position, _ in tuples:
            positions.append(position)
        return self.gate.source(source).add(jumbo_of(tuples), positions, 0, len(tuples))


class TestGate(GateMachine.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=50, stateful_step_count=40)


@pytest.mark.slow
class TestGateAtLength(GateMachine.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=300, stateful_step_count=40)


# The first example that tells them apart will do.
CATCH = settings(
    max_examples=2000,
    stateful_step_count=40,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    print_blob=False,
)


class TiesByLastIndex(ReferenceReader):
    def key(self, index: int) -> tuple[Position, int]:
        return self.cursors[index].bound(), -index


class SilentSourcesAreIgnored(ReferenceReader):
    def first(self) -> int:
        speaking = [i for i in range(len(self.cursors)) if self.cursors[i].waiting()]
        return min(speaking or range(len(self.cursors)), key=self.key)


class ProgressIsIgnored(ReferenceReader):
    def key(self, index: int) -> tuple[Position, int]:
        cursor = self.cursors[index]
        heard = cursor.waiting() or cursor.source.progress == END
        return (cursor.bound() if heard else cursor.last), index


class SuccessorsBeginBehindWhatWasTaken(ReferenceReader):
    def succeed(self) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    "mistake",
    [TiesByLastIndex, SilentSourcesAreIgnored, ProgressIsIgnored, SuccessorsBeginBehindWhatWasTaken],
)
def test_the_model_catches_mistakes(mistake: type[ReferenceReader]) -> None:
    machine: Any = type(mistake.__name__, (GateMachine,), {"reader_class": mistake})
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=CATCH)
