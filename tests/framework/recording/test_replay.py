"""A recording is fed again, at the same positions, to as many tasks as there are now."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.model.config import resolve
from framework.model.topology import Stream
from framework.planning import Plan, make_plan
from framework.recording import (
    Recording,
    RecordingError,
    ReplaySource,
    ReplayTicks,
    Tick,
    TickKind,
    check_replayable,
    replay_ticks,
)
from tests.framework.recording.pieces import (
    SENTENCES,
    HandRun,
    Lines,
    Row,
    emission,
    plan_of,
    position,
    positions_of,
    recorded_run,
)
from viper.position import END, LEAST, Position


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return HandRun(tmp_path / "run.viper", plan_of(3)).run(partitions=3).finish()


def all_of(source: ReplaySource, limit: int) -> list[tuple[Position, Row]]:
    found: list[tuple[Position, Row]] = []
    while not source.exhausted:
        frontier = source.frontier
        batch = source.take(limit)
        assert 1 <= len(batch.payload.rows) == len(batch.positions) <= limit
        assert frontier == batch.positions[0]
        assert batch.tags is None
        found += zip(batch.positions, batch.payload.rows, strict=True)
    assert source.frontier == END
    assert source.take(limit).payload.rows == []
    return found


@pytest.mark.parametrize("limit", [1, 2, 1000])
@pytest.mark.parametrize("tasks", [1, 2, 3, 5])
def test_all_partitions_are_dealt_out_in_order(recorded: Path, tasks: int, limit: int) -> None:
    with Recording(recorded) as recording:
        expected = [(t.position, t.values) for t in recording.tuples("lines")]
        dealt = [all_of(ReplaySource(recording, "lines", index, tasks), limit) for index in range(tasks)]
    assert all(part == sorted(part) for part in dealt)
    assert sorted(one for part in dealt for one in part) == expected
    assert sorted(row[0] for _, row in expected) == sorted(SENTENCES)


def test_a_partition_goes_to_one_task_as_a_whole(recorded: Path) -> None:
    with Recording(recorded) as recording:
        own = [list(recording.input_of("lines", [partition])) for partition in range(3)]
        first, second = (all_of(ReplaySource(recording, "lines", index, 2), 10) for index in range(2))
    assert [row for _, row in second] == [t.values for t in own[1]]
    assert [row for _, row in first] == [t.values for t in sorted(own[0] + own[2])]


def test_streams_keep_their_tags(tmp_path: Path) -> None:
    path = recorded_run(tmp_path / "run.viper", plan_of())
    with Recording(path) as recording:
        expected = list(recording.tuples("split"))
        batch = ReplaySource(recording, "split", 0, 1).take(1000)
    assert batch.tags is not None
    assert list(array("H", batch.tags)) == [t.tag for t in expected]
    assert batch.payload.rows == [t.values for t in expected]


@pytest.mark.parametrize(("values", "mutable"), [((1, "a", None, (2.5, b"b")), False), ((1, [2]), True)])
def test_what_may_be_changed_is_marked(tmp_path: Path, values: Row, mutable: bool) -> None:
    run = HandRun(tmp_path / "run.viper", plan_of())
    run.recorders[2].record(emission([values], None, positions_of(position(1))))
    with Recording(run.finish()) as recording:
        assert ReplaySource(recording, "lines", 0, 1).take(1).payload.mutable is mutable


class TestRefusal:
    def refusal(self, recorded: Path, plan: Plan) -> list[str]:
        with Recording(recorded) as recording, pytest.raises(RecordingError) as caught:
            check_replayable(recording, plan)
        first, *others = str(caught.value).splitlines()
        assert first == f"{recorded} cannot be replayed into {plan.topology.name!r}:"
        return [line.strip() for line in others]

    def test_another_parallelism_or_other_bolts_are_fine(self, recorded: Path) -> None:
        class Other(Bolt):
            pass

        with Recording(recorded) as recording:
            check_replayable(recording, plan_of(7, 2, 4, name="renamed"))
            check_replayable(recording, plan_of(another=Other))

    def test_other_spouts(self, recorded: Path) -> None:
        class Other(Spout):
            outputs = ["line"]

        plan = self.plan({"other": Other})
        assert self.refusal(recorded, plan) == [
            "spout 'other' is not in it",
            "it has a spout 'lines', which the topology has not",
        ]

    def test_other_fields_and_streams(self, recorded: Path) -> None:
        class Other(Spout):
            outputs = ["line", "number", Stream(["x"], name="more")]

        assert self.refusal(recorded, self.plan({"lines": Other})) == [
            "spout 'lines' emitted default(line), now default(line, number), more(x)"
        ]

    def test_another_time(self, recorded: Path) -> None:
        plan = self.plan({"lines": Lines}, time="ingest")
        assert self.refusal(recorded, plan) == [
            "it was recorded by logical time, not ingest: set viper.time to logical"
        ]

    def test_another_order_of_spouts(self, tmp_path: Path) -> None:
        first, second = self.plan({"a": Lines, "b": Lines}), self.plan({"b": Lines, "a": Lines})
        path = HandRun(tmp_path / "run.viper", first).finish()
        assert self.refusal(path, second) == [
            f"spout {name!r} marks positions otherwise: the spouts must be defined in the same order"
            for name in ("b", "a")
        ]

    def plan(self, spouts: dict[str, type[Spout]], time: str = "logical") -> Plan:
        builder = TopologyBuilder()
        for name, cls in spouts.items():
            builder.set_spout(name, cls)
        topology = builder.build("other")
        settings, _ = resolve(topology, options={"viper.time": time})
        return make_plan(topology, settings)


class TestTicks:
    def test_each_comes_before_the_input_that_it_came_before(self) -> None:
        early = Tick(position(2), passed=False)
        late = Tick(position(2), passed=True, kind=TickKind.BATCH)
        last = Tick(position(4), passed=False)
        ticks = ReplayTicks([early, late, last])
        assert list(ticks.due(position(1))) == []
        assert ticks.next == early
        assert list(ticks.due(position(2))) == [early]
        assert list(ticks.due(position(2))) == []
        assert list(ticks.due(position(2, 1))) == [late]
        assert list(ticks.due(END)) == [last]
        assert ticks.next is None
        assert list(ticks.due(END)) == []

    @pytest.mark.parametrize(("tasks", "expected"), [(2, [1, 2]), (1, [1]), (3, [1, 1, 1])])
    def test_tasks_get_their_own_or_those_of_the_first(
        self, tmp_path: Path, tasks: int, expected: list[int]
    ) -> None:
        run = HandRun(tmp_path / "run.viper", plan_of(1, 1, 2))
        for task, ts in ((1, 1), (2, 2)):
            run.recorders[task].record_tick(position(ts), after=LEAST)
        with Recording(run.finish()) as recording:
            found = [replay_ticks(recording, "count", index, tasks) for index in range(tasks)]
            assert [tick.at.ts for ticks in found for tick in ticks.due(END)] == expected
            assert list(replay_ticks(recording, "unknown", 0, 1).due(END)) == []
