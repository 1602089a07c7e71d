"""Operands that are no ints of 64 bits: a larger int aborts its transaction, however it comes, and whoever
evaluates; conditions that are known before anything is read count likewise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from framework import BatchBolt, Bolt, SharedTable, Spout, Stream, TopologyBuilder
from framework.model.config.keys import EVALUATORS
from framework.model.errors import ComponentError, ConfigError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.running import INLINE

BIG = 2**63
things = SharedTable(
    "things", columns={"n": "int64", "x": "float64"}, rows=100, default={"n": 3}, load=lambda: [(0, 5, 0.5)]
)

Form = Callable[[Any], object]
OVERFLOWS: dict[str, Form] = {
    "set": lambda t: t.set(things.n, 0, BIG),
    "set a float": lambda t: t.set(things.x, 0, BIG),
    "add": lambda t: t.add(things.n, 0, -BIG - 1),
    "subtract": lambda t: t.subtract(things.n, 0, BIG),
    "min": lambda t: t.min(things.n, 0, 10**30),
    "max": lambda t: t.max(things.x, 0, 2**64),
    "set_each": lambda t: t.set_each(things.n, [0, 1], [1, BIG]),
    "add_each": lambda t: t.add_each(things.n, [0, 1], [BIG, 1]),
    "put": lambda t: t.put(things, 0, n=BIG, x=0.25),
    "put_if_absent of a row that is there": lambda t: t.put_if_absent(things, 0, n=BIG),
    "put_if_absent": lambda t: t.put_if_absent(things, 50, x=BIG),
    "a default": lambda t: t.read(things.n, 0, BIG),
    "numpy": lambda t: t.add(things.n, 0, np.uint64(BIG)),
    "right of a handle": lambda t: t.read(things.n, 0) + BIG,
    "left of a handle": lambda t: BIG - t.read(things.n, 0),
    "beside a float": lambda t: t.read(things.x, 0) * 2**70,
    "compared": lambda t: t.require(t.read(things.n, 0) < BIG),
    "compared with what is read": lambda t: t.require(t.read(things.n, 0) != BIG, "no"),
    "least": lambda t: t.least(t.read(things.n, 0), BIG),
    "least of plain ones": lambda t: t.set(things.n, 0, t.least(BIG, BIG + 1)),
    "float": lambda t: t.set(things.x, 0, t.float(BIG)),
    "behind another write": lambda t: (t.set(things.n, 7, 1), t.add(things.n, 8, BIG), t.set(things.n, 9, 1)),
}
OTHERS: dict[str, tuple[Form, str | None]] = {
    "the least": (lambda t: t.set(things.n, 1, -BIG), None),
    "the most": (lambda t: t.set(things.n, 1, BIG - 1), None),
    "a bool": (lambda t: t.set(things.n, 1, True), None),
    "a bool of numpy's": (lambda t: t.set(things.n, 1, np.bool_(False)), None),
    "a float of 32 bits": (lambda t: t.set(things.x, 1, np.float32(0.25)), None),
    "no number": (lambda t: t.set(things.x, 1, float("nan")), None),
    "infinity": (lambda t: t.set(things.x, 1, float("-inf")), None),
    "an int into floats": (lambda t: t.set(things.x, 1, 7), None),
    "false": (lambda t: (t.add(things.n, 2, 1), t.require(False, "false")), "false"),
    "false alone": (lambda t: t.require(False), "condition 1"),
    "false of numpy's": (lambda t: (t.add(things.n, 2, 1), t.require(np.bool_(False), "f")), "f"),
    "true of numpy's": (lambda t: t.require(np.True_, "f"), None),
    "a condition first": (lambda t: (t.require(False, "first"), t.set(things.n, 0, BIG)), "first"),
    "overflow first": (lambda t: (t.set(things.n, 0, BIG), t.require(False, "first")), "overflow"),
    "alone": (lambda t: None, None),
}
FORMS = {**{name: (form, "overflow") for name, form in OVERFLOWS.items()}, **OTHERS}


class Names(Spout):
    outputs = ["name"]

    def tuples(self) -> Iterator[list[str]]:
        for name in FORMS:
            yield [name]


class Forms(Bolt):
    tables = [things]
    outputs = ["name", "why"]

    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            FORMS[tup.values[0]][0](t)

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values[0], result.aborted])


def ran(bolt: type[Bolt], evaluator: str = "serial", **options: Any) -> Any:
    builder = TopologyBuilder()
    builder.set_spout("names", Names)
    builder.set_bolt("bolt", bolt).shuffle_grouping("names")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    evaluated = {"viper__transactions__evaluator": evaluator, "viper__transactions__threads": 2}
    return INLINE.run(builder, **evaluated, **options)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_an_int_beyond_64_bits_aborts_its_transaction(evaluator: str) -> None:
    report = ran(Forms, evaluator)
    assert report.result("sink") == [(name, why) for name, (_, why) in FORMS.items()]
    assert report.table("things") == ((0, 5, 0.5), (1, 0, 7.0))


NUMBERS = {name: number for number, name in enumerate(FORMS)}


class Columns(BatchBolt):
    """Says what is not one value for all rows, but one for each; every third is too large."""

    tables = [things]
    outputs = [Stream(schema={"name": "string", "aborted": "int64 not null"})]

    def process_rows(self, rows: Any) -> None:
        numbers = np.array([NUMBERS[name] for name in rows.column("name")])
        given = [BIG if number % 3 == 0 else int(number) for number in numbers]
        with self.transactions(rows) as t:
            t.set(things.n, numbers + 10, given)
        with self.transactions(rows) as t:
            t.set(things.n, numbers + 50, np.array(given, "uint64"))
        with self.transactions(rows) as t:
            floats = [0.5 if number == 6 else one for number, one in zip(numbers, given, strict=True)]
            t.put_if_absent(things, numbers + 10, x=floats)
        with self.transactions(rows) as t:
            t.require(numbers % 2 == 1)

    def process_results(self, rows: Any, results: Any) -> None:
        aborted = np.frombuffer(results.aborted, "u1").reshape(-1, 4) @ [1, 2, 4, 8]
        self.emit_rows({"name": rows.column("name"), "aborted": aborted})


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_only_the_rows_abort_whose_numbers_are_beyond(evaluator: str) -> None:
    report = ran(Columns, evaluator)
    rows = {key: (n, x) for key, n, x in report.table("things")}
    wanted = []
    for name, number in NUMBERS.items():
        is_beyond, is_even = number % 3 == 0, number % 2 == 0
        wanted.append((name, 3 * is_beyond + 4 * (is_beyond and number != 6) + 8 * is_even))
        assert rows.get(50 + number) == (None if is_beyond else (number, 0.0))
        assert rows.get(10 + number) == ((3, 0.5) if number == 6 else None if is_beyond else (number, 0.0))
    assert report.result("sink") == wanted


class InAlone(Forms):
    def process(self, tup: Any) -> None:
        if tup.values[0] == "set":
            self.alone(tup, lambda view: (view.set(things.n, 5, 1), view.set(things.n, 0, BIG)))
        elif tup.values[0] == "put":
            self.alone(tup, lambda view: view.put(things, 0, x=0.25, n=-BIG - 1))
        elif tup.values[0] == "add":
            self.alone(tup, lambda view: view.set(things.n, 6, BIG - 1))


def test_in_a_function_that_is_alone_it_aborts_too() -> None:
    report = ran(InAlone)
    assert report.result("sink") == [("set", "overflow"), ("add", None), ("put", "overflow")]
    assert report.table("things") == ((0, 5, 0.5), (6, BIG - 1, 0.0))


class OfKeys(Forms):
    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            t.read(things.n, BIG)


def test_a_key_beyond_64_bits_is_an_error_of_the_bolt() -> None:
    with pytest.raises(ComponentError, match="a key of table things is int64; found 9223372036854775808"):
        ran(OfKeys)


def test_a_first_row_beyond_64_bits_is_refused() -> None:
    table = SharedTable("things", columns={"n": "int64"}, rows=9, load=lambda: [(1, 2), (2, BIG)])
    told = "first rows of the shared table things .*column things.n is int64; found 9223372036854775808"

    class Loads(Forms):
        tables = [table]

    with pytest.raises(ConfigError, match=told):
        ran(Loads)
