"""Tasks that claim their input come to rest during the run, and claim again: the output stays the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder, scale
from framework.operators.sinks import CollectingSink
from framework.planning.routing import TaskSet
from framework.runtime import RunReport
from framework.runtime.coordination.scale_record import ScaleRecord
from framework.runtime.coordination.scaling import Scaling
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.scaled import MOST, Asking, Change, Pieces, Tripled, drawn, received
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind, several
from viper.arena import Arena

COUNT = 600
CLAIMS = {"viper.sharing": "claims", "viper.stateless": True, "viper.parallelism.max": MOST}
SMALL = {"viper__slice__tuples": 8, "viper__jumbo__size": 4, "viper__channel__tuples": 16}


class Rare(Bolt):
    """Emits a pair for a number of every ten."""

    outputs = ["number", "nth"]

    def process(self, tup: Any) -> None:
        if tup.values[0] % 10 == 0:
            self.emit([tup.values[0], 0])


def built(first: type[Bolt] = Pieces, **config: Any) -> TopologyBuilder:
    """Two bolts, one behind the other, both of whose tasks claim their input, and may change."""
    builder = TopologyBuilder()
    builder.set_spout("source", Asking, kwargs={"count": COUNT})
    builder.set_bolt("pieces", first, 2, config={**CLAIMS, **config}).shuffle_grouping("source")
    builder.set_bolt("tripled", Tripled, 2, config={**CLAIMS, **config}).shuffle_grouping("pieces")
    builder.set_bolt("sink", CollectingSink).global_grouping("tripled")
    return builder


def run(
    builder: TopologyBuilder, workers: Workers, folder: Path, *changes: Change, **options: Any
) -> RunReport:
    asked = {"control": str(folder / "control"), "changes": changes}
    return workers.run(builder, {"control": folder / "control"}, **{**SMALL, **asked, **options})


@pytest.mark.few(3)
@every_kind
@pytest.mark.parametrize("bolt", [Pieces, Rare])
@pytest.mark.parametrize("seed", range(4))
def test_the_output_stays_the_same(bolt: type[Bolt], seed: int, workers: Workers, tmp_path: Path) -> None:
    """Channels have room for a few tuples, so who rests has to give back what others have claimed."""
    expected = run(built(bolt), INLINE, tmp_path).result("sink")
    placement = random.Random(seed).choice(["round-robin", "component"])
    report = run(built(bolt), workers, tmp_path, *drawn(seed, 12), viper__placement=placement)
    assert report.result("sink") == expected


@pytest.mark.few(1)
@every_kind
def test_who_rests_claims_nothing(workers: Workers, tmp_path: Path) -> None:
    before = received(run(built(), workers, tmp_path), "pieces")
    assert sum(before) == COUNT and not any(before[2:])
    after = received(run(built(), workers, tmp_path, (0, "pieces", [3])), "pieces")
    assert sum(after) == COUNT and after[3] > COUNT - 100 and not after[2]


FEW = 20
POLLS = 400
"""So many polls, with pauses of up to 0.1 s, that a tuple not processed by then never will be."""


class Waits(Spout):
    """Emits a few tracked tuples at once, and nothing else: not even its end, until all have been acked."""

    outputs = ["number"]
    config = {"viper.spout.bounded": True}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.polls, self.acked = 0, 0

    def next_tuple(self) -> None:
        if self.acked == FEW:
            raise StopIteration
        if not self.polls:
            for number in range(FEW):
                self.emit([number], tup_id=number)
        self.polls += 1
        assert self.polls < POLLS, f"only {self.acked} of {FEW} tuples were processed"

    def ack(self, tup_id: int) -> None:
        self.acked += 1


class GivesUp(Pieces):
    """Forwards numbers; the task that gets 3 has another one claim the rest."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])
        if tup.values[0] == 3:
            scale(self.storm_conf["control"], {"pieces": [1]})


class Forwards(Pieces):
    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])


def waiting(bolt: type[Bolt]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Waits)
    builder.set_bolt("pieces", bolt, 1, config=CLAIMS).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("pieces")
    return builder


@every_kind
def test_another_claims_what_waited_for_one_that_comes_to_rest(workers: Workers, tmp_path: Path) -> None:
    """Nothing comes meanwhile that would wake it."""
    report = run(waiting(GivesUp), workers, tmp_path, viper__slice__tuples=1)
    assert report.result("sink") == [(number,) for number in range(FEW)]
    assert received(report, "pieces")[1] > FEW - 8


@several
def test_who_rests_beside_the_source_hears_of_claims_elsewhere(workers: Workers, tmp_path: Path) -> None:
    """Nobody else rings its bell."""
    apart = {"source": 1, "pieces": [2, 1], "sink": 2}
    report = run(waiting(Forwards), workers, tmp_path, topology__workers=2, viper__placement=apart)
    assert report.result("sink") == [(number,) for number in range(FEW)]


def test_a_change_wakes_those_that_have_to_look(tmp_path: Path) -> None:
    """One that has rested until now may have to claim what waits already."""
    plan, settings = plan_of(waiting(Forwards))
    arena = Arena.private(ScaleRecord.size(plan))
    record, woken = ScaleRecord.create(arena, plan), []
    scaling = Scaling(plan, lambda *change: None, settings)
    scaling.begin(record, lambda: woken.append(record.wanted("pieces")))
    scaling.change({"pieces": 3})
    assert woken == [TaskSet.first(1), TaskSet.first(3)]
