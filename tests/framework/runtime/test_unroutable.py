"""A tuple for which no task can be chosen is an error of that tuple, and of no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from framework import BatchBolt, Bolt, Grouping, OPlus, Rows, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError, EmitError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import Row, run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind

BAD = (3, 4, 11)


class Raising:
    """A key one of whose own methods raises an error that is none of hashing's."""

    def __init__(self, which: str) -> None:
        self._which = which

    def __hash__(self) -> int:
        if self._which == "__hash__":
            raise RuntimeError("no hash")
        raise TypeError("unhashable")

    def __repr__(self) -> str:
        if self._which == "__repr__":
            raise RuntimeError("no text")
        return "Raising()"


def endless() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


COUNT = 15
GOOD = [n for n in range(COUNT) if n not in BAD]
KEYS: dict[str, Callable[[int], Any]] = {
    "an object": lambda n: object() if n in BAD else n,
    "an object within": lambda n: (1, [object()]) if n in BAD else (1, [n]),
    "a hash that raises": lambda n: Raising("__hash__") if n in BAD else n,
    "a hash that raises within": lambda n: (1, Raising("__hash__")) if n in BAD else (1, n),
    "a text that raises": lambda n: Raising("__repr__") if n in BAD else n,
    "a list that holds itself": lambda n: endless() if n in BAD else n,
}


class Choosing:
    """Chooses tasks in turn, and raises for some numbers; it counts what it was asked."""

    def prepare(self, context: Any, component: str, stream: str, target_tasks: list[int]) -> None:
        self._tasks, self._asked = target_tasks, 0

    def choose_tasks(self, values: Row) -> list[int]:
        number, self._asked = values[1], self._asked + 1
        assert number == self._asked - 1, "asked twice, or not at all"
        if number in BAD:
            raise KeyError(number)
        return [self._tasks[number % len(self._tasks)]]


class Leaving(Choosing):
    """Calls `sys.exit` for some numbers."""

    def choose_tasks(self, values: Row) -> list[int]:
        try:
            return super().choose_tasks(values)
        except KeyError:
            raise SystemExit(3) from None


class WrongTask(Choosing):
    """Chooses what is none of the consumer's tasks for some numbers."""

    def choose_tasks(self, values: Row) -> list[int]:
        try:
            return super().choose_tasks(values)
        except KeyError:
            return [99]


GROUPINGS = {
    "fields": Grouping.fields("key"),
    "partial key": Grouping.partial_key("key"),
    "custom": Grouping.custom(Choosing),
    "wrong task": Grouping.custom(WrongTask),
    "custom that leaves": Grouping.custom(Leaving),
}


class Counting(Spout):
    """Emits numbers."""

    outputs = ["number"]

    def tuples(self) -> Iterator[Row]:
        yield from ((number,) for number in range(COUNT))


class Keyed(Bolt):
    """Emits a key with each number, on one stream or on two, between which it alternates."""

    outputs = ["key", "number"]

    def __init__(self, key: str = "an object", *, asks: bool = False) -> None:
        super().__init__()
        self._key = KEYS[key]
        self._asks = asks

    def process(self, tup: Any) -> None:
        receivers = self.emit([self._key(tup.values[0]), tup.values[0]], need_task_ids=self._asks)
        assert not self._asks or receivers


class OnTwo(Keyed):
    """Has another stream, too."""

    outputs = [Stream(["key", "number"]), Stream(["number"], name="odd")]

    def process(self, tup: Any) -> None:
        super().process(tup)
        self.emit([tup.values[0]], stream="odd")


class InBatches(BatchBolt):
    """Emits the rows of a call at once."""

    outputs = ["key", "number"]

    def process_rows(self, rows: Rows) -> None:
        numbers = [row[0] for row in rows]
        self.emit_rows([[KEYS["an object"](n), n] for n in numbers])


class InColumns(BatchBolt):
    """Emits the columns of a call."""

    outputs = [Stream(schema={"key": "float64", "number": "int64"})]

    def process_rows(self, rows: Rows) -> None:
        import pyarrow as pa

        numbers = [row[0] for row in rows]
        self.emit_rows(pa.record_batch({"key": [float(n) for n in numbers], "number": numbers}))


