"""Policies by the paper's heuristics: the figures that they go by, and a turn for every task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.planning import Plan, TaskSpec
from framework.runtime.execution.accounting import SLICE_S
from framework.runtime.execution.heuristics import HEURISTICS
from framework.runtime.execution.paper_policies import (
    FIRST_COST_S,
    RECKON_EVERY,
    WINDOW_S,
    ByHeuristic,
    Component,
    Components,
)
from framework.runtime.execution.policy import FAIR_EVERY
from framework.runtime.observation.counters import StreamCounters, TaskCounters
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import Workers, every_kind

CAPACITY = 1000


class Numbers(Spout):
    outputs = ["number"]

    def __init__(self, count: int = 2000) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Any:
        for number in range(self._count):
            yield (number,)


class Split(Bolt):
    outputs = [Stream(["number"]), Stream(["number"], name="odd")]

    def process(self, tup: Any) -> None:
        number = tup.values[0]
        if number % 2:
            self.emit([number], stream="odd")
        else:
            self.emit([number])
            self.emit([number + 1])


class Passes(Bolt):
    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


def diamond(count: int = 2000) -> TopologyBuilder:
    """A split whose streams go to two bolts, of which one has each tuple in both of its tasks, and a sink."""
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers, args=[count])
    builder.set_bolt("split", Split).shuffle_grouping("numbers")
    builder.set_bolt("even", Passes, 2).fields_grouping("split", "number")
    builder.set_bolt("odd", Passes, 2).all_grouping("split", stream="odd")
    builder.set_bolt("sink", CollectingSink).global_grouping("even").global_grouping("odd")
    return builder


class _Task:
    """A task of which only its spec and its counters matter."""

    def __init__(self, spec: TaskSpec) -> None:
        self.context = SimpleNamespace(spec=spec, counters=TaskCounters())


class Figures:
    """A diamond's components, whose counters and queues are given."""

    def __init__(self, plan: Plan | None = None, merge: str = "communication") -> None:
        self.plan = plan_of(diamond(), viper__merge__layer=merge)[0] if plan is None else plan
        self.waiting: dict[int, int] = {}
        self.components = Components(self.plan, self._counts_waiting, CAPACITY)
        self.executor: Any = _Executor()
        self.tasks = {spec.id: _Task(spec) for spec in self.plan.tasks}
        self.components.join(self.executor, self.tasks.values())  # type: ignore[arg-type]

    def _counts_waiting(self, ids: Collection[int]) -> Callable[[], int]:
        return lambda: sum(self.waiting.get(id, 0) for id in ids)

    def tasks_of(self, component: str) -> list[Any]:
        return [self.tasks[spec.id] for spec in self.plan.tasks_of(component)]

    def of(self, component: str) -> Component:
        return self.components.of(self.tasks_of(component)[0])

    def count(self, component: str, handled: int, cpu_s: float = 0.0, **emitted: int) -> None:
        """Let the tasks of a component have done that together, the first one all."""
        counters: TaskCounters = self.tasks_of(component)[0].context.counters
        counters.processed = counters.emitted = handled
        counters.costs.cpu_s = cpu_s
        counters.costs.streams = {name: StreamCounters(count) for name, count in emitted.items()}


class _Executor:
    """Runs tasks, of which one may be in a callback."""

    current: Any = None


def test_costs_are_averages_of_all_tasks_here() -> None:
    given = Figures()
    first, second = (task.context.counters for task in given.tasks_of("even"))
    first.processed, second.processed = 299, 700
    first.costs.cpu_s, second.costs.cpu_s = 0.003, 0.007
    given.components.pipeline()
    assert given.of("even").cost_s == pytest.approx((0.01 + FIRST_COST_S) / 1000)
    assert given.of("odd").cost_s == FIRST_COST_S


def test_selectivities_multiply_along_the_streams() -> None:
    """999 tuples make 1,499 even and 499 odd ones; both tasks of `odd` get each of theirs."""
    given = Figures()
    given.count("numbers", 999, default=999)
    given.count("split", 999, default=1499, odd=499)
    given.count("even", 1499, default=149)
    given.count("odd", 999, default=999)
    given.count("sink", 1148)
    found = given.components.pipeline()
    assert given.of("numbers").cumulative == 1.0
    assert given.of("split").cumulative == pytest.approx(2.0)
    assert given.of("even").cumulative == pytest.approx(1.5 * 0.1)
    assert given.of("odd").cumulative == pytest.approx(0.5 * 2 * 1.0)
    assert given.of("sink").cumulative == pytest.approx(0.15 + 1.0)  # nobody reads from it, so 1
    entering = [given.of(name).entering for name in ("numbers", "split", "even", "odd", "sink")]
    assert entering == pytest.approx([1.0, 1.0, 1.5, 0.5 * 2, 0.15 + 1.0])
    assert found.cumulative == pytest.approx(1 + 2 + 0.15 + 1 + 1.15)
    assert (found.capacity, found.slice_s) == (CAPACITY, SLICE_S)


