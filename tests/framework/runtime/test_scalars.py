"""Scalars of NumPy and pandas in runs: whoever emits them, values of Python arrive."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from framework import (
    AggregatingState,
    BatchBolt,
    Block,
    Bolt,
    ListState,
    MapState,
    OPlus,
    PartitionedSpout,
    ReducingState,
    Rows,
    Spout,
    TopologyBuilder,
    ValueState,
)
from framework.frontends.streams import StreamBuilder, Tumbling
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import Aggregates, Max, Mean, Min, Sum, Variance
from tests.framework.given import Given, Row
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind

pd = pytest.importorskip("pandas")

EMITTED = [
    np.int64(1),
    np.float32(0.5),
    np.str_("a"),
    np.bool_(True),
    pd.NaT,
    [np.int8(1)],
    {"k": (np.uint8(2),)},
]
ARRIVES = [1, 0.5, "a", True, None, [1], {"k": (2,)}]
MOST = np.int32(2**31 - 1)


class Yielding(Spout):
    """Yields each of the values."""

    outputs = ["value"]

    def tuples(self) -> Iterator[Row]:
        yield from ((value,) for value in EMITTED)


class Asked(Spout):
    """Emits them when it is asked for a tuple."""

    outputs = ["value"]
    left = len(EMITTED)

    def next_tuple(self) -> None:
        if not self.left:
            raise StopIteration
        self.emit([EMITTED[-self.left]])
        self.left -= 1


class InRows(Asked):
    """Emits them all at once."""

    def next_tuple(self) -> None:
        if not self.left:
            raise StopIteration
        self.emit_rows([(value,) for value in EMITTED])
        self.left = 0


class InBlocks(PartitionedSpout):
    """Brings them in blocks."""

    outputs = ["value"]
    partitions = 1

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block]:
        yield Block(array("q", range(len(EMITTED))), [(deepcopy(value),) for value in EMITTED], mutable=True)


class Numbers(Spout):
    """Emits the indexes of the values."""

    outputs = ["number"]

    def tuples(self) -> Iterator[Row]:
        yield from ((number,) for number in range(len(EMITTED)))


class Emitting(Bolt):
    """Emits the value with an index."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([EMITTED[tup.values[0]]])


class InBatches(BatchBolt):
    """Emits the values of all rows."""

    outputs = ["value"]

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows([[EMITTED[number]] for (number,) in rows])


def appended(values: list[Any], value: Any) -> list[Any]:
    return [*values, value]


class Remembering(Bolt):
    """Puts scalars into its states, and emits what is in them one tuple later."""

    outputs = ["held"]
    state_key = "number"
    typed = ValueState("int64", default=np.int8(1))
    real, truth = ValueState("float64", default=np.float32(2)), ValueState("bool", default=np.bool_(False))
    any, elements, entries = ValueState(default=np.int64(7)), ListState(), MapState()
    whole = MapState("int64", "int64")
    most, total = ReducingState(None, max), ReducingState("int64", operator.add)
    kept = AggregatingState(create=list, add=appended)

    def process(self, tup: Any) -> None:
        folded = [self.most.value, self.total.value, self.kept.value]
        held = [self.typed.value, self.real.value, self.truth.value, self.any.value, self.elements.get()]
        self.emit([[*held, self.entries.items(), self.whole.items(), *folded]])
        self.typed.value, self.real.value, self.truth.value = np.int32(3), np.float32(0.5), np.bool_(True)
        self.any.value = np.uint8(200)
        self.elements.add(np.int8(4))
        self.entries.put(np.int64(5), np.str_("x"))
        self.entries.put(5, np.float16(2))
        self.whole.put(np.int8(6), np.uint8(8))
        for number in (np.uint8(200), np.uint8(100)):
            self.most.add(number)
            self.total.add(number)
            self.kept.add(number)


