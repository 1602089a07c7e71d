"""Tuples arrive as they were emitted, whatever anybody does to them afterwards."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from framework import Bolt, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import Row, bolt, built, listed, polled, run_built, spout


class Spoil(Bolt):
    """Says what it received, and then changes it."""

    outputs = ["seen"]

    def process(self, tup: Any) -> None:
        value = tup.values[0]
        self.emit([str(sorted(value["list"]))])
        value["list"].append(f"spoilt by {self.task_id}")


def test_what_a_spout_changes_after_its_emit_does_not_arrive() -> None:
    def tuples(self: Any) -> Any:
        reused = {"n": 0, "list": []}
        for number in range(3):
            reused["n"] = number
            reused["list"].append(number)
            yield [reused]

    rows = run_built(built(spout(tuples))).result("sink")
    assert rows == [({"n": n, "list": list(range(n + 1))},) for n in range(3)]


def test_what_a_bolt_changes_after_its_emit_does_not_arrive() -> None:
    def process(self: Any, tup: Any) -> None:
        value = [tup.values[0]]
        row = [value]
        self.emit(row)
        value.append("later")
        row[0] = "other"

    assert run_built(built(listed(["x"]), bolt(process))).result("sink") == [(["x"],)]


def spoiled(configure: Any, tasks: int = 1) -> list[Row]:
    builder = TopologyBuilder()
    outputs = [Stream(["value"]), Stream(["value"], name="second")]
    both = bolt(
        lambda self, tup: (self.emit([tup.values[0]]), self.emit([tup.values[0]], stream="second")), outputs
    )
    builder.set_spout("source", listed([{"list": [1]}], [{"list": [2]}]))
    builder.set_bolt("both", both).shuffle_grouping("source")
    configure(builder)
    rows: list[Row] = run_built(builder).result("sink")
    return rows


def test_two_components_do_not_see_each_others_changes() -> None:
    def configure(builder: TopologyBuilder) -> None:
        builder.set_bolt("one", Spoil).shuffle_grouping("both")
        builder.set_bolt("two", Spoil).shuffle_grouping("both")
        builder.set_bolt("sink", CollectingSink).global_grouping("one").global_grouping("two")

    assert spoiled(configure) == [("[1]",), ("[1]",), ("[2]",), ("[2]",)]


def test_the_tasks_of_an_all_grouping_do_not_see_each_others_changes() -> None:
    def configure(builder: TopologyBuilder) -> None:
        builder.set_bolt("every", Spoil, 3).all_grouping("both")
        builder.set_bolt("sink", CollectingSink).global_grouping("every")

    assert spoiled(configure) == [("[1]",)] * 3 + [("[2]",)] * 3


def test_the_streams_of_one_emit_do_not_see_each_others_changes() -> None:
    def configure(builder: TopologyBuilder) -> None:
        builder.set_bolt("one", Spoil).shuffle_grouping("both").shuffle_grouping("both", stream="second")
        builder.set_bolt("sink", CollectingSink).global_grouping("one")

    assert spoiled(configure) == [("[1]",), ("[1]",), ("[2]",), ("[2]",)]


def test_the_last_of_several_consumers_gets_what_was_emitted() -> None:
    def configure(builder: TopologyBuilder) -> None:
        builder.set_bolt("spoil", Spoil, 2).all_grouping("both").shuffle_grouping("both", stream="second")
        builder.set_bolt("sink", CollectingSink).global_grouping("both").global_grouping(
            "both", stream="second"
        )

    assert spoiled(configure) == [({"list": [1]},)] * 2 + [({"list": [2]},)] * 2


class Identify(Bolt):
    """Emits the identity of what it receives."""

    outputs = ["identity"]
    config = {"viper.mutates": False}

    def process(self, tup: Any) -> None:
        self.emit([id(tup.values[0])])
        kept.append(tup.values[0])  # so that no identity comes twice


kept: list[Any] = []


@pytest.mark.parametrize("mutates", [True, False])
def test_consumers_that_do_not_mutate_share_one_value(mutates: bool) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", listed([{"list": [1]}]))
    builder.set_bolt("every", Identify, 3, config={"viper.mutates": mutates}).all_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("every")
    identities = {row[0] for row in run_built(builder).result("sink")}
    assert len(identities) == (3 if mutates else 1)


@pytest.mark.parametrize("mutates", [True, False])
def test_the_streams_of_consumers_that_do_not_mutate_share_one_value_too(mutates: bool) -> None:
    outputs = [Stream(["value"]), Stream(["value"], name="second")]
    builder = TopologyBuilder()
    builder.set_spout("source", listed([{"list": [1]}]))
    builder.set_bolt("pass", bolt(lambda self, tup: self.emit([tup.values[0]]), outputs)).shuffle_grouping(
        "source"
    )
    builder.set_bolt("every", Identify, 3, config={"viper.mutates": mutates}).all_grouping("pass")
    builder.set_bolt("other", CollectingSink).global_grouping("pass", stream="second")
    builder.set_bolt("sink", CollectingSink).global_grouping("every")
    identities = {row[0] for row in run_built(builder).result("sink")}
    assert len(identities) == (3 if mutates else 1)


def test_immutable_values_cross_by_reference() -> None:
    text, number = "a text " * 100, 10**30
    rows = run_built(built(listed([text, (number,)], outputs=["text", "number"]))).result("sink")
    assert rows[0][0] is text
    assert rows[0][1][0] is number


@pytest.mark.parametrize(
    "value", [threading.Lock(), lambda: None, (n for n in "x")], ids=["lock", "lambda", "generator"]
)
def test_what_cannot_be_carried_is_refused_at_the_emit(value: Any) -> None:
    with pytest.raises(
        ComponentError, match="'b1', task 1, in process: EmitError: cannot carry .*" + type(value).__name__
    ):
        run_built(built(listed(["x"]), bolt(lambda self, tup: self.emit([value]))))

    def tuples(self: Any) -> Any:
        yield [value]

    with pytest.raises(ComponentError, match="'source', task 2, in tuples: EmitError: cannot carry"):
        run_built(built(spout(tuples)))


def test_received_values_can_be_emitted_again_within_others() -> None:
    def process(self: Any, tup: Any) -> None:
        self.emit([tup.values, [tup.values], {"tuple": tup}])

    passed = bolt(process, ["values", "listed", "tuple"])
    ((values, in_list, in_dict),) = run_built(built(listed(["x", 1], outputs=["a", "b-c"]), passed)).result(
        "sink"
    )
    assert (values.a, values._1, values) == ("x", 1, ("x", 1))
    assert in_list == [("x", 1)]
    assert in_dict["tuple"].values.a == "x"


def test_a_polled_spout_that_reuses_its_dict() -> None:
    def next_tuple(self: Any) -> None:
        self.reused = getattr(self, "reused", {"n": -1})
        self.reused["n"] += 1
        if self.reused["n"] == 3:
            raise StopIteration
        self.emit([self.reused])

    assert run_built(built(polled(next_tuple))).result("sink") == [({"n": n},) for n in range(3)]
