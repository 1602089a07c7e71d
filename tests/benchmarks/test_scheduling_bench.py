"""The simulation of a paper's runtime on many cores, against times that were worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest

from framework.runtime.execution.heuristics import HEURISTICS
from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]
MS = 0.001


@pytest.fixture
def sim(load_module: Load) -> Any:
    """The module of the simulation."""
    return load_module("simulated_cores")


def ran(sim: Any, stages: Any, inputs: int, policy: str = "lp", **given: Any) -> Any:
    """The outcome with slices of one millisecond; further arguments are those of a `Machine`."""
    arriving = {"arriving": given.pop("arriving")} if "arriving" in given else {}
    machine = sim.Machine(**{"cores": 1, "slice_s": MS, **given})
    return sim.Simulation(stages, HEURISTICS[policy], machine, inputs, **arriving).run()


def left_at(outcome: Any) -> list[float]:
    """The times in ms at which outputs left."""
    return [round(out_s / MS, 6) for _, _, out_s in outcome.exits]


def test_cores_share_an_operator_without_state(sim: Any) -> None:
    """Four inputs of 1 ms: after 4, 2, 2 and 1 ms, and with one worker at most after 4."""
    stage = sim.Stage("only", MS)
    for cores, elapsed_ms in ((1, 4), (2, 2), (3, 2), (4, 1)):
        assert ran(sim, [stage], 4, cores=cores).elapsed_s == pytest.approx(elapsed_ms * MS)
    single = ran(sim, [sim.Stage("only", MS, most=1)], 4, cores=4)
    assert (left_at(single), single.spent_s) == ([1, 2, 3, 4], pytest.approx([4 * MS]))


def test_outputs_leave_in_the_order_of_inputs(sim: Any) -> None:
    """Two cores, partitions 0, 0, 1, 1. The second worker leaves input 1 to the owner of partition 0, and
    does 2 and 3; when 1 is done, at 2 ms, its output and those of 2 and 3 leave.
    """
    given = sim.Stage("keyed", MS, most=2, partitions=[0, 0, 1, 1])
    slices = {"cores": 2, "slice_s": 4 * MS}
    assert left_at(ran(sim, [given], 4, **slices)) == [1, 2, 2, 2]
    alone = sim.Stage("keyed", MS, most=2, partitions=[0])
    assert left_at(ran(sim, [alone], 4, **slices)) == [1, 2, 3, 4]


PARTITIONS = [0, 0, 0, 1, 2, 0, 1, 3, 3, 2, 0, 4]


def disordered(sim: Any) -> bool:
    """True if outputs leave in another order than their inputs came, with four cores and a hot partition."""
    stages = [sim.Stage("keyed", MS, 2.0, 5, PARTITIONS), sim.Stage("last", 0.1 * MS)]
    outcome = ran(sim, stages, 48, cores=4, order_s=0.01 * MS, take_s=0.01 * MS)
    assert len(outcome.exits) == 96
    return any(one[0] > other[0] for one, other in pairwise(outcome.exits))


def test_a_buffer_that_does_not_wait_for_the_next_is_caught(
    sim: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not disordered(sim)

    def send(self: Any, worker: Any, running: Any) -> None:
        running.done[running.passed] = worker.item  # whichever number it has
        self._passed_at_once(worker, running)

    def passed_at_once(self: Any, worker: Any, running: Any) -> None:
        is_passing, running.is_passing = running.is_passing, True
        self._passed(worker, running, 1)
        running.is_passing = is_passing

    monkeypatch.setattr(sim.Simulation, "_send", send)
    monkeypatch.setattr(sim.Simulation, "_passed_at_once", passed_at_once, raising=False)
    assert disordered(sim)


def test_a_partition_that_two_workers_have_is_caught(sim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its four inputs of 1 ms, one after the other, take 4 ms on two cores, and 2 ms if nobody owns it."""
    stages = [sim.Stage("keyed", MS, most=2, partitions=[0])]
    assert ran(sim, stages, 4, cores=2).elapsed_s == pytest.approx(4 * MS)

    class Nobody(dict[int, Any]):
        def __contains__(self, partition: object) -> bool:
            return False

        def __delitem__(self, partition: int) -> None:
            self.pop(partition, None)

        def __missing__(self, partition: int) -> Any:
            return ()

    made = sim._Running.__init__

    def planted(self: Any, *arguments: Any) -> None:
        made(self, *arguments)
        self.owned = Nobody()

    monkeypatch.setattr(sim._Running, "__init__", planted)
    assert ran(sim, stages, 4, cores=2).elapsed_s == pytest.approx(2 * MS)


def test_a_buffer_that_is_full_holds_its_worker_back(sim: Any) -> None:
    """Two cores, three inputs of 1 ms, 0.5 ms to pass one on.

    With two slots, the second worker leaves output 1 at 1 ms, and takes input 2 then; it has done that at
    2 ms. Output 0 has left at 1.5, 1 at 2.0, and 2 at 2.5. With one slot, it waits until 1.5 ms. The other
    takes input 2 then, and has done it at 2.5, so it leaves at 3.0.
    """
    stage = sim.Stage("only", MS)
    given = {"cores": 2, "slice_s": 9 * MS, "order_s": 0.5 * MS}
    assert left_at(ran(sim, [stage], 3, slots=2, **given)) == [1.5, 2.0, 2.5]
    assert left_at(ran(sim, [stage], 3, slots=1, **given)) == [1.5, 2.0, 3.0]