@pytest.mark.parametrize("merge", ["operator", "operator-python"])
def test_merge_bolts_pass_on_what_comes(merge: str) -> None:
    given = Figures(merge=merge)
    given.count("numbers", 999, default=999)
    given.count("split", 999, default=1499, odd=499)
    given.count("sink.merge", 1000, default=1000)
    given.components.pipeline()
    assert given.of("sink").cumulative == pytest.approx(1.5 + 2 * 0.5)
    assert given.of("sink.merge").cumulative == pytest.approx((1.5 + 2 * 0.5) * 1.0)
    assert [each.name for each in given.of("sink.merge").behind] == ["sink"]


def test_sources_share_one_tuple_of_the_entry() -> None:
    builder = TopologyBuilder()
    for name in ("few", "many"):
        builder.set_spout(name, Numbers)
    builder.set_bolt("sink", CollectingSink).global_grouping("few").global_grouping("many")
    given = Figures(plan_of(builder)[0])
    given.count("few", 99, default=99)
    given.count("many", 299, default=299)
    given.components.pipeline()
    assert (given.of("few").cumulative, given.of("many").cumulative) == (0.25, 0.75)
    assert given.of("sink").cumulative == pytest.approx(1.0)


def test_queues_are_those_of_all_tasks() -> None:
    given = Figures()
    for task, count in zip([*given.tasks_of("even"), *given.tasks_of("odd")], (1, 20, 300, 0), strict=True):
        given.waiting[task.context.spec.id] = count
    assert given.of("even").waiting == 21
    assert given.of("odd").waiting == 300
    assert given.of("split").queued == 321
    assert given.of("sink").queued == 0
    assert given.of("sink").waiting == 1, "whoever may run has something to do"
    given.count("numbers", 999, cpu_s=0.002)
    given.components.pipeline()
    assert given.of("numbers").waiting * given.of("numbers").cost_s == pytest.approx(SLICE_S)


def test_workers_are_the_threads_in_a_task() -> None:
    given = Figures()
    other = _Executor()
    given.components.join(other, given.tasks.values())  # type: ignore[arg-type]
    assert given.of("even").workers == 0
    given.executor.current, other.current = given.tasks_of("even")
    assert (given.of("even").workers, given.of("even").most, given.of("odd").workers) == (2, 2, 0)
    del other, given.executor
    assert given.of("even").workers == 0, "an executor that is gone works no more"


def test_a_window_ends_when_all_tasks_together_have_worked_so_long() -> None:
    given = Figures()
    given.components.pipeline()
    given.count("split", 100, cpu_s=0.9 * WINDOW_S)
    for _ in range(RECKON_EVERY):
        given.components.pipeline()
    assert given.of("split").spent_s == pytest.approx(0.9 * WINDOW_S)
    given.count("even", 100, cpu_s=0.2 * WINDOW_S)
    for _ in range(RECKON_EVERY):
        given.components.pipeline()
    assert (given.of("split").spent_s, given.of("even").spent_s) == (0.0, 0.0)
    given.count("even", 100, cpu_s=0.3 * WINDOW_S)
    assert given.of("even").spent_s == pytest.approx(0.1 * WINDOW_S)


def turns(given: Figures, name: str, count: int) -> Sequence[Any]:
    """The tasks that a policy chooses one after the other while all of them are runnable."""
    policy = ByHeuristic(HEURISTICS[name], given.components)
    tasks: list[Any] = list(given.tasks.values())
    return [policy.choose(tasks) for _ in range(count)]


