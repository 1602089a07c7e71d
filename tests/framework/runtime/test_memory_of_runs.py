"""A run lets go of all that it was done with when it ends, however it ends, without a collection."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder, run
from framework.model.errors import CheckpointError, ComponentError, TopologyError
from framework.model.tracebacks import of_user_code
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions, StopReason, StopSignal
from framework.runtime.tasks.task import Task
from framework.testing import BoltHarness, TopologyHarness, run_bolt
from tests.determinism.comparing import unwatched
from tests.determinism.promised import promise
from tests.determinism.variants import WORKERS
from tests.framework.alive import Alive, memory_mib, of_the_process
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, built, suspending
from tests.framework.runtime.pieces import plan_of, run_built
from tests.kills.runs import Case, killed, run_of
from tests.kills.shapes import SHAPES
from tests.portions import at_every_change
from tests.rotation import determinism_seed

KINDS: dict[str, dict[str, Any]] = {
    "inline": {"viper__worker": "inline"},
    "thread": {"viper__worker": "thread", "topology__workers": 3},
    "shared": {"viper__worker": "thread", "viper__worker__threads": 3},
    "process": {"viper__worker": "process", "topology__workers": 2},
}
RAISED_AT = 20


class Numbers(Spout):
    """Emits numbers."""

    outputs = ["number"]

    def tuples(self) -> Iterator[list[int]]:
        for number in range(50):
            yield [number]


class Endless(Numbers):
    """Emits numbers without an end."""

    def tuples(self) -> Iterator[list[int]]:
        for number in itertools.count():
            yield [number]


class Breaks(Numbers):
    """Raises after a yield."""

    def tuples(self) -> Iterator[list[int]]:
        yield [0]
        raise ValueError("of a generator")


class Passes(Bolt):
    """Emits what it receives."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))


class Cyclic(Passes):
    """Refers to itself and to its emit, as a user's component may."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.handlers = {"number": self.process}
        self.put = self.emit


class Raises(Passes):
    """Raises for one tuple."""

    def process(self, tup: Any) -> None:
        if tup.values[0] == RAISED_AT:
            raise ValueError("of a tuple")
        super().process(tup)


class Awaits(Passes):
    """Passes tuples on from coroutines, and raises for one where it is to."""

    config = {"viper.stateless": True}
    raises = False

    async def process(self, tup: Any) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        if self.raises and tup.values[0] == RAISED_AT:
            raise ValueError("of a coroutine")
        super().process(tup)


class AwaitsAndRaises(Awaits):
    raises = True


class RaisesWhenMade(Passes):
    """Raises in its constructor."""

    def __init__(self) -> None:
        raise ValueError("of a constructor")


class RaisesAtFirst(Passes):
    """Raises in `initialize`."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        raise ValueError("of initialize")


class RaisesAtLast(Passes):
    """Raises in `close`."""

    def close(self) -> None:
        raise ValueError("of close")


class Interrupts(Passes):
    """Has Ctrl-C pressed twice."""

    def process(self, tup: Any) -> None:
        if tup.values[0] == RAISED_AT:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
        super().process(tup)


@pytest.fixture(autouse=True)
def _unlogged() -> Iterator[None]:
    """Keep log records from pytest: those with an exception have all frames that called what raised."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def topology(bolt: type[Bolt] = Passes, spout: type[Spout] = Numbers, **config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    named = {key.replace("__", "."): value for key, value in config.items()}
    builder.set_bolt("bolt", bolt, 2, config=named).shuffle_grouping("spout")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


CONFIGS = {AwaitsAndRaises: {"viper__stateless": True}}
Way = Callable[[Path, dict[str, Any]], object]
"""Brings one run to its end, in a folder, with options; what it returns may be kept."""


def done(folder: Path, options: dict[str, Any]) -> object:
    report = run_built(topology(), **options)
    assert sorted(report.result("sink")) == [(number,) for number in range(50)]
    return report


def done_with_a_cycle_of_the_users(folder: Path, options: dict[str, Any]) -> object:
    """The component itself is the user's, who has to break its cycles, and keeps nothing of the run."""
    assert len(run_built(topology(Cyclic), **options).result("sink")) == 50
    return None


def failed(
    bolt: type[Bolt] = Passes, spout: type[Spout] = Numbers, error: type[Exception] = ComponentError
) -> Way:
    def way(folder: Path, options: dict[str, Any]) -> object:
        try:
            run_built(topology(bolt, spout, **CONFIGS.get(bolt, {})), **options)
        except error as found:
            assert not isinstance(found, ComponentError) or of_user_code(found.__cause__)
            return found
        raise AssertionError("nothing was raised")

    return way


def went_on(choice: str) -> Way:
    def way(folder: Path, options: dict[str, Any]) -> object:
        report = run_built(topology(Raises, viper__on__error=choice), **options)
        assert len(report.result("sink")) == 49
        return report

    return way


