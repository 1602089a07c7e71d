"""Controllers in a run: what they are told, what becomes of what they wish for, and of their errors."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from framework import Bolt, TopologyBuilder, scale
from framework.model.errors import ScaleError, TopologyError
from framework.operators.controllers import Controller, Measurements
from framework.operators.sinks import CollectingSink
from framework.planning.routing import TaskSet
from framework.recording import Recording, ScaleChange
from framework.runtime import RunReport
from framework.runtime.coordination.measuring import Measuring
from framework.runtime.coordination.repeating import Repeating
from framework.runtime.coordination.scaling import Scaling
from framework.runtime.leading.controlling import Controlling, Counted
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    ExecutorStatistics,
    ReaderStatistics,
    SourceStatistics,
)
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.scaled import MOST, Asking, Pieces, Tripled
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind

HERE = __name__


class Scripted(Controller):
    """Wishes for one number after the other, and remembers what it was told."""

    def __init__(self, wishes: list[Any]) -> None:
        self.wishes = wishes
        self.told: list[Measurements] = []

    def wished(self, now: Measurements) -> int:
        self.told.append(now)
        found: int = self.wishes.pop(0)
        return found


class Clock:
    """The counters and the clock of a run with two producers of two tasks of ``pieces``, set by a test."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.emitted = self.taken = 0
        self.busy = [0.0, 0.0]
        self.is_ending = False
        self.told_s = 1000.0
        """The time at which the executor of the second task, in another process, last reported."""

    def counted(self) -> Counted:
        return Counted(lambda now: now - 1000.0, self.channels, self.executors, lambda: self.is_ending)

    def channels(self) -> list[ChannelStatistics]:
        """A channel for each of its tasks, and one of others."""
        return [self.channel(self.emitted // 2, self.taken // 2, f"pieces:{task}") for task in (2, 3)] + [
            self.channel(999, 0, "tripled:9")
        ]

    def channel(self, emitted: int, taken: int, *readers: str) -> ChannelStatistics:
        sources = [SourceStatistics(f"source:{n}", emitted // 2, 0, 0, 0, 0.0) for n in (7, 8)]
        waiting = {"source:7": emitted - taken, "source:8": 0}
        return ChannelStatistics(
            sources, [ReaderStatistics(reader, taken, 1, waiting, None) for reader in readers], 64
        )

    def executors(self) -> list[ExecutorStatistics]:
        first, second = self.busy
        both = (["source:7", "pieces:2"], self.now, [50.0, first]), (["pieces:3"], self.told_s, [second])
        return [ExecutorStatistics(1, tasks, at_s, busy, 0, 0, 0.0, 0.0) for tasks, at_s, busy in both]


def builder_of(cls: type[Bolt] = Pieces, **config: Any) -> TopologyBuilder:
    """Numbers, bolts that can be scaled, the first of them with a configuration, and a sink."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": 400})
    named = {key.replace("__", "."): value for key, value in config.items()}
    builder.set_bolt("held", Held, 1).shuffle_grouping("source")
    builder.set_bolt("pieces", cls, 2, config={**cls.config, **named}).shuffle_grouping("held")
    builder.set_bolt("tripled", Tripled, 2).fields_grouping("pieces", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("tripled")
    return builder


class Held(Bolt):
    """Passes numbers on, and waits at one of them until ``pieces`` has so many tasks, or a file is there."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._folder = Path(storm_conf["control"])
        self._until = storm_conf.get("until")
        self._at = storm_conf.get("held.at", 300)

    def process(self, tup: Any) -> None:
        if tup.values[0] == self._at and self._until is not None:
            while not self._is_there(self._until):
                time.sleep(0.001)
        self.emit(list(tup.values))

    def _is_there(self, until: str | int) -> bool:
        if isinstance(until, str):
            return Path(until).exists()
        return scale(self._folder, {})["pieces"] == until


class Steps:
    """A `Controlling` of ``pieces`` that a test takes from second to second."""

    def __init__(self, given: Any, **config: Any) -> None:
        plan, settings = plan_of(builder_of(viper__controller=given, **config), control="", changes=[])
        self.plan = plan
        self.changes: list[tuple[str, int, int, str]] = []
        self.scaling = Scaling(plan, self._note, settings)
        self.clock = Clock()
        self.controlling = Controlling(plan, self.scaling, self.clock.counted())
        self.controller: Any = self.controlling.controllers.get("pieces")

    def _note(self, component: str, before: TaskSet, tasks: TaskSet, by: str) -> None:
        self.changes.append((component, len(before), len(tasks), by))

    def after(
        self,
        seconds: float,
        emitted: int = 0,
        taken: int = 0,
        busy: tuple[float, float] = (0.0, 0.0),
    ) -> float:
        """So many seconds later so much more was counted; returns the pause until the next look."""
        clock = self.clock
        clock.now += seconds
        clock.told_s = clock.now
        clock.emitted += emitted
        clock.taken += taken
        clock.busy = [before + more for before, more in zip(clock.busy, busy, strict=True)]
        return self.controlling.look(clock.now)


def scripted(*wishes: Any) -> dict[str, Any]:
    return {"class": f"{HERE}.Scripted", "args": {"wishes": list(wishes)}}


def test_what_a_controller_is_told() -> None:
    steps = Steps(scripted(2, 2), viper__controller__period__secs=2)
    assert steps.after(1, emitted=40) == 2
    assert steps.after(2, emitted=400, taken=300, busy=(1.0, 2.0)) == 2
    (told,) = steps.controller.told
    assert told == Measurements("pieces", 3.0, 2.0, 2, MOST, 200.0, 150.0, 0.75, 140)
    assert told.cost_s == pytest.approx(0.01) and told.demand == pytest.approx(2.0)
    assert steps.after(1, emitted=10) == 1  # its period is not over
    steps.after(1)
    assert [each.elapsed_s for each in steps.controller.told] == [3.0, 5.0]


def test_a_process_that_tells_nothing_new_is_as_busy_as_before() -> None:
    steps = Steps(scripted(2, 2, 2))
    steps.after(1)
    steps.after(1, busy=(0.0, 0.5))
    steps.clock.now += 1
    steps.controlling.look(steps.clock.now)
    assert [each.busy for each in steps.controller.told] == [0.25, 0.25]
    steps.clock.busy[1] = 0.25  # a successor, which has begun at 0
    steps.after(1)
    assert steps.controller.told[-1].busy == pytest.approx(0.25 / 2 / 2)


def test_tasks_that_share_a_channel_count_each_tuple_once() -> None:
    clock, measuring = Clock(), Measuring(Steps(None).plan, "pieces")
    shared = ["pieces:2", "pieces:3"]
    assert measuring.measured(1.0, 2, [clock.channel(0, 0, *shared)], ()) is None
    found = measuring.measured(2.0, 2, [clock.channel(100, 60, *shared)], ())
    assert found is not None and (found.rate, found.processed, found.backlog) == (100.0, 60.0, 40)


def test_a_period_in_which_the_number_changes_is_not_measured() -> None:
    steps = Steps(scripted(3, 3, 3))
    steps.after(1)
    steps.after(1)
    assert steps.changes == [("pieces", 2, 3, f"{HERE}.Scripted: busy 0%, 0 tuples/s, 0 waiting")]
    steps.after(1)
    assert len(steps.controller.told) == 1
    steps.scaling.change({"pieces": 1})
    steps.after(1)
    assert len(steps.controller.told) == 1
    steps.after(1)
    assert [each.tasks for each in steps.controller.told] == [2, 1]


def test_wishes_are_kept_within_bounds() -> None:
    steps = Steps(scripted(100, -5))
    for _ in range(4):
        steps.after(1)
    assert [change[:3] for change in steps.changes] == [("pieces", 2, MOST), ("pieces", MOST, 1)]


def test_counters_that_begin_once_more_are_not_measured() -> None:
    steps = Steps(scripted(2, 2, 2))
    steps.after(1, emitted=100, taken=100)
    steps.after(1, emitted=-80, taken=-80)
    assert steps.controller.told == []
    steps.after(1, emitted=20, taken=20)
    assert [each.rate for each in steps.controller.told] == [20.0]


def test_before_the_spouts_and_at_the_end_nobody_is_asked() -> None:
    steps = Steps(scripted())
    steps.after(0)
    steps.after(1)
    steps.clock.is_ending = True
    for _ in range(3):
        steps.after(1)
    assert steps.controller.told == []


@pytest.mark.parametrize(
    "wishes, told",
    [((), "IndexError: pop from empty list"), ((2.5,), "TypeError: 'float' object cannot be interpreted")],
)
def test_a_controller_that_fails_is_named_and_left_out(
    wishes: tuple[Any, ...], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    steps = Steps(scripted(*wishes))
    for _ in range(5):
        steps.after(1)
    assert len(steps.controller.told) == 1 and steps.changes == []
    (record,) = caplog.records
    assert record.levelno == logging.ERROR and record.exc_info
    named = f"{HERE}.Scripted, the controller of pieces, has failed and is not asked again; pieces keeps"
    assert record.message.startswith(f"{named} its 2 tasks: {told}")


def test_where_a_change_is_refused_the_controller_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*args: object) -> None:
        raise ScaleError("a checkpoint is being made")

    steps = Steps(scripted(3, 4))
    with monkeypatch.context() as patched:
        patched.setattr(steps.scaling, "change", refused)
        steps.after(1)
        steps.after(1)
    assert "pieces keeps its tasks, as " in caplog.text and "a checkpoint is being made" in caplog.text
    steps.after(1)
    assert [change[:3] for change in steps.changes] == [("pieces", 2, 4)]


@pytest.mark.parametrize(
    "given, config, told",
    [
        ("treshold", {}, "has no controller: viper.controller: unknown controller 'treshold'"),
        (f"{HERE}.Clock", {}, "is no controller: expected a subclass"),
        ("thresholds", {"viper__parallelism__max": None}, "has a controller .viper.controller., but keeps"),
    ],
)
def test_a_wrong_controller_is_refused_before_anything_starts(
    given: str, config: dict[str, Any], told: str
) -> None:
    with pytest.raises(TopologyError, match=told):
        plan_of(builder_of(viper__controller=given, **config), control="", changes=[])


def test_one_of_the_topology_is_that_of_all_bolts_that_can_be_scaled() -> None:
    plan, _ = plan_of(builder_of(), control="", changes=[], viper__controller="thresholds")
    assert plan.controlled == {"pieces": "thresholds", "tripled": "thresholds"}


class To(Controller):
    """Wishes for a number, leaves a file, or fails."""

    def __init__(self, tasks: int, file: str | None = None) -> None:
        self._tasks = tasks
        self._file = file

    def wished(self, now: Measurements) -> int:
        if self._file is not None:
            Path(self._file).touch()
            raise ValueError("planted")
        return self._tasks


OFTEN = {"viper__controller__period__secs": 0.01}
SMALL = {"viper__slice__tuples": 8, "viper__jumbo__size": 4, "viper__channel__tuples": 16}


def run(
    workers: Workers, folder: Path, given: Any, until: str | int | None, held__at: int = 300, **limits: Any
) -> RunReport:
    builder = builder_of(viper__controller=given, **OFTEN)
    asked: dict[str, Any] = {"control": str(folder / "control"), "changes": (), "until": until}
    asked["held__at"] = held__at
    return workers.run(builder, {"control": folder / "control", **limits}, **SMALL, **asked)


@pytest.mark.few(2)
@every_kind
def test_the_output_of_a_controlled_run_stays_the_same(workers: Workers, tmp_path: Path) -> None:
    expected = run(INLINE, tmp_path, None, None).result("sink")
    report = run(workers, tmp_path, {"class": f"{HERE}.To", "args": {"tasks": MOST}}, MOST)
    assert report.result("sink") == expected
    (change,) = report.statistics.scaled
    assert (change.component, change.before, change.tasks) == ("pieces", 2, MOST)
    assert change.by.startswith(f"{HERE}.To: busy ") and 0 < change.at_s < report.elapsed_s


@pytest.mark.few(2)
@every_kind
def test_a_run_goes_on_without_its_controller(
    workers: Workers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = str(tmp_path / "failed")
    report = run(workers, tmp_path, {"class": f"{HERE}.To", "args": {"tasks": 1, "file": file}}, file)
    assert report.result("sink") == run(INLINE, tmp_path, None, None).result("sink")
    assert report.statistics.scaled == () and "ValueError: planted" in caplog.text


@pytest.mark.few(2)
@every_kind
def test_what_was_decided_is_recorded_and_repeated(workers: Workers, tmp_path: Path) -> None:
    """The replayed run waits for it, and has no controller that would decide it.

    It waits at its last number: ``pieces`` had received all before the other one by then, or all but a few.
    """
    recorded = tmp_path / "run.viper"
    first = run(workers, tmp_path, {"class": f"{HERE}.To", "args": {"tasks": 3}}, 3, record=recorded)
    with Recording(recorded) as recording:
        assert recording.scale_changes() == list(first.statistics.scaled)
    given = {"class": f"{HERE}.To", "args": {"tasks": 1}}
    again = run(workers, tmp_path, given, 3, held__at=399, replay=recorded)
    assert again.result("sink") == first.result("sink")
    assert [(each.tasks, each.by) for each in again.statistics.scaled] == [(3, "the recording")]


def changed(component: str, tasks: int, received: int) -> ScaleChange:
    return ScaleChange(component, 2, tasks, 1.0, received, "viper scale")


def test_recorded_changes_are_made_where_they_were_as_far_as_they_can_be() -> None:
    clock = Clock()
    recorded = [
        changed("pieces", 3, 0),
        changed("gone", 3, 0),
        changed("pieces", 9, 10),
        changed("pieces", 1, 20),
    ]
    repeating = Repeating(recorded, {"pieces": MOST})
    assert repeating.due(clock.channels()) == {"pieces": 3}
    assert repeating.due(clock.channels()) == {}
    clock.emitted = 12
    assert repeating.due(clock.channels()) == {"pieces": MOST}
    assert not repeating.is_over
    clock.emitted = 40
    assert repeating.due(clock.channels()) == {"pieces": 1}
    assert repeating.is_over


def test_of_recorded_tasks_by_index_there_are_as_many_where_the_bolt_has_fewer() -> None:
    recorded = [ScaleChange("pieces", 1, 2, 0.0, 0, "viper scale", chosen=[0, 2])]
    channels = Clock().channels()
    assert Repeating(recorded, {"pieces": 3}).due(channels) == {"pieces": [0, 2]}
    assert Repeating(recorded, {"pieces": 2}).due(channels) == {"pieces": 2}


def test_the_time_of_a_turn_belongs_to_the_task_on_top() -> None:
    from framework.runtime.execution.accounting import BusyTimes, CpuTimes

    below, above = Mock(), Mock()
    times = BusyTimes([below, above], CpuTimes())
    assert times.work_for(below, 10.0) is None
    assert times.work_for(above, 13.0) is below
    assert list(times.seconds(13.5).values()) == [3.0, 0.5]
    assert times.work_for(below, 14.0) is above
    assert times.work_for(None, 20.0) is below
    assert list(times.seconds(99.0).values()) == [9.0, 1.0]
