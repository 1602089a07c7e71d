"""Typed streams from end to end: keys, event time, channels, answers, deaths, recordings: all as untyped."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from framework import BatchBolt, Bolt, Grouping, RowError, Rows, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.recording import Recording
from framework.recording.comparing import compare
from framework.runtime import run
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.dying import die, first_time
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers

everywhere = pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)

# -- keys

KEYS: dict[str, Sequence[Any]] = {
    "int64": (0, None, -1, 2**53 + 1, 2**53, 7),
    "string": ("a", None, "", "ß", "b", "\0"),
    "float64": (0.0, None, -0.0, 1.0, 2.5, -1.0),
    "decimal128(10, 2)": (
        Decimal("1.00"),
        None,
        Decimal("0.00"),
        Decimal("-1.50"),
        Decimal("2.25"),
        Decimal("9.00"),
    ),
    "list<int64>": ((1,), None, (), (1, None), (2,), (3,)),
}


class ByNumber:
    """A custom grouping: one task or two, by the number."""

    def prepare(
        self, context: Mapping[str, Any], component: str, stream: str, targets: Sequence[int]
    ) -> None:
        """Note the tasks to choose from."""
        self._targets = targets

    def choose_tasks(self, values: Sequence[Any]) -> list[int]:
        """Choose the tasks that the number names."""
        first = values[1] % len(self._targets)
        return sorted({self._targets[first], self._targets[values[1] % 2 % len(self._targets)]})


class Keyed(Spout):
    """Brings keys with numbers: (key, 0), (key, 1) and so on, as single tuples or as columns of a type."""

    @property
    def outputs(self) -> Any:  # type: ignore[override]
        fields = {"key": self._kind, "number": "int64"}
        return [Stream(list(fields), schema=None if self._form == "untyped" else fields)]

    def __init__(self, kind: str, form: str) -> None:
        super().__init__()
        self._kind, self._form = kind, form

    def tuples(self) -> Iterator[Any]:
        keys = list(itertools.islice(itertools.cycle(KEYS[self._kind]), 40))
        rows = [[key, number] for number, key in enumerate(keys)]
        if self._form != "columns":
            yield from rows
            return
        for first in range(0, 40, 8):
            part = rows[first : first + 8]
            yield {"key": [key for key, _ in part], "number": np.array([number for _, number in part])}


class Where(Bolt):
    """Says which of its tasks has received what."""

    outputs = ["replica", "key", "number"]

    def process(self, tup: Any) -> None:
        self.emit([self.task_id, *tup.values])


GROUPINGS = {
    "shuffle": Grouping.SHUFFLE,
    "fields": Grouping.fields("key"),
    "partial key": Grouping.partial_key("key"),
    "all": Grouping.ALL,
    "global": Grouping.GLOBAL,
    "custom": Grouping.custom(ByNumber),
}


def grouped(kind: str, form: str, grouping: Grouping) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[kind, form])
    builder.set_bolt("where", Where, 3).grouping("source", grouping)
    builder.set_bolt("sink", CollectingSink).global_grouping("where")
    return builder


@pytest.mark.few(14)
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_columns_go_to_the_tasks_that_their_tuples_would_go_to(kind: str, grouping: str) -> None:
    expected = run_built(grouped(kind, "untyped", GROUPINGS[grouping])).result("sink")
    assert len(expected) >= 40
    for form in ("tuples", "columns"):
        found = run_built(grouped(kind, form, GROUPINGS[grouping]), viper__columns__rows=5).result("sink")
        assert repr(found) == repr(expected)


@pytest.mark.few(1)
@pytest.mark.parametrize("grouping", ["fields", "all"])
def test_so_they_do_to_other_processes(grouping: str) -> None:
    expected = run_built(grouped("int64", "untyped", GROUPINGS[grouping])).result("sink")
    for rows in (1, 1_048_576):
        builder = grouped("int64", "columns", GROUPINGS[grouping])
        assert PROCESSES.run(builder, viper__columns__rows=rows).result("sink") == expected


# -- channels

STORE = 4096
"""Bytes that a channel has for each source."""


class Wide(Spout):
    """Brings numbers with long texts, as many as there are and as long as they are said to be."""

    outputs = [Stream(schema={"number": "int64", "text": "string", "items": "list<int64>"})]

    def __init__(self, count: int, length: int) -> None:
        super().__init__()
        self._count, self._length = count, length

    def tuples(self) -> Iterator[Any]:
        numbers = list(range(self._count))
        yield {"number": numbers, "text": ["x" * self._length] * self._count, "items": [[n] for n in numbers]}


class PassesOn(BatchBolt):
    """Passes the columns on that it receives, in parts."""

    outputs = Wide.outputs

    def process_rows(self, rows: Rows) -> None:
        numbers = rows.numpy("number")
        for rest in (0, 1):
            batch, of = rows.where(numbers % 2 == rest)
            self.emit_rows(batch, of)


def wide(count: int, length: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Wide, args=[count, length])
    builder.set_bolt("passes", PassesOn).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("passes")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize("length", [3, 1000, 2500])
def test_columns_that_are_too_large_go_in_pieces(length: int) -> None:
    found = PROCESSES.run(wide(200, length), viper__channel__bytes=STORE).result("sink")
    assert found == [(n, "x" * length, (n,)) for n in range(200)]


def test_one_row_that_is_too_large_is_named() -> None:
    message = r"\(0, 'xxx.* takes .* bytes .*raise viper.channel.bytes"
    with pytest.raises(ComponentError, match=message) as caught:
        PROCESSES.run(wide(3, STORE), viper__channel__bytes=STORE)
    assert (caught.value.component, caught.value.during) == ("source", "emit")
    assert len(run_built(wide(3, STORE), viper__channel__bytes=STORE).result("sink")) == 3


@pytest.mark.few(3)
@everywhere
@pytest.mark.parametrize(("rows", "jumbo"), [(1, 1), (1, 65_536), (1_048_576, 1)])
def test_the_size_of_jumbo_tuples_does_not_show(rows: int, jumbo: int, workers: Workers) -> None:
    sizes = {"viper__columns__rows": rows, "viper__jumbo__size": jumbo, "viper__channel__tuples": 65_536}
    assert workers.run(wide(300, 3), **sizes).result("sink") == [(n, "xxx", (n,)) for n in range(300)]


class Halves(BatchBolt):
    """Emits the half of each number, as a column."""

    outputs = [Stream(schema={"half": "float64"})]

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows({"half": rows.numpy("number") / 2})


class Texts(BatchBolt):
    """Emits each number as a text, in a column, and how long it is."""

    outputs = [Stream(schema={"text": "string", "length": "int64"})]

    def process_rows(self, rows: Rows) -> None:
        texts = [str(number) for number in rows.column("number")]
        self.emit_rows({"text": texts, "length": [len(text) for text in texts]})


class Passes(BatchBolt):
    """Passes on what it receives, as a text, with the fields of its stream."""

    outputs = ["fields", "text"]

    def process_rows(self, rows: Rows) -> None:
        batch = rows.batch()
        self.emit_rows([(",".join(batch.schema.names), repr(row)) for row in rows])


@pytest.mark.few(2)
@everywhere
def test_streams_of_several_types_interleave_at_one_task(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Wide, args=[600, 3])
    builder.set_bolt("halves", Halves).shuffle_grouping("source")
    builder.set_bolt("texts", Texts, 2).shuffle_grouping("source")
    builder.set_bolt("passes", Passes).global_grouping("halves").global_grouping("texts")
    builder.set_bolt("passed", CollectingSink).global_grouping("passes")
    builder.set_bolt("sink", CollectingSink).global_grouping("halves").global_grouping("texts")
    report = workers.run(builder)
    pairs = [((number / 2,), (str(number), len(str(number)))) for number in range(600)]
    assert report.result("sink") == [row for pair in pairs for row in pair]
    passed = [(("half", repr(half)), ("text,length", repr(text))) for half, text in pairs]
    assert report.result("passed") == [row for pair in passed for row in pair]


# -- answers

COUNT = 60


class Tracked(Spout):
    """Emits numbers with ids, and emits again what fails."""

    outputs = [Stream(schema={"number": "int64"})]
    config = {"viper.spout.bounded": True}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._next = 0

    def next_tuple(self) -> None:
        if self._next == COUNT:
            raise StopIteration
        self.emit([self._next], tup_id=self._next)
        self._next += 1

    def fail(self, tup_id: Any) -> None:
        self.emit([tup_id + 1000], tup_id=tup_id)


class Picky(BatchBolt):
    """Doubles numbers by columns, and fails every seventh."""

    outputs = [Stream(schema={"number": "int64 not null"})]

    def process_rows(self, rows: Rows) -> None:
        numbers = np.array(rows.numpy("number"))
        bad = np.flatnonzero((numbers < 1000) & (numbers % 7 == 0))
        done = int(bad[0]) if len(bad) else len(numbers)
        of = np.repeat(np.arange(done), 2)
        self.emit_rows({"number": numbers[of] * 2 + np.tile([0, 1], done)}, of)
        if len(bad):
            raise RowError(done, ValueError("every seventh"))


@pytest.mark.few(2)
@everywhere
def test_tracked_tuples_are_answered_by_their_rows(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Tracked)
    builder.set_bolt("picky", Picky).shuffle_grouping("source")
    builder.set_bolt("again", PassesNumbers).shuffle_grouping("picky")
    builder.set_bolt("sink", CollectingSink).global_grouping("again")
    report = workers.run(builder, viper__on__error="skip", viper__time="logical")
    failed = [number for number in range(COUNT) if number % 7 == 0]
    numbers = [number for number in range(COUNT) if number % 7] + [number + 1000 for number in failed]
    assert sorted(report.result("sink")) == sorted((n * 2 + copy,) for n in numbers for copy in (0, 1))
    source = report.components["source"]
    assert (source.acked, source.failed) == (COUNT, len(failed))


class PassesNumbers(BatchBolt):
    """Passes the columns on that it receives."""

    outputs = [Stream(schema={"number": "int64"})]

    def process_rows(self, rows: Rows) -> None:
        self.emit_rows(rows.batch())


# -- deaths


class Brings(Spout):
    """Brings numbers in batches."""

    outputs = [Stream(schema={"number": "int64"})]

    def tuples(self) -> Iterator[Any]:
        for first in range(0, 5_000, 50):
            yield {"number": np.arange(first, first + 50)}


class DiesAt(BatchBolt):
    """Kills its process when it receives a number for the first time."""

    outputs = Brings.outputs

    def process_rows(self, rows: Rows) -> None:
        if 2_000 in rows.numpy("number") and first_time(self, "2000"):
            die()
        self.emit_rows({"number": rows.array("number")})


def test_a_worker_that_dies_loses_some_columns_and_goes_on(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Brings)
    builder.set_bolt("middle", DiesAt).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    report = PROCESSES.run(builder, marks=str(tmp_path), topology__acker__executors=0)
    (incident,) = report.incidents
    found = [number for (number,) in report.result("sink")]
    first = next(index for index, number in enumerate(found) if number != index)
    assert found == [*range(first), *range(first + incident.lost, 5_000)]
    assert first <= 2_000 < first + incident.lost


# -- recordings


def recorded(builder: TopologyBuilder, path: Path, **options: Any) -> Path:
    run(*plan_of(builder, **options), record=path)
    return path


@pytest.mark.few(1)
@pytest.mark.parametrize("grouping", ["fields", "custom"])
def test_recordings_of_all_forms_and_workers_are_the_same(grouping: str, tmp_path: Path) -> None:
    untyped = recorded(grouped("int64", "untyped", GROUPINGS[grouping]), tmp_path / "untyped")
    for form, workers in itertools.product(("tuples", "columns"), (INLINE, PROCESSES)):
        builder = grouped("int64", form, GROUPINGS[grouping])
        path = recorded(builder, tmp_path / f"{form}-{workers}", **workers.options)
        with Recording(untyped) as one, Recording(path) as other:
            for component in ("source", "where"):
                found = compare(one, other, component, "default")
                assert (found.first, found.both) == (None, len(list(one.tuples(component, "default"))))


def test_a_recording_knows_the_types_and_can_be_replayed(tmp_path: Path) -> None:
    builder = grouped("list<int64>", "columns", GROUPINGS["fields"])
    path = recorded(builder, tmp_path / "run.viper")
    with Recording(path) as found:
        (stream,) = found.header.components[0].streams
        assert stream == Keyed("list<int64>", "columns").outputs[0]
    again = run(*plan_of(builder), replay=path)
    assert again.result("sink") == run_built(builder).result("sink")


def test_what_columns_are_in_memory_does_not_show() -> None:
    """Codes of a dictionary differ by batch; the type is that of the values."""

    class Coded(Spout):
        outputs = [Stream(schema={"text": "string"})]

        def tuples(self) -> Iterator[Any]:
            for texts in (["a", "b", None], ["b", "c", "a"]):
                yield pa.record_batch({"text": pa.array(texts).dictionary_encode()})

    builder = TopologyBuilder()
    builder.set_spout("source", Coded)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    assert run_built(builder).result("sink") == [("a",), ("b",), (None,), ("b",), ("c",), ("a",)]
