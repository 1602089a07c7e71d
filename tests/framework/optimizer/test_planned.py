"""The plan of a run that leaves placement, and what nobody can tell apart, to built-in costs."""

from __future__ import annotations

import logging
import random
from typing import Any

import pytest

import viperstorm
from framework.model.config import resolve
from framework.model.topology import Topology
from framework.operators.sinks import CollectingSink
from framework.optimizer.costs import Deployment
from framework.optimizer.first_placement import BOLT, GAIN, SINK, builtin_cost, problem_of, step_cost
from framework.optimizer.planned import planned
from framework.planning import Plan, WorkerKind, make_plan
from viperstorm import Bolt, Spout, TopologyBuilder, ValueState
from viperstorm import Stream as StreamOf


class Source(Spout):
    outputs = ["value"]

    def tuples(self) -> Any:
        for number in range(200):
            yield [number]


class Pass(Bolt):
    outputs = ["value"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])


class Undeclared(Pass):
    config: dict[str, Any] = {}


class Counts(Bolt):
    outputs = ["value", "count"]
    seen = ValueState(default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit([tup.values[0], self.seen.value])


class Typed(Pass):
    outputs = [StreamOf(schema={"value": "int64 not null"})]


def chain(*middle: type[Bolt], par: int = 1, config: dict[str, Any] | None = None) -> Topology:
    """source -> bolts in turn -> sink; bolts get `par` tasks, and their input by value."""
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    before = "source"
    for number, cls in enumerate(middle):
        bolt = builder.set_bolt(f"bolt{number}", cls, par, **({} if config is None else {"config": config}))
        bolt.fields_grouping(before, "value")
        before = f"bolt{number}"
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    return builder.build("chain")


def plan_of(topology: Topology, **options: Any) -> Plan:
    """The plan with a configuration, in which ``__`` stands for a dot."""
    named = {key.replace("__", "."): value for key, value in options.items()}
    settings, problems = resolve(topology, options=named)
    assert not problems, problems
    return planned(topology, settings)


def workers(plan: Plan) -> dict[str, list[int]]:
    """The workers of the tasks of each component."""
    worker = {task: executor.worker for executor in plan.placement.executors for task in executor.tasks}
    return {c.id: [worker[task.id] for task in plan.tasks_of(c.id)] for c in plan.topology.components}


def test_a_chain_on_two_workers_is_cut_once() -> None:
    topology = chain(Pass, Counts, Pass)
    found = workers(plan_of(topology, topology__workers=2))
    ordered = [found[name][0] for name in ("source", "bolt0", "bolt1", "bolt2", "sink")]
    assert ordered == sorted(ordered) and set(ordered) == {1, 2}
    dealt = workers(plan_of(topology, topology__workers=2, viper__placement="round-robin"))
    assert [dealt[name][0] for name in ("source", "bolt0", "bolt1", "bolt2", "sink")] == [1, 2, 1, 2, 1]


def test_a_worker_without_anything_to_gain_has_no_tasks(caplog: pytest.LogCaptureFixture) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("sink", CollectingSink).shuffle_grouping("source")
    topology = builder.build("short")
    with caplog.at_level(logging.INFO, "viperstorm.plan"):
        plan = plan_of(topology, topology__workers=2)
    assert workers(plan) == {"source": [1], "sink": [1]} and plan.placement.kind is WorkerKind.PROCESS
    assert "1 of 2 workers have tasks" in caplog.text and "viper.placement: round-robin" in caplog.text


def test_what_the_configuration_places_stays_there() -> None:
    topology = chain(Pass, Pass)
    placement = {"source": 2, "bolt0": 1, "bolt1": 2, "sink": 1}
    found = workers(plan_of(topology, topology__workers=2, viper__placement=placement))
    assert found == {name: [worker] for name, worker in placement.items()}


@pytest.mark.parametrize("kind", ["thread", "inline"])
def test_only_processes_are_placed_by_costs(kind: str) -> None:
    topology = chain(Pass, Pass)
    settings, _ = resolve(topology, options={"viper.worker": kind, "topology.workers": 2})
    assert planned(topology, settings) == make_plan(topology, settings)


def test_a_cycle_stays_on_one_worker() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    first = builder.set_bolt("first", Undeclared, 2).shuffle_grouping("source")
    first.shuffle_grouping("second")
    builder.set_bolt("second", Undeclared, 2).shuffle_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping("second")
    found = workers(plan_of(builder.build("round"), topology__workers=2))
    assert len({*found["first"], *found["second"]}) == 1


@pytest.mark.parametrize("seed", range(30))
def test_drawn_topologies_are_predicted_no_slower_than_any_other_placement(seed: int) -> None:
    draw = random.Random(seed)
    builder = TopologyBuilder()
    builder.set_spout("source", Source, draw.randint(1, 2))
    names = ["source"]
    for number in range(draw.randint(2, 4)):
        bolt = builder.set_bolt(f"bolt{number}", draw.choice((Pass, Undeclared, Typed)), draw.randint(1, 2))
        bolt.shuffle_grouping(draw.choice(names))
        names.append(f"bolt{number}")
    topology = builder.build("drawn")
    plan = plan_of(topology, topology__workers=2)
    found = Deployment({name: tuple(one - 1 for one in some) for name, some in workers(plan).items()})
    problem = problem_of(plan, 2)
    best = problem.predicted(found).rate
    is_spread = len({worker for some in found.tasks.values() for worker in some}) > 1
    for _ in range(50):
        other = Deployment(
            {name: tuple(draw.randrange(2) for _ in some) for name, some in found.tasks.items()}
        )
        assert problem.predicted(other).rate <= best * (1.000001 if is_spread else GAIN), other


def test_a_run_that_moves_bolts_begins_with_the_same_placement() -> None:
    topology = chain(Pass, Counts)
    fixed = workers(plan_of(topology, topology__workers=2))
    plan = make_auto(topology)
    begun = workers(plan)
    for name, some in fixed.items():
        active = plan.scalable[name].indexes if name in plan.scalable else range(len(begun[name]))
        assert [begun[name][index] for index in active] == some
    for name in plan.movable:
        assert sorted(begun[name]) == [1, 2]


def make_auto(topology: Topology) -> Plan:
    """The plan of a run that moves bolts, on two cores whatever machine this is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("framework.planning.placement.usable_cores", lambda: 2)
        return plan_of(topology, topology__workers="auto")


@pytest.mark.parametrize("workers", [1, 2])
def test_merge_bolts_are_left_to_their_own_rules(workers: int) -> None:
    """They are added to each plan, so nobody else decides on their tasks."""
    options = {"viper__merge__layer": "operator-python", "topology__workers": workers}
    plan = plan_of(chain(Pass, Counts, par=2), **options)
    assert {component.id for component in plan.declared} == {"source", "bolt0", "bolt1", "sink"}
    assert all(plan.placement.executor_of(task.id) >= 0 for task in plan.tasks)


# -- one task in one thread


def claiming() -> Topology:
    """A bolt whose three tasks claim their tuples."""
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    config = {"viper.stateless": True, "viper.sharing": "claims"}
    builder.set_bolt("bolt0", Pass, 3, config=config).shuffle_grouping("source")
    return builder.build("claiming")


def tasks(plan: Plan, name: str) -> int:
    """The number of tasks of a component."""
    return len(plan.tasks_of(name))


@pytest.mark.parametrize("cls", [Pass, Counts])
def test_tasks_that_nobody_can_tell_apart_are_one_inline(
    cls: type[Bolt], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "viperstorm.plan"):
        assert tasks(plan_of(chain(cls, par=3)), "bolt0") == 1
    assert "bolt0 has 1 task in place of 3" in caplog.text and "viper.tasks" in caplog.text
    assert tasks(plan_of(chain(cls, par=3), topology__workers=2), "bolt0") == 3


@pytest.mark.parametrize(
    ("topology", "options"),
    [
        (chain(Undeclared, par=3), {}),
        (chain(Pass, par=3), {"viper__tasks": {"bolt0": 3}}),
        (chain(Pass, par=3), {"viper__worker": "thread"}),
        (chain(Pass, par=3, config={"viper.stateless": True, "viper.blocking": True}), {}),
        (chain(Pass, par=3, config={"viper.stateless": True, "viper.parallelism.max": 4}), {}),
        (claiming(), {}),
    ],
    ids=["undeclared", "named", "threads", "blocking", "scalable", "claims"],
)
def test_tasks_that_somebody_can_tell_apart_stay(topology: Topology, options: dict[str, Any]) -> None:
    assert tasks(plan_of(topology, **options), "bolt0") >= 3


def rows_of(topology: Topology, **options: Any) -> list[Any]:
    """The rows at the sink of a run, in order, in one thread but for these options."""
    return viperstorm.run(topology, **{"worker": "inline", **options}).result("sink")


def test_one_task_has_the_rows_of_three() -> None:
    topology = chain(Pass, Counts, par=3)
    asked = {"viper.tasks": {"bolt0": 3, "bolt1": 3}}
    rows = rows_of(topology)
    assert rows == rows_of(topology, conf=asked) and len(rows) == 200


class Choosing(Bolt):
    outputs = [StreamOf(fields=["value"], direct=True)]


def test_tasks_that_their_producer_chooses_stay() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("choosing", Choosing).shuffle_grouping("source")
    builder.set_bolt("chosen", Pass, 3).direct_grouping("choosing")
    assert tasks(plan_of(builder.build("direct")), "chosen") == 3


class Ticking(Pass):
    def process_tick(self, tup: Any) -> None:
        """Each task hears its own."""


def test_tasks_that_hear_ticks_stay() -> None:
    config = {"viper.stateless": True, "topology.tick.tuple.freq.secs": 1}
    assert tasks(plan_of(chain(Ticking, par=3, config=config)), "bolt0") == 3


# -- built-in costs


def test_what_nobody_knows_costs_as_much_as_a_bolt() -> None:
    assert step_cost("Unheard") is BOLT and step_cost("CsvSink") is SINK


def test_a_rare_stream_costs_little_and_columns_less() -> None:
    cost = builtin_cost(BOLT, {"default": 1, "late": 1}, "default", typed=False)
    assert cost.streams["late"].selectivity < cost.streams["default"].selectivity / 10
    typed = builtin_cost(BOLT, {"default": 1}, "default", typed=True)
    assert (
        typed.ns < cost.ns / 10
        and typed.streams["default"].encode_ns < cost.streams["default"].encode_ns / 10
    )


def test_a_tuple_of_more_values_costs_more_on_its_way() -> None:
    cost = builtin_cost(BOLT, {"narrow": 1, "wide": 100}, "default", typed=False)
    assert cost.streams["wide"].encode_ns > 10 * cost.streams["narrow"].encode_ns


class Records(Source):
    outputs = ["ts", "id", "value"]


class Keeps(Pass):
    outputs = ["ts", "id", "value"]


def of_records(*middle: type[Bolt]) -> Topology:
    """A source of records -> bolts in turn -> sink."""
    builder = TopologyBuilder()
    builder.set_spout("source", Records)
    before = "source"
    for number, cls in enumerate(middle):
        builder.set_bolt(f"bolt{number}", cls).shuffle_grouping(before)
        before = f"bolt{number}"
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    return builder.build("records")


def test_a_filter_of_records_stays_on_one_worker_and_two_bolts_do_not() -> None:
    alone = workers(plan_of(of_records(Keeps), topology__workers=2))
    assert alone == {"source": [1], "bolt0": [1], "sink": [1]}
    found = workers(plan_of(of_records(Keeps, Keeps), topology__workers=2))
    assert found == {"source": [1], "bolt0": [1], "bolt1": [2], "sink": [2]}