@pytest.mark.parametrize(
    ("name", "chosen"), [("qst", "numbers"), ("lp", "sink"), ("et", "odd"), ("ct", "even")]
)
def test_each_policy_goes_by_its_heuristic(name: str, chosen: str) -> None:
    given = Figures()
    given.count("numbers", 10**6, cpu_s=1.0, default=10**6)
    given.count("split", 10**6, cpu_s=1.0, default=10**6, odd=10**6)
    given.count("even", 10**6, cpu_s=0.5, default=10**6)
    given.count("odd", 10**6, cpu_s=1.0, default=10**6)
    given.count("sink", 3 * 10**6, cpu_s=6.0)
    given.components.pipeline()  # begins a window
    used_s = {"numbers": 1.02, "split": 1.06, "even": 0.504, "odd": 1.03, "sink": 6.09}
    for component, cpu_s in used_s.items():
        given.tasks_of(component)[0].context.counters.costs.cpu_s = cpu_s
    given.waiting[given.tasks_of("odd")[0].context.spec.id] = 100_000
    given.waiting[given.tasks_of("odd")[1].context.spec.id] = 50_000
    if name == "qst":
        given.waiting.clear()
    names = [task.context.spec.component for task in turns(given, name, RECKON_EVERY - 1)]
    assert names == [chosen] * (RECKON_EVERY - 1)


def test_thresholds_hold_the_earlier_ones_back() -> None:
    """Of C, 1,000 tuples, the queue before `split` has a fifth, as all cumulative selectivities are 1."""
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers)
    before = "numbers"
    for name in ("a", "b", "c"):
        builder.set_bolt(name, Passes).shuffle_grouping(before)
        before = name
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    given = Figures(plan_of(builder)[0])
    (waits_for_a,) = (task.context.spec.id for task in given.tasks_of("a"))
    given.waiting[waits_for_a] = 199
    assert turns(given, "qst", 1)[0] is given.tasks_of("numbers")[0]
    given.waiting[waits_for_a] = 200
    assert turns(given, "qst", 1)[0] is given.tasks_of("a")[0]


def test_a_task_is_chosen_where_all_thresholds_are_reached() -> None:
    given = Figures()
    given.waiting = dict.fromkeys(given.tasks, CAPACITY)
    early = [*given.tasks_of("numbers"), *given.tasks_of("split")]
    policy = ByHeuristic(HEURISTICS["qst"], given.components)
    assert policy.choose(early) is early[1]


def most_waited(chosen: Sequence[Any], tasks: Collection[Any]) -> int:
    """The most turns for which a task has waited, those before its first and after its last one included."""
    longest = 0
    for task in tasks:
        mine = [-1, *(turn for turn, one in enumerate(chosen) if one is task), len(chosen)]
        longest = max(longest, *(later - earlier for earlier, later in pairwise(mine)))
    return longest


@pytest.mark.parametrize("name", HEURISTICS)
def test_every_task_gets_a_turn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without the turns for whoever has waited longest, some task never does."""
    given = Figures()
    given.waiting[given.tasks_of("odd")[0].context.spec.id] = 10**9
    for component in ("numbers", "split", "odd", "sink"):  # `even` costs nothing: the least throughput
        given.count(component, 1000, cpu_s=0.001, default=1000)
    bound = FAIR_EVERY * len(given.tasks)
    assert most_waited(turns(given, name, 4 * bound), given.tasks.values()) <= bound
    monkeypatch.setattr("framework.runtime.execution.paper_policies.FAIR_EVERY", 10**9)
    assert most_waited(turns(given, name, 4 * bound), given.tasks.values()) > bound


@every_kind
@pytest.mark.parametrize("name", HEURISTICS)
def test_no_policy_shows_in_the_output(name: str, workers: Workers) -> None:
    expected = run_built(diamond()).result("sink")
    found = run_built(diamond(), viper__scheduling=name, **workers.options).result("sink")
    assert [tuple(row) for row in found] == [tuple(row) for row in expected]


@pytest.mark.parametrize("claims", [False, True])
def test_what_waits_is_counted_while_a_run_runs(claims: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tuples wait at some time, and never more than were emitted."""
    seen: list[int] = []
    counted = Component.queued.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(Component, "queued", property(lambda self: seen.append(counted(self)) or seen[-1]))
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers, args=[500])
    config = {"viper.stateless": True, "viper.sharing": "claims" if claims else "dealt"}
    builder.set_bolt("passes", Passes, 3, config=config).shuffle_grouping("numbers")
    builder.set_bolt("sink", CollectingSink).global_grouping("passes")
    options = {"viper__jumbo__size": 1, "viper__slice__tuples": 500}
    report = run_built(builder, viper__scheduling="qst", **options)
    assert len(report.result("sink")) == 500
    assert 0 < max(seen) <= 500