class AtTicks(Bolt):
    """Emits what it has got at the last tick."""

    outputs = ["key", "number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen: list[int] = []

    def process(self, tup: Any) -> None:
        self._seen.append(tup.values[0])

    def process_tick(self, tup: Any) -> None:
        for number in self._seen:
            self.emit([KEYS["an object"](number), number])
        self._seen.clear()


class Number(Bolt):
    """Passes the number on."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[-1]])


class Generating(Spout):
    """Emits keys, and hears of them where they are tracked."""

    outputs = ["key", "number"]

    def tuples(self) -> Iterator[Row]:
        for number in range(COUNT):
            yield KEYS["an object"](number), number


class Polled(Spout):
    """Likewise, by `next_tuple`; it tells the ids of what has failed."""

    outputs = [Stream(["key", "number"]), Stream(["number"], name="failed")]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._numbers = iter(range(COUNT))

    def next_tuple(self) -> None:
        number = next(self._numbers)
        self.emit([KEYS["an object"](number), number], tup_id=number)

    def fail(self, tup_id: Any) -> None:
        self.emit([tup_id], stream="failed")


def built(emitting: Bolt | type[Bolt], grouping: Any = GROUPINGS["fields"], **config: Any) -> TopologyBuilder:
    """A bolt that emits keys, to a consumer that is chosen by them, and to one that is chosen in turn."""
    builder = TopologyBuilder()
    builder.set_spout("source", Counting)
    own = {"viper.on.error": "skip", **{key.replace("__", "."): value for key, value in config.items()}}
    builder.set_bolt("keyed", emitting, config=own).shuffle_grouping("source")
    divided(builder, "keyed", grouping)
    return builder


def divided(builder: TopologyBuilder, source: str, grouping: Any) -> None:
    builder.set_bolt("chosen", Number, 3).grouping(source, grouping)
    builder.set_bolt("in turn", Number, 2).shuffle_grouping(source)
    builder.set_bolt("sink", CollectingSink).global_grouping("chosen")
    builder.set_bolt("other", CollectingSink).global_grouping("in turn")


def check(report: Any, emitting: str = "keyed") -> None:
    assert report.result("sink") == report.result("other") == [(n,) for n in GOOD]
    counters = report.components[emitting]
    assert (counters.errors, counters.lost, report.lost) == (len(BAD), len(BAD), len(BAD))
    assert report.drained


@every_kind
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_the_others_go_where_they_would(grouping: str, workers: Workers) -> None:
    report = workers.run(built(Keyed, GROUPINGS[grouping]))
    check(report)
    counters = report.components["keyed"]
    assert (counters.processed, counters.failed, counters.acked) == (COUNT, len(BAD), COUNT - len(BAD))


@pytest.mark.parametrize("options", [{"viper__chains": False}, {"viper__slice__tuples": 1}, {}], ids=str)
@pytest.mark.parametrize("key", KEYS)
def test_of_any_key(key: str, options: dict[str, Any]) -> None:
    check(run_built(built(Keyed(key)), **options))


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_of_a_component_with_several_streams(grouping: str) -> None:
    builder = built(OnTwo, GROUPINGS[grouping])
    builder.set_bolt("odd", CollectingSink).global_grouping("keyed", "odd")
    report = run_built(builder)
    check(report)
    assert report.result("odd") == [(n,) for n in range(COUNT)]


@pytest.mark.parametrize(
    ("emitting", "grouping"), [(InBatches, "fields"), (InColumns, "custom"), (AtTicks, "fields")]
)
def test_of_whatever_emits(emitting: type[Bolt], grouping: str) -> None:
    check(run_built(built(emitting, GROUPINGS[grouping], topology__tick__tuple__freq__secs=3600)))


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_an_emit_that_asks_for_receivers_raises(grouping: str) -> None:
    report = run_built(built(Keyed(asks=True), GROUPINGS[grouping]))
    check(report)
    assert report.components["keyed"].failed == len(BAD)


def test_a_component_is_made_anew() -> None:
    report = run_built(built(Keyed, viper__on__error="restart", viper__restart__tries=10))
    check(report)
    assert 1 <= report.components["keyed"].restarts <= len(BAD)


@every_kind
def test_the_run_ends_with_it_where_errors_end_it(workers: Workers) -> None:
    said = (
        r"'keyed', task \d+, in emit: EmitError: stream 'default' to 'chosen'.*object object at .* is no key"
        r".*tuple: \(<object object at .*, 3\)"
    )
    with pytest.raises(ComponentError, match=said) as error:
        workers.run(built(Keyed, viper__on__error="stop"))
    assert workers is PROCESSES or isinstance(error.value.__cause__, EmitError)


@every_kind
def test_of_a_spout_that_generates(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Generating, config={"viper.on.error": "skip"})
    divided(builder, "source", GROUPINGS["fields"])
    check(workers.run(builder), "source")


@every_kind
def test_a_tracked_tuple_fails(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Polled, config={"viper.on.error": "skip"})
    divided(builder, "source", GROUPINGS["fields"])
    builder.set_bolt("failed", CollectingSink).global_grouping("source", "failed")
    report = workers.run(builder)
    assert report.result("sink") == report.result("other") == [(n,) for n in GOOD]
    assert sorted(report.result("failed")) == [(n,) for n in BAD]
    counters = report.components["source"]
    assert (counters.tracked, counters.acked, counters.failed) == (COUNT, len(GOOD), len(BAD))
    assert (counters.errors, report.lost) == (len(BAD), 0)


class Direct(Bolt):
    """Names the tasks of its consumer in turn, and something else for some numbers."""

    outputs = [Stream(["number"], direct=True)]

    def __init__(self, named: Any) -> None:
        super().__init__()
        self._named = named

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        of_tasks = context["task->component"].items()
        self._tasks = sorted(int(task) for task, component in of_tasks if component == "named")

    def process(self, tup: Any) -> None:
        number = tup.values[0]
        self.emit([number], direct_task=self._named if number in BAD else self._tasks[number % 2])


def named_by(named: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Counting)
    builder.set_bolt("keyed", Direct(named), config={"viper.on.error": "skip"}).shuffle_grouping("source")
    builder.set_bolt("named", Number, 2).direct_grouping("keyed")
    builder.set_bolt("sink", CollectingSink).global_grouping("named")
    return builder


@pytest.mark.parametrize("named", ["1", [1], 1.5, True])
def test_what_is_no_task_is_an_error_of_the_emit(named: Any) -> None:
    report = run_built(named_by(named))
    assert report.result("sink") == [(n,) for n in GOOD]
    assert (report.components["keyed"].errors, report.lost) == (len(BAD), len(BAD))


def test_a_task_that_does_not_subscribe_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    report = run_built(named_by(99))
    assert report.result("sink") == [(n,) for n in GOOD] and report.lost == 0
    said = "to task 99, which does not subscribe"
    assert sum(said in record.getMessage() for record in caplog.records) == 1


class Deriving(OPlus):
    """Makes the keys of its tuples itself, but for some."""

    outputs = ["number"]
    size = "1h"

    def keys(self, tup: Any) -> list[Any]:
        if tup.values.number in BAD:
            raise KeyError(tup.values.number)
        return [tup.values.number]

    def update(self, window: Any, tup: Any, side: int = 0) -> list[Row]:
        return [(tup.values.number,)]


@pytest.mark.parametrize("options", [{"viper.keys": "producer"}, {"viper.input": "copied"}], ids=str)
def test_keys_that_the_producer_cannot_derive(options: dict[str, Any]) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Counting)
    builder.set_bolt("keyed", Number, config={"viper.on.error": "skip"}).shuffle_grouping("source")
    builder.set_bolt("deriving", Deriving, 3, config=options).all_grouping("keyed")
    builder.set_bolt("sink", CollectingSink).global_grouping("deriving")
    report = run_built(builder)
    assert sorted(report.result("sink")) == [(n,) for n in GOOD]
    assert (report.components["keyed"].failed, report.lost) == (len(BAD), len(BAD))


def test_the_input_of_a_bolt_fails() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Polled)
    builder.set_bolt("number", Number).shuffle_grouping("source")
    builder.set_bolt("keyed", Keyed, config={"viper.on.error": "skip"}).shuffle_grouping("number")
    divided(builder, "keyed", GROUPINGS["fields"])
    builder.set_bolt("failed", CollectingSink).global_grouping("source", "failed")
    report = INLINE.run(builder)
    assert report.result("sink") == report.result("other") == [(n,) for n in GOOD]
    assert sorted(report.result("failed")) == [(n,) for n in BAD]
    assert (report.components["source"].acked, report.lost) == (len(GOOD), 0)
