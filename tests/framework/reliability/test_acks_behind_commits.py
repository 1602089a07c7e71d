"""Under exact recovery an answer leaves only behind the commit of what it was given for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.runtime import RunReport
from framework.runtime.order.tracking.deferred import CommittedAnswers
from framework.runtime.order.tracking.pending import Pending
from tests.framework.reliability.brokers import FromBroker, Remember, Written, acked
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.killed import Mortal
from tests.portions import at_every_change
from viper.arena import Arena
from viper.forest import Forest
from viper.position import Position, Positions

COUNT = 300
SPREAD = {"source": 1, "remember": [2, 3], "sink": 3}


class MortalBroker(Mortal, FromBroker):
    """Its process may be killed."""

    def __init__(self, folder: str, count: int, window: int) -> None:
        FromBroker.__init__(self, folder, count, window)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        Mortal.initialize(self, storm_conf, context)
        FromBroker.initialize(self, storm_conf, context)


class MortalRemember(Mortal, Remember):
    """Likewise."""


def run(
    folder: Path, source: type[FromBroker], remember: type[Remember], seed: int, *, checkpoints: bool
) -> RunReport:
    (folder / "marks").mkdir()
    builder = TopologyBuilder()
    builder.set_spout("source", source, kwargs={"folder": str(folder), "count": COUNT, "window": 60})
    builder.set_bolt("remember", remember, 2).fields_grouping("source", "message")
    builder.set_bolt("sink", Written).global_grouping("remember")
    return run_built(
        builder,
        {"checkpoints": folder / "checkpoints"} if checkpoints else {},
        viper__worker="process",
        topology__workers=3,
        viper__placement=SPREAD,
        viper__recovery="exact",
        viper__checkpoint__secs=0.01,
        viper__worker__restart__tries=20,
        topology__max__spout__pending=40,
        marks=str(folder / "marks"),
        written=str(folder / "written"),
        kills=4,
        kill__seed=seed,
        kill__bits=6,
    )


MORTAL = [(MortalBroker, Remember), (FromBroker, MortalRemember)]
CASES = [(seed, *classes, withheld) for seed in range(12) for classes in MORTAL for withheld in (False, True)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("seed", "source", "remember", "withheld"), at_every_change(CASES, 4))
def test_every_message_is_processed_and_acked(
    tmp_path: Path, seed: int, source: type[FromBroker], remember: type[Remember], withheld: bool
) -> None:
    """Also where acks wait for checkpoints, and so does the broker, which gives no more messages."""
    report = run(tmp_path, source, remember, seed, checkpoints=withheld)
    assert report.incidents
    assert set(acked(tmp_path)) == set(range(COUNT))
    rows = (tmp_path / "written").read_text().splitlines()
    assert {int(row.split()[0]) for row in rows} == set(range(COUNT))


class Uncommitted:
    """The commits of a task that the test makes happen."""

    def __init__(self) -> None:
        self.behind: list[Callable[[], None]] = []
        self.left_out: Callable[[Positions, int, int], None] = lambda positions, first, count: None

    def call_behind(self, call: Callable[[], None]) -> None:
        self.behind.append(call)

    def tell_left_out(self, call: Callable[[Positions, int, int], None]) -> None:
        self.left_out = call

    def commit(self) -> None:
        for call in self.behind:
            call()


class Bench:
    """A spout's tuples and a bolt's answers, each with commits of its own."""

    def __init__(self) -> None:
        arena = Arena.private(Forest.size(2, 8, 8) + 4096)
        self.forest = Forest.create(arena, 2, trees=8, links=8)
        self.spout: Any = Uncommitted()
        self.pending = Pending(self.forest, 0, 8, None)
        self.pending.wait_for(self.spout)
        self.bolt = CommittedAnswers(self.forest)

    def emit(self, count: int) -> Positions:
        """So many tuples, with their number as the id, are on their way to the bolt."""
        positions = Positions()
        for index, tree in enumerate(self.pending.begin(range(count))):
            positions.append(Position(index, 0, 0))
            positions.set_tree(index, tree)
        self.forest.add(positions, 0, count, 1)
        self.pending.placed()
        return positions

    def told(self) -> list[tuple[int, bool]]:
        """By id, whether a tuple was acked."""
        self.pending.look(0.0)
        outcomes = iter(self.pending.next_outcome, None)
        return [(tup_id, reason is None) for tup_id, reason in outcomes]


def test_nothing_is_acked_before_spout_and_bolt_have_committed() -> None:
    bench = Bench()
    positions = bench.emit(2)
    bench.bolt.ack(positions, 0, 2)
    bench.bolt.release()
    assert bench.told() == []
    bench.spout.commit()
    assert bench.told() == [(0, True), (1, True)]
    positions = bench.emit(2)
    bench.spout.commit()
    bench.bolt.ack(positions, 0, 2)
    assert bench.told() == []
    bench.bolt.release()
    bench.bolt.release()
    assert bench.told() == [(0, True), (1, True)]


def test_held_tuples_are_answered_behind_commits_too() -> None:
    bench = Bench()
    tree = bench.emit(1).tree(0)
    bench.spout.commit()
    bench.bolt.hold(tree)
    bench.bolt.answer_held(tree)
    assert bench.told() == []
    bench.bolt.release()
    assert bench.told() == [(0, True)]


def test_what_a_consumer_has_already_fails() -> None:
    """It has it for the tree of a process that was killed, of which nobody hears."""
    bench = Bench()
    bench.spout.left_out(bench.emit(3), 1, 1)
    bench.spout.commit()
    assert bench.told() == [(1, False)]
