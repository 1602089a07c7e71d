"""The guarantee: the same output, tuple for tuple, for every plan and every schedule."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import viper.reader
from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange.output import Output
from framework.runtime.order.positions.lineage import Lineage
from tests.framework.runtime.pieces import Forward, Keep, Numbers, Row, chained, drawn, run_built
from tests.framework.runtime.shapes import SHAPES
from tests.portions import at_every_change, seeds_at_every_change
from viper.errors import OrderError
from viper.jumbo import Emission
from viper.position import LEAST, Position, Positions
from viper.reader import Reader, Run

COUNT = 200


def output(shape: str, par: int = 1, **options: Any) -> list[Row]:
    result: list[Row] = run_built(SHAPES[shape](par, COUNT), **options).result("sink")
    return result


@pytest.mark.few(1)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(25), 3), ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_output_does_not_depend_on_the_plan_or_the_schedule(shape: str, seeds: range) -> None:
    expected = output(shape)
    assert len(expected) >= COUNT // 10
    for seed in seeds:
        par, options = drawn(seed)
        assert output(shape, par, **options) == expected, f"par={par} {options}"


def test_a_chain_is_what_plain_python_makes_of_it() -> None:
    chains: dict[int, int] = {}
    expected = []
    for source, number in ((f"0{copy}", (n * 3 + copy) % 100) for n in range(COUNT) for copy in range(3)):
        chains[number] = chained(chains.get(number, 0), source)
        expected.append((f"{source}#{number}", chains[number]))
    assert output("chain", 4, viper__jumbo__size=7) == expected


@pytest.mark.few(1)
@pytest.mark.parametrize(("slots", "par"), at_every_change([(1, 3), (64, 1), (1, 1), (64, 3)], 2))
def test_one_input_may_have_more_outputs_than_outbox_and_channel_hold(slots: int, par: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[2])
    builder.set_bolt("many", Forward, par, args=[100_000]).shuffle_grouping("source")
    builder.set_bolt("again", Forward, par).shuffle_grouping("many")
    builder.set_bolt("sink", CollectingSink).global_grouping("again").global_grouping("source")
    rows = run_built(builder, viper__channel__jumbos=slots).result("sink")
    of_first = [(f"0{copy}0", copy % 100 * 3 % 100) for copy in range(100_000)]
    of_second = [(f"0{copy}0", (3 + copy) % 100 * 3 % 100) for copy in range(100_000)]
    assert rows == [("0", 0), *of_first, ("0", 1), *of_second]


@pytest.mark.parametrize("kept", [0, 1, 99, 100])
def test_filters_of_any_selectivity(kept: int) -> None:
    def filtered(par: int) -> TopologyBuilder:
        builder = TopologyBuilder()
        builder.set_spout("source", Numbers, args=[500])
        builder.set_bolt("keep", Keep, par, args=[kept, 100]).shuffle_grouping("source")
        builder.set_bolt("sink", CollectingSink).global_grouping("keep").global_grouping("source")
        return builder

    expected = [("0", n) for n in range(500) for _ in range(2 if n % 100 < kept else 1)]
    for par in (1, 4):
        assert (
            run_built(filtered(par), viper__jumbo__size=7, viper__channel__jumbos=1).result("sink")
            == expected
        )


def test_equal_times_are_ordered_by_spout_then_partition_then_count() -> None:
    rows = output("two_spouts", 3, viper__scheduling="random", viper__seed=5)
    direct = [row[:3] for row in rows if len(row) == 3]
    assert direct == [
        ("a", 3 * t + i, t)
        for t in range(COUNT // 3 + 1)
        for _ in range(2)
        for i in range(3)
        if 3 * t + i < COUNT
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(1, 4), 1), ids=str)
def test_the_positions_of_every_stream_are_the_same_too(
    shape: str, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    from framework.runtime.exchange.output import Output
    from framework.runtime.execution.assembly.outputs import OutputFactory

    seen: dict[str, set[tuple[Position, Row, int]]] = {}
    make, deliver = OutputFactory.make, Output.deliver
    names: dict[Output, str] = {}

    def named(self: OutputFactory, task: Any, *, kept: bool) -> Output:
        made = make(self, task, kept=kept)
        names[made] = task.component
        return made

    def recorded(self: Output, emission: Emission) -> None:
        rows, tags = emission.payload.rows, emission.tags
        ports = memoryview(tags).cast("H") if tags else [0] * len(rows)
        seen.setdefault(names[self], set()).update(zip(emission.positions, rows, ports, strict=True))
        deliver(self, emission)

    monkeypatch.setattr(OutputFactory, "make", named)
    monkeypatch.setattr(Output, "deliver", recorded)
    found = []
    for par, options in [(1, {}), *map(drawn, seeds)]:
        seen.clear()
        output(shape, par, **options)
        found.append(dict(seen))
    assert all(later == found[0] for later in found[1:])
    assert all(len(stream) > 0 for stream in found[0].values())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(6), 1), ids=str)
def test_it_makes_no_difference_whether_runs_are_put_together(
    shape: str, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = output(shape)
    monkeypatch.setattr(viper.reader, "MANY", 1)
    monkeypatch.setattr(viper.reader, "SHORT", 1 << 20)
    for seed in seeds:
        par, options = drawn(seed)
        assert output(shape, max(par, 2), **options) == expected, f"par={par} {options}"


# -- mistakes that the checks above must see


def as_they_come(self: Reader, limit: int, into: Positions, *, borrows: bool) -> tuple[list[Run], None]:
    """As `Reader.get_interleaved`, but the tuples of each call in the order of their sources."""
    delivered = Positions()
    runs = self.get_ready(limit, delivered, borrows=borrows)
    starts = list(itertools.accumulate((run[3] for run in runs), initial=0))
    for index in sorted(range(len(runs)), key=lambda i: runs[i][0]):
        into.extend_from(delivered, starts[index], runs[index][3])
    return sorted(runs, key=lambda run: run[0]), None


def noticed(shape: str) -> bool:
    """True if some plan gives another output, or a channel refuses what is out of order."""
    try:
        expected = output(shape)
        return any(output(shape, drawn(seed)[0], **drawn(seed)[1]) != expected for seed in range(25))
    except OrderError:
        return True


def test_ordinals_that_forget_their_parent_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Lineage.place

    def forgets(self: Lineage, *arguments: Any) -> None:
        place(self, *arguments)
        self._descent.go_below(LEAST, 0)

    monkeypatch.setattr(Lineage, "place", forgets)
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[1])
    builder.set_bolt("many", Forward, args=[10_000]).shuffle_grouping("source")
    builder.set_bolt("spread", Forward, 3).shuffle_grouping("many")
    builder.set_bolt("sink", CollectingSink).global_grouping("spread")
    with pytest.raises(OrderError):
        run_built(builder)


def test_a_task_that_promises_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Output.heartbeat

    def promise(self: Output, position: Position) -> None:
        publish(self, Position(position.ts + 1, 0, 0))

    monkeypatch.setattr(Output, "heartbeat", promise)
    assert noticed("diamond")


def test_a_consumer_that_breaks_ties_by_arrival_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reader, "get_interleaved", as_they_come)
    assert noticed("diamond")
