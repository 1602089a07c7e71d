"""The remains of a dead process are set right before it has a successor."""

from __future__ import annotations

import pytest

from framework import TopologyBuilder, ValueState
from framework.model.config import Settings
from framework.operators.sinks import CollectingSink
from framework.planning import Plan
from framework.runtime.execution.assembly.network import Network
from framework.runtime.workers.restarts import reclaim
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.components import Endless, Forward
from tests.framework.runtime.workers.running import Workers
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, LEAST, Position, Positions

LEFT, RIGHT, SINK, SOURCE = 1, 2, 3, 4
"""Ids of the tasks."""


Planned = tuple[Plan, Settings]


@pytest.fixture(scope="module")
def planned() -> Planned:
    """The source is on worker 1 and feeds two bolts, on 2 and 3; the sink is on 2 as well."""
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("left", Forward).shuffle_grouping("source")
    builder.set_bolt("right", Forward).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("left").global_grouping("right")
    where = {"source": 1, "left": 2, "right": 3, "sink": 2}
    options = Workers("process", 3).options
    placed = {**options, "viper__placement": where}
    planned = plan_of(builder, **placed, topology__acker__executors=0)
    assert [task.component for task in planned[0].tasks] == ["left", "right", "sink", "source"]
    return planned


@pytest.fixture
def plan(planned: Planned) -> Plan:
    return planned[0]


@pytest.fixture
def network(planned: Planned) -> Network:
    """As the parent sees it."""
    return Network.create(*planned, max_tuples=100)


def add(network: Network, producer: int, reader: int, ts: int, count: int = 1) -> None:
    positions = Positions()
    for number in range(count):
        positions.append(Position(ts + number, 0, 0))
    rows = [(number,) for number in range(count)]
    assert network.source(producer, reader).add(Jumbo(Rows(rows)), positions, 0, count)


def test_a_task_goes_on_from_the_furthest_that_it_has_told_anybody(network: Network) -> None:
    assert network.floor(SOURCE) == LEAST
    add(network, SOURCE, LEFT, 5)
    network.source(SOURCE, RIGHT).heartbeat(Position(7, 0, 0))
    assert network.floor(SOURCE) == Position(7, 0, 0)
    assert network.floor(SINK) == LEAST


def test_one_that_died_while_it_told_its_end_has_ended_everywhere(plan: Plan, network: Network) -> None:
    network.source(SOURCE, LEFT).close()
    assert reclaim(plan, network, 0).tuples == 0
    assert network.source(SOURCE, RIGHT).floor() == END
    assert network.has_ended(SOURCE) and not network.has_ended(LEFT)


def test_those_who_wait_for_a_dead_producer_are_rung(plan: Plan, network: Network) -> None:
    before = [bell.ticket() for bell in network.bells]
    reclaim(plan, network, 0)
    after = [bell.ticket() for bell in network.bells]
    assert [later > earlier for earlier, later in zip(before, after, strict=True)] == [False, True, True]


def test_what_waits_is_dropped_only_where_nobody_else_has_it(plan: Plan, network: Network) -> None:
    add(network, SOURCE, LEFT, 5, 3)
    add(network, LEFT, SINK, 5, 4)
    add(network, RIGHT, SINK, 5, 2)
    assert reclaim(plan, network, 1).tuples == 4
    waiting = {way: [s.waiting_tuples for s in gate.readers[0].sources] for way, gate in network.statistics()}
    assert waiting[(SOURCE,), (LEFT,)] == [3]
    assert waiting[(LEFT, RIGHT), (SINK,)] == [0, 2]


def test_what_the_dead_had_taken_of_the_quota_goes_back(plan: Plan, network: Network) -> None:
    assert network.quota_of(0).take(70) == 70
    assert network.quota.left == 30
    reclaim(plan, network, 1)
    assert network.quota.left == 30
    reclaim(plan, network, 0)
    assert network.quota.left == 100


# -- bolts whose tasks claim key groups, and all come to each tuple


class ByKey(Forward):
    seen = ValueState("int64", default=0)


def test_what_tasks_that_claim_key_groups_lose_counts_once() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_spout("other", Endless)
    bolt = builder.set_bolt("by-key", ByKey, 3, config={"viper.sharing": "claims"})
    bolt.fields_grouping("source", "number").fields_grouping("other", "number")
    where = {"source": 1, "by-key": 1, "other": 2}
    options = {**Workers("process", 2).options, "topology__acker__executors": 0}
    planned = plan_of(builder, **{**options, "viper__placement": where})
    plan, network = planned[0], Network.create(*planned)
    source = plan.tasks_of("source")[0].id
    tasks = [task.id for task in plan.tasks_of("by-key")]
    add(network, source, tasks[0], 5, 8)
    network.source(plan.tasks_of("other")[0].id, tasks[0]).heartbeat(Position(100, 0, 0))
    ((_, gate),) = network.gates()
    for index, (count, working) in enumerate([(5, 4), (2, 0), (3, 1)]):
        reader = gate.reader(index)
        assert sum(run[3] for run in reader.get_ready(count, Positions())) == count
        reader.working(working)
    waiting = network.counts_waiting(tasks)
    assert (waiting(), network.counts_waiting(tasks[:1])()) == (6, 3)
    # The second had not come to six. Of the four that the first was working on, three may be among these.
    assert reclaim(plan, network, 0).tuples == 6 + 1
    assert waiting() == 0
