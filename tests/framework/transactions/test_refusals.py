"""Transactions without an order are refused before anything starts, with what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from framework import Bolt, SharedTable, Spout, TopologyBuilder
from framework.model.errors import ComponentError, StateError, TopologyError
from framework.planning.validation import validate
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE

accounts = SharedTable("accounts", columns={"balance": "int64"}, rows=10, default={})
other = SharedTable("other", columns={"balance": "int64"}, rows=10, default={})
both = SharedTable("accounts", columns={"balance": "int64", "moves": "int64"}, rows=10)


class Numbers(Spout):
    outputs = ["number"]

    def tuples(self) -> Any:
        yield from ([number] for number in range(5))


class Adds(Bolt):
    outputs = ["number"]
    tables = [accounts]

    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            t.add(accounts, 1, tup.values.number)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values.number])


class Joins(Adds):
    tables = [other, accounts]


class Differs(Adds):
    tables = [both]


class Between(Bolt):
    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


def behind(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Adds).shuffle_grouping("numbers")
    builder.set_bolt("between", Between).shuffle_grouping("first")
    builder.set_bolt("second", Joins).shuffle_grouping("between")


def differing(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Adds).shuffle_grouping("numbers")
    builder.set_bolt("second", Differs).shuffle_grouping("numbers")


def copied(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Adds, 2).all_grouping("numbers")


def scaled(builder: TopologyBuilder) -> None:
    config = {"viper.parallelism.max": 3, "viper.stateless": True}
    builder.set_bolt("first", Adds, config=config).shuffle_grouping("numbers")


def blocking(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Adds, config={"viper.blocking": True}).shuffle_grouping("numbers")


@pytest.mark.parametrize(
    ("add", "told"),
    [
        (behind, "first -> between -> second"),
        (differing, "names a shared table 'accounts' with other columns"),
        (copied, "would do the transaction once more: expected global, shuffle or fields"),
        (scaled, "its number of tasks may change"),
        (blocking, "set viper.blocking to false"),
    ],
)
def test_a_topology_is_refused(add: Callable[[TopologyBuilder], None], told: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers)
    add(builder)
    with pytest.raises(TopologyError, match=told):
        run_built(builder)


def test_options_of_a_table_that_no_bolt_names_are_refused() -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers)
    builder.set_bolt("first", Adds).shuffle_grouping("numbers")
    with pytest.raises(TopologyError, match=r"unknown shared table 'acounts'.*did you mean 'accounts'"):
        INLINE.run(builder, viper__tables={"acounts": {"rows": 5}})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"columns": {"balance": "decimal"}}, "decimal"),
        ({"columns": {}}, "column"),
        ({"rows": 0}, "rows"),
        ({"key": "float"}, "float"),
        ({"default": {"blance": 1}}, "blance"),
        ({"columns": {"partners": "set"}}, "elements"),
        ({"name": ""}, "name"),
    ],
)
def test_what_makes_no_table_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(StateError, match=told):
        SharedTable(**{"name": "accounts", "columns": {"balance": "int64"}, "rows": 10, **given})


def misuse(process: Callable[[Any, Any], None]) -> type[Bolt]:
    return type("Misuse", (Adds,), {"process": process})


def emits(self: Any, tup: Any) -> None:
    self.emit([1])


def acks(self: Any, tup: Any) -> None:
    self.ack(tup)


def branches(self: Any, tup: Any) -> None:
    with self.transaction(tup) as t:
        if t.read(accounts, 1) > 3:
            t.add(accounts, 1, 1)


def keys_by_handle(self: Any, tup: Any) -> None:
    with self.transaction(tup) as t:
        t.read(accounts, t.read(accounts, 1))


def names_another_table(self: Any, tup: Any) -> None:
    with self.transaction(tup) as t:
        t.read(other, 1)


@pytest.mark.parametrize(
    ("process", "told"),
    [
        (emits, r"emit\(\) belongs into process_result"),
        (acks, r"ack\(\) belongs into process_result"),
        (branches, "require"),
        (keys_by_handle, "alone"),
        (names_another_table, "other"),
    ],
)
def test_what_cannot_be_told_is_refused_where_it_stands(process: Any, told: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers)
    builder.set_bolt("first", misuse(process)).shuffle_grouping("numbers")
    with pytest.raises(ComponentError, match=told):
        run_built(builder)


def test_there_is_no_transaction_in_other_bolts_nor_in_callbacks() -> None:
    class Late(Adds):
        def process_result(self, tup: Any, result: Any) -> None:
            with self.transaction(tup):
                pass

    class Without(Bolt):
        def process(self, tup: Any) -> None:
            self.transaction(tup)

    for bolt in (Late, Without):
        builder = TopologyBuilder()
        builder.set_spout("numbers", Numbers)
        builder.set_bolt("first", bolt).shuffle_grouping("numbers")
        with pytest.raises(ComponentError, match="shared tables"):
            run_built(builder)


class Asked(Numbers):
    def ack(self, tup_id: Any) -> None:
        pass


def test_tuples_that_come_again_are_outside_the_guarantee() -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Asked)
    builder.set_bolt("between", Between).shuffle_grouping("numbers")
    builder.set_bolt("first", Adds).shuffle_grouping("between")
    told = [str(problem) for problem in validate(builder.build("asked"))]
    assert any("a tuple of 'numbers' that fails further on comes again" in problem for problem in told)
