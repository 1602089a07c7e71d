"""The boundary of the order guarantee, with every kind of worker.

The table in docs/determinism.md has all cases, and where each of them is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.testing import run_topology
from tests.determinism.boundary_components import (
    BESIDE,
    AllKeys,
    ByTimer,
    Greets,
    Hashes,
    Ids,
    Late,
    SetOrder,
    Talks,
)
from tests.determinism.comparing import SERIAL, TIMEOUT_S
from tests.determinism.components import Batches, Forward, Numbers
from tests.determinism.special_components import Where
from tests.determinism.variants import SEEDS, kinds, product

Options = Mapping[str, Any]
COUNT = 40

PLANS: list[Options] = [
    variant.options()
    for kind in kinds()
    for variant in list(product("chain", kind))[:: {"inline": 97, "thread": 157, "process": 607}[kind]]
]
"""Options from all over the matrix, a few for each kind of worker."""


def rows_of(builder: TopologyBuilder, options: Options = SERIAL) -> list[tuple[Any, ...]]:
    report = run_topology(builder, conf=options, timeout_s=TIMEOUT_S).report
    rows: list[tuple[Any, ...]] = report.result("sink")
    return rows


def beside_the_source(cls: type[Bolt], par: int = 1, args: list[Any] | None = None) -> TopologyBuilder:
    """``source -> tested -> sink``, with the source's rows beside: a place where order can be broken."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("tested", cls, par, args=args or []).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("tested").global_grouping("source")
    return builder


def test_there_are_plans_of_every_kind() -> None:
    assert {options["viper.worker"] for options in PLANS} == set(kinds())
    assert len({options["viper.seed"] for options in PLANS}) > len(SEEDS) // 4


class TestAllGrouping:
    """Replicas' outputs share positions, so the copies of one input come together, by replica."""

    def copies(self, par: int) -> TopologyBuilder:
        builder = TopologyBuilder()
        builder.set_spout("source", Numbers, args=[COUNT])
        builder.set_bolt("copied", Where, par).all_grouping("source")
        builder.set_bolt("work", Forward, 2).shuffle_grouping("copied")
        builder.set_bolt("sink", CollectingSink).global_grouping("work")
        return builder

    @pytest.mark.few(11)
    @pytest.mark.parametrize("options", PLANS)
    def test_copies_come_by_input_and_then_by_replica(self, options: Options) -> None:
        trails = [trail for _, trail in rows_of(self.copies(3), options)]
        assert trails == [f"0.{n}@{replica}:{n + 1}0" for n in range(COUNT) for replica in range(3)]


class TestEmitsBesideInput:
    """They take their place at the frontier: nothing is refused as too early, or lost."""

    @pytest.mark.few(1)
    @pytest.mark.parametrize("par", [1, 3])
    def test_in_initialize(self, par: int) -> None:
        expected = rows_of(beside_the_source(Greets, par))
        hello = [(number, "hello") for _ in range(par) for number in range(3)]
        assert sorted(expected[: 3 * par]) == sorted(hello)
        assert len(expected) == 3 * par + 2 * COUNT
        for options in PLANS:
            assert rows_of(beside_the_source(Greets, par), options) == expected, options

    @pytest.mark.few(11)
    @pytest.mark.parametrize("options", PLANS)
    def test_from_a_thread(self, options: Options) -> None:
        trails = [row[1] for row in rows_of(beside_the_source(Talks, args=[f"0.{COUNT - 1}"]), options)]
        assert [t for t in trails if t.startswith("beside")] == [f"beside {n}" for n in range(BESIDE)]
        assert [t for t in trails if not t.startswith("beside")] == [
            f"0.{n}" for n in range(COUNT) for _ in range(2)
        ]

    @pytest.mark.few(19)
    @pytest.mark.parametrize("options", PLANS)
    def test_from_a_timer(self, options: Options) -> None:
        rows = rows_of(beside_the_source(ByTimer), options)
        numbers = [f"0.{n}" for n in range(COUNT)]
        # Each row comes from the source, and again, in a batch, at its place or later.
        first = list(dict.fromkeys(trail for _, trail in rows))
        assert first == numbers
        assert sorted(trail for _, trail in rows) == sorted(2 * numbers)


class TestTicks:
    """Batches by event time: what a replica fires at a tick is there, replica by replica."""

    def batches(self, par: int) -> TopologyBuilder:
        builder = TopologyBuilder()
        builder.set_spout("source", AllKeys, args=[13 * 8, "a", 13, 1000])
        builder.set_bolt("batches", Batches, par).fields_grouping("source", "key")
        builder.set_bolt("sink", CollectingSink).global_grouping("batches")
        return builder

    @pytest.mark.few(11)
    @pytest.mark.parametrize("options", PLANS)
    def test_the_batches_of_replicas_are_those_of_one(self, options: Options) -> None:
        alone, several = rows_of(self.batches(1)), rows_of(self.batches(3), options)
        assert sorted(several) == sorted(alone)
        for key in range(13):
            assert [row for row in several if row[0] == key] == [row for row in alone if row[0] == key]

    @pytest.mark.xfail(reason="placed at the tick and by replica, not yet by the batch's first tuple")
    def test_the_batches_of_replicas_come_in_the_order_of_one(self) -> None:
        assert rows_of(self.batches(3)) == rows_of(self.batches(1))


class TestWhatDiffersByNature:
    def test_task_ids(self) -> None:
        serial, parallel = rows_of(beside_the_source(Ids)), rows_of(beside_the_source(Ids, 3))
        assert [row[:2] for row in serial] == [row[:2] for row in parallel]
        assert [row[2:] for row in serial] != [row[2:] for row in parallel]

    @pytest.mark.few(12)
    @pytest.mark.parametrize("options", PLANS)
    def test_task_ids_are_those_of_the_plan_whatever_runs_it(self, options: Options) -> None:
        plan = {**SERIAL, "viper.key.groups": options["viper.key.groups"]}
        assert rows_of(beside_the_source(Ids, 3), options) == rows_of(beside_the_source(Ids, 3), plan)


@pytest.mark.few(1)
@pytest.mark.skipif("process" not in kinds(), reason="workers are not processes yet")
@pytest.mark.parametrize("cls", [Hashes, SetOrder])
def test_processes_hash_alike_and_go_through_sets_alike(cls: type[Bolt]) -> None:
    """Within a run, and from run to run: those of processes that were started for it."""
    told = {
        row[2]
        for options in PLANS
        if options["viper.worker"] == "process"
        for row in rows_of(beside_the_source(cls, 3), options)
        if len(row) == 3
    }
    assert len(told) == 1


@pytest.mark.parametrize("kind", kinds())
def test_late_event_time_names_spout_tuple_and_both_times(kind: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("late", Late, args=[COUNT, "x", 1])
    builder.set_bolt("work", Forward, 2).shuffle_grouping("late")
    builder.set_bolt("sink", CollectingSink).global_grouping("work")
    with pytest.raises(ComponentError) as caught:
        rows_of(builder, {"viper.worker": kind, "topology.workers": 1 if kind == "inline" else 2})
    said = str(caught.value)
    assert "component 'late', task 3, in emit: EmitError: spout late:3 emitted" in said
    assert "(0, 'late', 3) at 3000 us" in said
    assert f"after a tuple at {COUNT - 1}000 us" in said