def awaited(folder: Path, options: dict[str, Any]) -> object:
    report = run_built(topology(Awaits, viper__stateless=True), **options)
    assert len(report.result("sink")) == 50
    return report


def awaited_and_went_on(choice: str) -> Way:
    def way(folder: Path, options: dict[str, Any]) -> object:
        config = {"viper__on__error": choice, "viper__stateless": True}
        report = run_built(topology(AwaitsAndRaises, **config), **options)
        assert len(report.result("sink")) == 49
        return report

    return way


def interrupted(folder: Path, options: dict[str, Any]) -> object:
    try:
        run_built(topology(Interrupts), **options)
    except KeyboardInterrupt as found:
        return found
    raise AssertionError("nothing was raised")


def refused(folder: Path, options: dict[str, Any]) -> object:
    with pytest.raises(CheckpointError):  # its spout has no partitions
        run_built(topology(), {"checkpoints": folder / "refused"}, **options)
    with pytest.raises(TopologyError):
        run(TopologyBuilder())
    return None


def never_begun(folder: Path, options: dict[str, Any]) -> object:
    Run(*plan_of(topology(), **options))
    return None


def drained(folder: Path, options: dict[str, Any]) -> object:
    stop = StopSignal()
    stop.request(StopReason.INTERRUPTED)
    assert run_built(topology(spout=Endless), {"stop": stop}, **options).reason is StopReason.INTERRUPTED
    return stop  # which may be used for other runs


def limited(folder: Path, options: dict[str, Any]) -> object:
    report = run_built(topology(spout=Endless), {"max_tuples": 100}, **options)
    assert report.reason is StopReason.MAX_TUPLES
    return report


def timed(folder: Path, options: dict[str, Any]) -> object:
    limits = {"duration_s": 0.01, "on_progress": lambda progress: None}
    report = run_built(topology(spout=Endless), limits, **options)
    assert report.reason is StopReason.DURATION
    return report


def recorded_and_replayed(folder: Path, options: dict[str, Any]) -> object:
    first = run_built(topology(), {"record": folder / "recording"}, **options)
    second = run_built(topology(), {"replay": folder / "recording"}, **options)
    assert second.result("sink") == first.result("sink")
    return first, second


def suspended_and_resumed(folder: Path, options: dict[str, Any]) -> object:
    spout = Suspending(4, 40, 1, os.getpid(), 10)
    first = Run(*plan_of(built(spout, 2, 2), **options), RunOptions(checkpoints=folder / "checkpoints"))
    with suspending(first):
        report = first.execute()
    assert report.reason is StopReason.SUSPENDED
    rest = run_built(built(Suspending(4, 40, 1), 2, 2), {"start": folder / "checkpoints"}, **options)
    whole = run_built(built(Suspending(4, 40, 1), 2, 2), **options).result("sink")
    assert report.result("sink") + rest.result("sink") == whole
    return first, rest  # the ended run, too


def in_harnesses(folder: Path, options: dict[str, Any]) -> object:
    with TopologyHarness(topology()) as harness:
        harness.send("spout", [1], [2])
        assert harness.take("bolt") == [(1,), (2,)]
    assert harness.emitted("bolt") == [(1,), (2,)]  # behind its end, too
    with BoltHarness(Passes) as bolt:
        bolt.send([3])
    assert bolt.emitted() == [(3,)]
    assert run_bolt(Passes, [[4]]).emitted() == [(4,)]
    with BoltHarness(Awaits) as awaiting:
        awaiting.send([5], [6])
        assert awaiting.emitted() == [(5,), (6,)]
    return None


WAYS: dict[str, Way] = {
    "done": done,
    "with a cycle of the user's": done_with_a_cycle_of_the_users,
    "raised": failed(Raises),
    "raised in the constructor": failed(RaisesWhenMade),
    "raised in initialize": failed(RaisesAtFirst),
    "raised in close": failed(RaisesAtLast),
    "raised in a generator": failed(spout=Breaks),
    "skipped": went_on("skip"),
    "made again": went_on("restart"),
    "awaited": awaited,
    "raised in a coroutine": failed(AwaitsAndRaises),
    "skipped in a coroutine": awaited_and_went_on("skip"),
    "made again behind a coroutine": awaited_and_went_on("restart"),
    "refused": refused,
    "never begun": never_begun,
    "drained": drained,
    "limited": limited,
    "timed": timed,
    "recorded and replayed": recorded_and_replayed,
    "suspended and resumed": suspended_and_resumed,
}
INLINE: dict[str, Way] = {"interrupted": interrupted, "in harnesses": in_harnesses}
FIRST = [("inline", name) for name in INLINE] + list(zip(itertools.cycle(KINDS), WAYS))
"""Each way once, on one kind of worker after the other."""
CASES = list(dict.fromkeys([*FIRST, *itertools.product(KINDS, WAYS)]))


