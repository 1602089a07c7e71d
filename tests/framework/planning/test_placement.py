"""The choice of the worker that runs a task."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.model.config import resolve
from framework.model.errors import TopologyError
from framework.planning import Placement, Plan, WorkerKind, make_plan
from framework.planning.placement import AsListed, ByComponent, Group, RoundRobin


class Source(Spout):
    outputs = ["value"]


class Pass(Bolt):
    outputs = ["value"]


class Waits(Pass):
    config = {"viper.blocking": True}


def wordcount(middle: type[Bolt] = Pass) -> TopologyBuilder:
    """source (1 task) -> split (2) -> count (2)."""
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("split", middle, 2).shuffle_grouping("source")
    builder.set_bolt("count", Pass, 2).fields_grouping("split", "value")
    return builder


def placed(builder: TopologyBuilder, **options: Any) -> Placement:
    topology = builder.build("placed")
    settings, problems = resolve(
        topology, options={key.replace("__", "."): value for key, value in options.items()}
    )
    assert not problems, problems
    return make_plan(topology, settings).placement


def by_worker(placement: Placement) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for executor in placement.executors:
        found.setdefault(executor.worker, []).extend(executor.tasks)
    return found


COUNT, SOURCE, SPLIT = (1, 2), (3,), (4, 5)
"""Ids go by the components' names."""


def test_one_worker_is_inline() -> None:
    placement = placed(wordcount())
    assert placement.kind is WorkerKind.INLINE
    assert by_worker(placement) == {1: [1, 2, 3, 4, 5]}


def test_several_are_processes() -> None:
    placement = placed(wordcount(), topology__workers=2)
    assert placement.kind is WorkerKind.PROCESS
    assert placement.processes == ((0,), (1,))


def test_round_robin_goes_along_the_stream() -> None:
    placement = placed(wordcount(), topology__workers=2)
    assert by_worker(placement) == {1: [2, 3, 5], 2: [1, 4]}


def test_components_stay_together() -> None:
    placement = placed(wordcount(), topology__workers=2, viper__placement="component")
    assert by_worker(placement) == {1: [1, 2, 3], 2: [4, 5]}


def test_as_given_and_round_robin_for_the_rest() -> None:
    placement = placed(
        wordcount(),
        topology__workers=3,
        viper__placement={"split": [2, 3], "count": 3},
        viper__worker="thread",
    )
    assert by_worker(placement) == {1: [3], 2: [4], 3: [1, 2, 5]}
    assert placement.processes == ((0, 1, 2),)


def test_the_inline_worker_is_always_one() -> None:
    assert by_worker(placed(wordcount(), topology__workers=4, viper__worker="inline")) == {1: [1, 2, 3, 4, 5]}


def test_more_workers_than_tasks_are_not_started() -> None:
    assert len(placed(wordcount(), topology__workers=9).executors) == 5


def test_a_blocking_task_has_a_thread_of_its_own_in_its_worker() -> None:
    placement = placed(wordcount(Waits), topology__workers=2)
    assert [(e.worker, e.tasks, e.blocking) for e in placement.executors] == [
        (1, (2, 3), False),
        (1, (5,), True),
        (2, (1,), False),
        (2, (4,), True),
    ]
    assert placement.processes == ((0, 1), (2, 3))


def test_isolated_tasks_come_after_those_that_share() -> None:
    class Alone(Pass):
        config = {"viper.isolated": True}

    placement = placed(wordcount(Alone))
    assert placement.kind is WorkerKind.PROCESS
    assert by_worker(placement) == {1: [1, 2, 3], 2: [4], 3: [5]}


def test_streamparses_components_are_isolated_unless_they_say_otherwise() -> None:
    from streamparse import Bolt as PortedBolt

    class Ported(PortedBolt):  # type: ignore[misc]
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            pass

    assert by_worker(placed(wordcount(Ported))) == {1: [1, 2, 3], 2: [4], 3: [5]}
    assert placed(wordcount(Ported), viper__worker="inline").kind is WorkerKind.INLINE

    class Sharing(Ported):
        config = {"viper.isolated": False}

    assert placed(wordcount(Sharing)).kind is WorkerKind.INLINE


