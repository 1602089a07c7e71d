"""Values cross by value: as they were emitted, or as Storm's JSON would make them."""

from __future__ import annotations

import datetime
import decimal
from types import ModuleType
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.testing import run_bolt
from tests.framework.hosting.kinds import KINDS, both, chain, everywhere
from tests.framework.runtime.pieces import bolt, listed, run_built
from tests.framework.runtime.workers.running import Workers

JSON = {"viper__values": "json"}
STOP = {"viper__on__error": "stop"}


class Money(decimal.Decimal):
    """A value of a class that the project defines."""


ROWS: list[Any] = [
    [{1: "int", None: "none", 2.5: "float", "text": {2: (3,)}}],
    [(1, ("a", [b"bytes"]))],
    [b"\xc3\xa9"],
    [
        "é\n",
    ],
    [2**70],
    [None],
    [1.0],
    [decimal.Decimal("1.10")],
    [[[], {}, ()]],
]
AS_JSON = [
    {"1": "int", "null": "none", "2.5": "float", "text": {"2": [3]}},
    [1, ["a", ["bytes"]]],
    "é",
    "é\n",
    2**70,
    None,
    1.0,
    1.1,
    [[], {}, []],
]


@both
@everywhere
def test_nobody_sees_what_others_do_to_a_value(workers: Workers, base: ModuleType) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", base.Reuses)
    for name in ("one", "two"):
        builder.set_bolt(name, base.Spoils).shuffle_grouping("source")
        builder.set_bolt(f"{name} sink", CollectingSink).global_grouping(name)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    report = workers.run(builder)
    values = [{"seen": list(range(count))} for count in (1, 2, 3)]
    assert report.result("one sink") == report.result("two sink") == [(repr(value),) for value in values]
    assert report.result("sink") == [(value,) for value in values]


@both
@everywhere
def test_whatever_pickles_arrives_as_it_was(workers: Workers, base: ModuleType) -> None:
    noon = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    rows = [*ROWS, [{1, 2}], [noon], [Money("1.5")], [float("inf")], [range(3)]]
    arrived = workers.run(chain(base.Lists, base.Passes), rows=rows).result("sink")
    assert arrived == [tuple(row) for row in rows]
    assert [type(row[0]) for row in arrived] == [type(row[0]) for row in rows]


@pytest.mark.few(5)
@both
@everywhere
def test_numpys_scalars_arrive_as_values_of_python(workers: Workers, base: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    rows = [[numpy.int64(1)], [numpy.float32(0.5)], [numpy.bool_(True)], [[numpy.int8(2)]]]
    arrived = workers.run(chain(base.Lists, base.Passes), rows=rows).result("sink")
    assert repr(arrived) == repr([(1,), (0.5,), (True,), ([2],)])


@both
@everywhere
def test_what_cannot_cross_raises_at_the_emit(workers: Workers, base: ModuleType) -> None:
    said = r"component 'b1', task 1, in process: EmitError: cannot carry <generator .*, a generator,"
    with pytest.raises(ComponentError, match=said):
        workers.run(chain(base.Lists, base.Evaluates), rows=[["(n for n in 'x')"]], **STOP)


# -- as Storm's JSON


@both
@everywhere
def test_json_makes_texts_of_keys_and_bytes_and_lists_of_tuples(workers: Workers, base: ModuleType) -> None:
    arrived = workers.run(chain(base.Lists, base.Passes), rows=ROWS, **JSON).result("sink")
    assert arrived == [(value,) for value in AS_JSON]
    assert [type(row[0]) for row in arrived] == [type(value) for value in AS_JSON]


@both
@pytest.mark.parametrize("workers", KINDS[::2], ids=str)
def test_what_a_bolt_emits_is_json_too(workers: Workers, base: ModuleType) -> None:
    rows = [["(1, {2: 3})"], ["b'b'"]]
    arrived = workers.run(chain(base.Lists, base.Evaluates), rows=rows, **JSON).result("sink")
    assert arrived == [([1, {"2": 3}],), ("b",)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("{1, 2}", "set"),
        ("float('nan')", "float"),
        ("[float('inf')]", "list"),
        ("b'\\xff'", "bytes"),
        ("{(1, 2): 3}", "dict"),
        ("range(3)", "range"),
        ("object()", "object"),
    ],
)
@both
def test_what_json_cannot_carry_raises_at_the_emit(base: ModuleType, value: str, kind: str) -> None:
    said = rf"component 'b1', task 1, in process: EmitError: JSON cannot carry .*, a {kind}: .*viper.values"
    with pytest.raises(ComponentError, match=said):
        run_built(chain(base.Lists, base.Evaluates), rows=[[value]], **JSON, **STOP)


@everywhere
def test_so_it_does_in_every_worker(workers: Workers) -> None:
    from tests.framework.hosting import ported

    with pytest.raises(ComponentError, match=r"component 'source', .* in next_tuple: EmitError: JSON cannot"):
        workers.run(chain(ported.Lists), rows=[[{1}]], **JSON, **STOP)


def test_every_way_to_emit_makes_json() -> None:
    """Yielded, on a named stream, directly, with the receivers asked for, and as a tuple."""

    def process(self: Any, tup: Any) -> None:
        told.append(self.emit([(1, tup.values[0])], stream="named", need_task_ids=True))
        self.emit(((2,),), stream="direct", direct_task=told[-1][0])

    told: list[Any] = []
    outputs = [Stream(["v"], "named"), Stream(["v"], "direct", direct=True)]
    builder = TopologyBuilder()
    builder.set_spout("source", listed([(0,)]))
    builder.set_bolt("middle", bolt(process, outputs)).shuffle_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink).global_grouping("middle", stream="named")
    sink.direct_grouping("middle", stream="direct")
    assert run_built(builder, **JSON).result("sink") == [([1, [0]],), ([2],)]


def test_the_usual_refusals_stay() -> None:
    for emitted, said in (("text", "TypeError: emit takes a list or tuple"), ([1, 2], "2 values")):
        refused = bolt(lambda self, tup, emitted=emitted: self.emit(emitted))
        with pytest.raises(ComponentError, match=said):
            run_built(chain(listed([1]), refused), **JSON)


def test_a_tested_bolt_may_be_given_json_to_emit() -> None:
    class Pairs(Bolt):
        outputs = ["pair"]

        def process(self, tup: Any) -> None:
            self.emit([(1, 2)])

    assert run_bolt(Pairs, [[0]]).emitted() == [((1, 2),)]
    assert run_bolt(Pairs, [[0]], conf={"viper.values": "json"}).emitted() == [([1, 2],)]


def test_a_blocking_spouts_values_are_json_as_well() -> None:
    class Pairs(Spout):
        outputs = ["pair"]
        config = {"viper.blocking": True}

        def tuples(self) -> Any:
            yield [(1, 2)]

    assert run_built(chain(Pairs), **JSON).result("sink") == [([1, 2],)]