def left_by(way: Callable[[], object]) -> tuple[dict[str, int], dict[str, tuple[object, object]]]:
    """The objects that one more run leaves while its result is kept, and the changes of the process."""
    alive = Alive()
    way()  # what the first one leaves is there once: caches, modules, the server of processes
    with alive.watching():
        before = of_the_process()
        kept = way()
        counts = dict(alive.counts)
        after = of_the_process()
        del kept
    return counts, {name: (had, after[name]) for name, had in before.items() if after[name] != had}


HUSKS = {"Run", "TaskCollector"}
"""The classes that may live on with an ended run, its error, or a component that somebody keeps."""


@pytest.mark.parametrize(("kind", "name"), at_every_change(CASES, len(FIRST)), ids=str)
def test_nothing_is_left(kind: str, name: str, tmp_path: Path) -> None:
    numbers = itertools.count()

    def way() -> object:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return (WAYS | INLINE)[name](folder, KINDS[kind])

    counts, changed = left_by(way)
    assert not counts.keys() - HUSKS, counts
    assert not changed


@pytest.mark.parametrize("kind", ["inline", "thread"])
def test_what_is_dropped_leaves_nothing_at_all(kind: str, tmp_path: Path) -> None:
    alive = Alive()
    with alive.watching():
        for way in (done, failed(Raises), limited):
            way(tmp_path, KINDS[kind])
            assert alive.counts == {}


SHAPE_CASES = [(kind, name) for name in SHAPES for kind in ("inline", "thread")]


@pytest.mark.few(8)
@pytest.mark.parametrize(("kind", "name"), SHAPE_CASES, ids=str)
def test_nothing_is_left_of_a_shape(kind: str, name: str, tmp_path: Path) -> None:
    """Windows, declared state, transactions, joins, sinks and sources, with checkpoints and without."""
    made = [False] if name == "batching" else [False, True]  # whose batches no checkpoint holds
    numbers = itertools.count()

    def way() -> object:
        for checkpoints in made:
            case = Case(name, 3, 60, 3, checkpoints=checkpoints)
            options = {**case.settings(tmp_path), **KINDS[kind]}
            options.pop("viper__recovery")
            options["viper__placement"] = "round-robin"
            run_of(case, tmp_path / str(next(numbers)), **options).execute()
        return None

    counts, changed = left_by(way)
    assert not counts.keys() - HUSKS, counts
    assert not changed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words", "windows by key", "transactions"])
def test_nothing_is_left_of_killed_workers(name: str, tmp_path: Path) -> None:
    """With exact recovery, and deaths on the way."""
    numbers = itertools.count()
    case = Case(name, 5, 200, 3, checkpoints=True)
    counts, changed = left_by(lambda: killed(case, tmp_path / str(next(numbers)), 300.0) and None)
    assert not counts.keys() - HUSKS, counts
    assert not changed


def test_a_planted_cycle_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A task that refers to itself when its run is over, and so to all that it is made of."""
    monkeypatch.setattr(Task, "let_go", lambda self: setattr(self, "itself", self))
    counts, _ = left_by(lambda: done(tmp_path, KINDS["inline"]))
    assert counts.keys() - HUSKS >= {"Task", "Arena"}


def test_a_planted_listener_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A signal of the user's that then wakes an executor, and so keeps the memory of its bell."""
    monkeypatch.setattr(StopSignal, "unlisten", lambda self, wake: None)
    counts, _ = left_by(lambda: drained(tmp_path, KINDS["thread"]))
    assert "Arena" in counts


def test_what_is_told_of_a_run_stays() -> None:
    ended = Run(*plan_of(topology()))
    report = ended.execute()
    assert ended.report is report and ended.statistics() == report.statistics
    assert len(report.result("sink")) == 50 and report.statistics.channels
    assert ended.describe().topology == ended.look().topology == "tested"


def grown(runs: int, kinds: tuple[str, ...]) -> None:
    """Run topologies that are drawn from all that is promised; memory stays as it was behind the tenth."""
    alive = Alive()
    with alive.watching():
        for number in range(runs):
            kind = kinds[number % len(kinds)]
            drawn = promise(f"{determinism_seed()}/memory/{number}", kind, WORKERS[kind])
            unwatched(drawn.build(serial=False), {**drawn.shared, **drawn.options})
            assert not alive.counts.keys() - HUSKS, (number, kind, drawn, alive.counts)
            if number == 9:
                resident, _ = memory_mib()
                process = of_the_process()
        assert of_the_process() == process
        assert memory_mib()[0] <= resident + 50


def test_drawn_runs_leave_nothing() -> None:
    grown(12, ("inline", "thread"))


@pytest.mark.slow
def test_more_drawn_runs_leave_nothing() -> None:
    grown(100, ("inline", "thread", "inline", "thread", "process"))


@pytest.mark.exhaustive
def test_a_thousand_drawn_runs_leave_nothing() -> None:
    grown(1000, ("inline", "thread", "inline", "thread", "process"))