def built(spout: type[Spout], *bolts: type[Any], par: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    before = "spout"
    for index, bolt in enumerate(bolts):
        builder.set_bolt(before := f"bolt{index}", bolt, par).shuffle_grouping(
            "spout" if not index else "bolt0"
        )
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    return builder


def arrived(workers: Workers, builder: TopologyBuilder) -> list[Any]:
    return [value for (value,) in workers.run(builder).result("sink")]


@every_kind
@pytest.mark.parametrize(
    "parts",
    [(Yielding,), (Asked,), (InRows,), (InBlocks,), (Numbers, Emitting), (Numbers, InBatches)],
    ids=lambda parts: parts[-1].__name__,
)
def test_what_arrives(parts: tuple[Any, ...], workers: Workers) -> None:
    found = arrived(workers, built(*parts))
    assert repr(found) == repr(ARRIVES)


def folded(form: Any, rows: list[Row], fields: str, **options: Any) -> list[Row]:
    builder = StreamBuilder()
    form(builder.new_stream(Given(rows, fields))).to(CollectingSink(), name="sink")
    return list(run_built(builder, **options).result("sink"))


@pytest.mark.parametrize("workers", [INLINE, PROCESSES], ids=str)
class TestSums:
    def test_of_a_window_are_exact(self, workers: Workers) -> None:
        rows = [("a", 0, MOST, np.uint8(200)), ("a", 1, MOST, np.uint8(100))]
        aggregates = Aggregates(
            s=Sum("v"), m=Mean("v"), u=Sum("u"), w=Variance("u"), low=Min("u"), top=Max("u")
        )
        options = workers.options | {"viper__timestamp__field": "t", "viper__timestamp__unit": "s"}
        found = folded(
            lambda stream: stream.key_by("k").window(Tumbling("10s")).aggregate(aggregates),
            rows,
            "k t v u",
            **options,
        )
        assert repr(found) == repr([("a", 2 * (2**31 - 1), float(2**31 - 1), 300, 2500.0, 100, 200)])

    def test_of_a_key_are_exact(self, workers: Workers) -> None:
        rows = [(np.str_("a"), MOST), ("a", MOST)]
        found = folded(
            lambda stream: stream.key_by("k").reduce_by_key(operator.add),
            rows,
            "k v",
            **workers.options,
        )
        assert repr(found) == repr([("a", 2**31 - 1), ("a", 2**32 - 2)])

    def test_of_decimals_are_decimals(self, workers: Workers) -> None:
        rows = [("a", 0, Decimal("0.10")), ("a", 1, Decimal("0.20"))]
        options = workers.options | {"viper__timestamp__field": "t", "viper__timestamp__unit": "s"}
        found = folded(
            lambda stream: (
                stream.key_by("k").window(Tumbling("10s")).aggregate(Aggregates(s=Sum("v"), m=Mean("v")))
            ),
            rows,
            "k t v",
            **options,
        )
        assert repr(found) == repr([("a", Decimal("0.30"), Decimal("0.15"))])


@every_kind
def test_keys(workers: Workers) -> None:
    keys = [np.int64(1), 1, np.float32(1), True, np.str_("a"), "a", np.datetime64("2024-01-01"), pd.NaT, None]
    found = folded(
        lambda stream: stream.key_by("k").count_by_key(par=3),
        [(key,) for key in keys],
        "k",
        **workers.options,
    )
    assert [count for _, count in found] == [1, 2, 3, 4, 1, 2, 1, 1, 2]
    assert repr(found[0]) == "(1, 1)"


class Keyed(OPlus):
    """Gives scalars as keys, and emits what its windows are told of them."""

    outputs = ["key", "name"]
    size = "10s"

    def keys(self, tup: Any) -> list[Any]:
        return [np.int64(1), (np.str_("a"), np.int8(2))]

    def update(self, window: Any, tup: Any, side: int = 0) -> list[Row]:
        return [(window.key, repr(window.key))]


@pytest.mark.parametrize("options", [{}, {"viper.keys": "producer"}, {"viper.input": "keyed"}], ids=str)
def test_keys_of_windows(options: dict[str, Any]) -> None:
    builder = TopologyBuilder()
    builder.set_spout("spout", Given([(1,)], "at", "at"))
    builder.set_bolt("bolt", Keyed, 2, config=options).all_grouping("spout")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    assert sorted(run_built(builder).result("sink"), key=repr) == [(("a", 2), "('a', 2)"), (1, "1")]


class Stamped(Asked):
    """Emits at times that it is given."""

    outputs = ["number"]

    def __init__(self, times: list[Any]) -> None:
        super().__init__()
        self._times = times
        self.left = len(times)

    def next_tuple(self) -> None:
        if not self.left:
            raise StopIteration
        self.emit([self.left], timestamp=self._times[-self.left])
        self.left -= 1


class Tells(BatchBolt):
    """Emits the times of its tuples."""

    outputs = ["time"]

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows([(time,) for time in rows.times()])


def stamped(*times: Any) -> list[int]:
    builder = TopologyBuilder()
    builder.set_spout("spout", Stamped(list(times)))
    builder.set_bolt("bolt", Tells).global_grouping("spout")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    options = {"viper__time": "event", "viper__timestamp__unit": "s"}
    return [time for (time,) in run_built(builder, **options).result("sink")]


def test_times_of_emits() -> None:
    times = [np.int8(1), np.float32(1.5), np.datetime64("1970-01-01T00:00:02"), pd.Timestamp(3, unit="s")]
    assert stamped(*times) == [1_000_000, 1_500_000, 2_000_000, 3_000_000]
    with pytest.raises(ComponentError, match="has nanoseconds"):
        stamped(pd.Timestamp(1))
    with pytest.raises(ComponentError, match="is no time"):
        stamped(pd.NaT)


@every_kind
def test_state(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("spout", Given([(1,), (1,)], "number"))
    builder.set_bolt("bolt", Remembering).fields_grouping("spout", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    before = [1, 2.0, False, 7, [], [], [], None, None, None]
    after = [3, 0.5, True, 200, [4], [(5, 2.0)], [(6, 8)], 200, 300, [200, 100]]
    assert repr(arrived(workers, builder)) == repr([before, after])


def test_what_no_value_of_python_holds_is_refused() -> None:
    class Fine(Bolt):
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            self.emit([[pd.Timestamp(1)]])

    with pytest.raises(ComponentError) as caught:
        run_built(built(Numbers, Fine))
    assert "cannot emit" in str(caught.value) and "has nanoseconds" in str(caught.value)