def cycle(**config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("head", Pass, 2).shuffle_grouping("source").shuffle_grouping("back")
    builder.set_bolt("back", Pass, 2, config=config).shuffle_grouping("head")
    builder.set_bolt("after", Pass, 2).shuffle_grouping("head")
    return builder


def test_a_cycle_stays_on_one_worker() -> None:
    placement = placed(cycle(), topology__workers=3)
    assert {3, 4, 5, 6} <= set(by_worker(placement)[2])


def test_a_cycle_cannot_block() -> None:
    with pytest.raises(TopologyError, match=r"'back': viper.blocking is true, but it is part of a cycle"):
        placed(cycle(**{"viper.blocking": True}))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"splitt": 1}, "unknown component 'splitt'.*did you mean 'split'"),
        ({"split": [1, 3]}, r"split is on worker 3: expected 1 to 2 \(topology.workers\)"),
    ],
)
def test_a_placement_that_cannot_be_is_refused(said: Any, message: str) -> None:
    with pytest.raises(TopologyError, match=f"viper.placement: {message}"):
        placed(wordcount(), topology__workers=2, viper__placement=said)


@pytest.mark.parametrize("said", ["roundrobin", {"split": 0}, {"split": []}, {1: 1}, 3, {"split": True}])
def test_a_value_that_is_no_placement_is_refused(said: Any) -> None:
    _, (problem,) = resolve(wordcount().build("placed"), options={"viper.placement": said})
    expected = "expected 'costs', 'round-robin' or 'component', or for each component a worker's number"
    assert expected in problem.message


@pytest.mark.parametrize("placer", [RoundRobin(), ByComponent(), AsListed({"a": 2, "b": [1, 3]})])
def test_every_placer_stays_within_the_workers(placer: Any) -> None:
    groups = [Group((n,), (name,), n % 3, alone=False) for n, name in enumerate("aaabbbcccddd")]
    for workers in (3, 4, 7):
        chosen = placer.place(groups, workers)
        assert len(chosen) == len(groups)
        assert set(chosen) <= set(range(1, workers + 1))


def planned(builder: TopologyBuilder, **options: Any) -> Plan:
    topology = builder.build("planned")
    settings, problems = resolve(topology, options={"viper.tasks": {}, **options})
    assert not problems
    return make_plan(topology, settings)


def test_tasks_that_are_planned_outrank_all_but_the_most() -> None:
    builder = wordcount()
    builder.set_bolt("own", Pass, 2).shuffle_grouping("split").add_configuration("topology.tasks", 3)
    plan = planned(builder, **{"viper.tasks": {"split": 5, "own": 1}})
    assert {name: len(plan.tasks_of(name)) for name in ("source", "split", "count", "own")} == {
        "source": 1,
        "split": 5,
        "count": 2,
        "own": 1,
    }
    plan = planned(builder, **{"viper.tasks": {"split": 5}, "topology.max.task.parallelism": 2})
    assert len(plan.tasks_of("split")) == 2


def test_tasks_of_a_component_that_is_none_are_refused() -> None:
    with pytest.raises(TopologyError, match=r"viper\.tasks: unknown .* 'splitt'.*did you mean 'split'"):
        planned(wordcount(), **{"viper.tasks": {"splitt": 2}})


@pytest.mark.parametrize("said", [2, {"split": 0}, {"split": 1025}, {"split": True}, {1: 1}, ["split"], None])
def test_a_value_that_is_no_count_of_tasks_is_refused(said: Any) -> None:
    _, (problem,) = resolve(wordcount().build("planned"), options={"viper.tasks": said})
    assert "expected for each component an integer from 1 to 1024" in problem.message