def test_the_scheduler_and_a_worklist_serve_one_at_a_time(sim: Any) -> None:
    """Two cores, two inputs of 2 ms, each from a choice of its own.

    With 1 ms for a choice, they begin at 1 and 2 ms, and so with 1 ms to take an input.
    """
    stage = sim.Stage("only", 2 * MS)
    assert left_at(ran(sim, [stage], 2, cores=2, ask_s=MS)) == [3, 4]
    assert left_at(ran(sim, [stage], 2, cores=2, take_s=MS)) == [3, 4]


def test_inputs_arrive_as_they_are_due(sim: Any) -> None:
    """One a millisecond, with work of half of one: each leaves half a millisecond after it has come."""
    outcome = ran(sim, [sim.Stage("only", 0.5 * MS)], 3, arriving=1000.0)
    assert left_at(outcome) == [0.5, 1.5, 2.5]
    assert outcome.latency_s == pytest.approx(0.5 * MS)
    assert outcome.rate == pytest.approx(3 / (2.5 * MS))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("lp", [2, 4, 6]),
        ("qst", [4, 5, 6]),  # the thresholds are never reached
        ("et", [3, 5, 6]),  # 3 and 0 wait, 2 and 1, 1 and 2, 1 and 1, 0 and 2
        ("ct", [2, 4, 6]),  # whichever has worked less
    ],
)
def test_heuristics_on_one_core(sim: Any, policy: str, expected: list[float]) -> None:
    """Two operators of 1 ms, three inputs; slices of one input."""
    stages = [sim.Stage("first", MS), sim.Stage("second", MS)]
    assert left_at(ran(sim, stages, 3, policy)) == expected


def test_thresholds_of_output_queues(sim: Any) -> None:
    """Of a capacity of 4, each of two operators has a half, so the second gets its turn at two tuples."""
    stages = [sim.Stage("first", MS), sim.Stage("second", MS)]
    assert left_at(ran(sim, stages, 4, "qst", capacity=4)) == [3, 5, 7, 8]


def test_selectivities_are_even(sim: Any) -> None:
    stage = sim.Stage("third", MS, 1 / 3)
    assert [stage.outputs(number) for number in range(6)] == [0, 0, 1, 0, 0, 1]
    assert sum(map(sim.Stage("more", MS, 2.5).outputs, range(10))) == 25


def test_the_ideal_rate(sim: Any) -> None:
    """A row costs 1 ms and 0.5 * 4 ms, of which the second stands back behind one another on one core."""
    stages = [sim.Stage("first", MS, 0.5), sim.Stage("second", 4 * MS, most=1)]
    assert sim.ideal_rate(stages, 1) == pytest.approx(1000 / 3)
    assert sim.ideal_rate(stages, 16) == pytest.approx(1000 / 2)
    skewed = [sim.Stage("keyed", MS, most=100, partitions=[0, 0, 1, 2])]
    assert [sim.ideal_rate(skewed, cores) for cores in (1, 16)] == pytest.approx([1000, 2000])


@pytest.mark.parametrize("policy", HEURISTICS)
def test_cores_that_nothing_holds_up_give_the_ideal_rate(sim: Any, policy: str) -> None:
    stages = [sim.Stage("first", 0.02 * MS, 0.5), sim.Stage("second", 0.03 * MS)]
    for cores in (1, 4, 16):
        outcome = ran(sim, stages, 20_000, policy, cores=cores, slice_s=0.5 * MS)
        assert sum(outcome.spent_s) == pytest.approx(20_000 * 0.035 * MS)
        assert outcome.rate == pytest.approx(sim.ideal_rate(stages, cores), rel=0.04)


def test_ct_by_the_letter_leaves_an_operator_with_few_outputs_behind(sim: Any, load_module: Load) -> None:
    """Of two that keep pace, one passes on one in a hundred. By its own outputs it is 100 times ahead."""
    letter = load_module("scheduling").by_the_letter
    stages = [sim.Stage("first", MS, 1.0), sim.Stage("filter", MS, 0.01, most=1)]
    rates = [
        sim.Simulation(stages, policy, sim.Machine(2, 5 * MS), 2000).run().rate
        for policy in (HEURISTICS["ct"], letter)
    ]
    assert rates[0] > 1.2 * rates[1]


@pytest.mark.slow
def test_the_tables(run_script: Run) -> None:
    brief = ["--query", "q1", "q15", "--measured-rows=3000", "--rounds=1", "--rows=1000"]
    rows = run_script("scheduling.py", *brief, "--cores", "1", "4", "--policy", "ct", "letter")
    assert [row[:2] for row in rows] == [["q1", "1"], ["q1", "4"], ["q15", "1"], ["q15", "4"]]
    assert all(0 < number(row[3]) <= number(row[2]) + 1 for row in rows)
    checked = run_script("scheduling.py", *brief, "--check")
    assert [row[:3] for row in checked] == [
        [query, cores, place]
        for query in ("q1", "q15")
        for cores, place in (("1", "inline"), ("2", "2 processes"))
    ]
    assert all(number(cell) > 0 for row in checked for cell in row[3:])
