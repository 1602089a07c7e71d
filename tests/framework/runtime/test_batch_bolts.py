"""Batch bolts: the same output as tuple by tuple, however rows are divided; answers, errors, ticks."""

from __future__ import annotations

import logging
import threading
from typing import Any

import numpy as np
import pytest

from framework import BatchBolt, Bolt, RowError, Rows, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError, EmitError
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange.bulk import BulkEmits
from framework.testing import run_bolt
from tests.framework.frontends.multilang.pieces import run_topology
from tests.framework.runtime.batches import in_batches
from tests.framework.runtime.pieces import Timed, built, drawn, listed, run_built
from tests.framework.runtime.shapes import SHAPES
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change

everywhere = pytest.mark.parametrize("workers", [INLINE, THREADS, PROCESSES], ids=str)


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(25), 3), ids=str)
def test_a_topology_in_batches_brings_what_it_brings_tuple_by_tuple(shape: str, seeds: range) -> None:
    serial = run_built(SHAPES[shape](1, 60)).result("sink")
    for seed in seeds:
        par, options = drawn(seed)
        found = run_topology(in_batches(SHAPES[shape](par, 60)), **options).result("sink")
        assert found == serial, (seed, par, options)


@pytest.mark.few(8)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
def test_so_it_does_in_several_workers(shape: str, workers: Workers) -> None:
    serial = run_built(SHAPES[shape](1, 60)).result("sink")
    topology = in_batches(SHAPES[shape](3, 60))
    assert run_topology(topology, viper__jumbo__size=7, **workers.options).result("sink") == serial


def test_a_planted_bug_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs of all rows belong to the last one."""
    serial = run_built(SHAPES["diamond"](1, 60)).result("sink")
    add = BulkEmits.add

    def add_to_the_last(self: BulkEmits, port: Any, rows: Any, of: Any, ends: Any) -> None:
        add(self, port, rows, [(self._count or 0) - 1] * len(rows) if self.is_open else of, ends)

    monkeypatch.setattr(BulkEmits, "add", add_to_the_last)
    found = run_topology(in_batches(SHAPES["diamond"](1, 60)), viper__jumbo__size=64)
    assert found.result("sink") != serial


class Sums(Bolt):
    """Says at each tick what has come since the last one."""

    outputs = ["sum"]
    config = {"topology.tick.tuple.freq.secs": 1}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen: list[int] = []

    def process(self, tup: Any) -> None:
        self._seen.append(tup.values[1])

    def process_tick(self, tup: Any) -> None:
        self.emit([list(self._seen)])
        self._seen.clear()


@pytest.mark.parametrize("slice_tuples", [1, 7, 4096])
def test_ticks_come_between_batches(slice_tuples: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, args=[100], kwargs={"every": 3, "step": 250})
    builder.set_bolt("sums", Sums).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("sums")
    expected = run_built(builder).result("sink")
    assert len(expected) > 5
    found = run_topology(in_batches(builder), viper__slice__tuples=slice_tuples).result("sink")
    assert found == expected


class Twice(BatchBolt):
    """Emits each number on two streams, the second first, and out of order."""

    outputs = ["number", Stream(["number"], name="other"), Stream(["number"], name="unheard")]

    def process_rows(self, rows: Rows) -> None:
        of = list(range(len(rows)))[::-1]
        self.emit_rows([[rows[index][0] + 0.5] for index in of], of, "other")
        self.emit_rows([["nobody"]] * len(rows), stream="unheard")
        self.emit_rows([list(row) for row in rows])


class Ends(BatchBolt):
    """Emits each even number twice, says so by an array, and changes the array."""

    outputs = ["number"]

    def process_rows(self, rows: Rows) -> None:
        numbers = [number for (number,) in rows]
        ends = np.cumsum([2 * (number % 2 == 0) for number in numbers], dtype="I")
        given: Any = memoryview(ends) if numbers[0] % 3 else ends
        self.emit_rows([(number,) for number in numbers if number % 2 == 0 for _ in range(2)], ends=given)
        ends[:] = 0


@everywhere
def test_ends_may_be_an_array(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", listed_numbers)
    builder.set_bolt("ends", Ends).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("ends")
    assert workers.run(builder).result("sink") == [(n,) for n in range(0, 50, 2) for _ in range(2)]


@everywhere
def test_outputs_are_sorted_by_input_then_by_emit(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", listed_numbers)
    builder.set_bolt("twice", Twice).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("twice").global_grouping("twice", "other")
    report = workers.run(builder)
    assert report.result("sink") == [(n + half,) for n in range(50) for half in (0.5, 0)]
    assert report.components["twice"].emitted == 150


listed_numbers = listed(*([n] for n in range(50)))
listed_numbers.__module__, listed_numbers.__qualname__ = __name__, "listed_numbers"


class Many(Bolt):
    """Emits the numbers up to the one that it receives, which come in one batch."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        for number in range(tup.values[0]):
            self.emit([number])


def behind_many(count: int, bolt: type[Bolt]) -> TopologyBuilder:
    """A batch bolt, ``b2``, that receives so many numbers, in as many calls as it takes."""
    return built(listed([count]), Many, bolt)


class TestWhatIsReceived:
    def test_rows(self) -> None:
        seen: list[Any] = []

        class Looks(BatchBolt):
            outputs = ["nothing"]

            def process_rows(self, rows: Rows) -> None:
                seen.append(rows)
                seen.append((rows.positions(), rows.times()))

        run_built(behind_many(30, Looks))
        batches, places = seen[::2], [place for positions, _ in seen[1::2] for place in positions]
        for rows, (positions, times) in zip(batches, seen[1::2], strict=True):
            assert (rows.component, rows.stream, rows.fields) == ("b1", "default", ("number",))
            assert rows.values() == list(rows) == [(number,) for number in rows.column("number")]
            assert (len(rows), rows[-1]) == (len(positions), rows.values()[-1])
            assert times == [position.ts for position in positions]
        assert [row for rows in batches for row in rows] == [(number,) for number in range(30)]
        assert len(set(places)) == 30
        assert places == sorted(places)
        with pytest.raises(KeyError, match=r"has no field 'm': its fields are \['number'\]"):
            rows.column("m")

    def test_a_batch_is_of_one_stream(self) -> None:
        batches: list[tuple[str, str, list[int]]] = []

        class Looks(BatchBolt):
            def process_rows(self, rows: Rows) -> None:
                batches.append((rows.component, rows.stream, [row[0] for row in rows]))

        builder = TopologyBuilder()
        builder.set_spout("source", listed_numbers)
        builder.set_bolt("twice", Twice).shuffle_grouping("source")
        looks = builder.set_bolt("looks", Looks)
        looks.shuffle_grouping("twice").shuffle_grouping("twice", "other").shuffle_grouping("source")
        run_built(builder)
        assert {(component, stream) for component, stream, _ in batches} == {
            ("twice", "default"),
            ("twice", "other"),
            ("source", "default"),
        }
        assert sum(len(numbers) for *_, numbers in batches) == 150


def emitting(emit: Any) -> TopologyBuilder:
    """A batch bolt that emits in this way."""
    return behind_many(3, type("Emits", (BatchBolt,), {"outputs": ["value"], "process_rows": emit}))


class TestRefused:
    @pytest.mark.parametrize(
        ("emit", "message"),
        [
            (lambda self, rows: self.emit([1]), r"emits a single tuple in process_rows: emit_rows\("),
            (lambda self, rows: self.emit_rows([[1]] * 9), r"9 tuples for \d rows in process: say with of="),
            (lambda self, rows: self.emit_rows([[1]] * 2, [0]), "2 tuples with of= of 1: expected one"),
            (lambda self, rows: self.emit_rows([[1]], [9]), r"output 0 is of input 9: there are \d inputs"),
            (lambda self, rows: self.emit_rows([[1]], [-1]), "output 0 is of input -1"),
            (lambda self, rows: self.emit_rows([[1]], ends=[1] * 9), r"9 ends for \d rows in process"),
            (lambda self, rows: self.emit_rows([[1]], ends=[2]), "must ascend, and the last must be the"),
            (lambda self, rows: self.emit_rows([[1]], ends=[-1]), "ends= are counts from 0"),
            (lambda self, rows: self.emit_rows([[1]], ends=np.array([[1]], "I")), "ends= are counts from 0"),
            (lambda self, rows: self.emit_rows([[1]], ends=np.array([1.0])), "ends= are counts from 0"),
            (lambda self, rows: self.emit_rows([[1]], ends=np.array([2], "I")), "must ascend, and the last"),
            (lambda self, rows: self.emit_rows([[1, 2]], [0]), r"2 values \[1, 2\], expected 1"),
            (lambda self, rows: self.emit_rows([1], [0]), "emit takes a list or tuple of values, found int"),
            (lambda self, rows: self.emit_rows([[1]], [0], "x"), "unknown stream 'x'"),
            (lambda self, rows: self.emit_rows([[lambda: 1]], [0]), "cannot carry"),
        ],
    )
    def test_an_emit(self, emit: Any, message: str) -> None:
        with pytest.raises(ComponentError, match=message):
            run_built(emitting(emit))

    def test_of_at_a_tick(self) -> None:
        class Emits(BatchBolt):
            outputs = ["value"]
            config = {"topology.tick.tuple.freq.secs": 1}

            def process_rows(self, rows: Rows) -> None: ...

            def process_tick(self, tup: Any) -> None:
                self.emit_rows([[1]], [0])

        with pytest.raises(ComponentError, match="takes of and ends in process_rows only"):
            run_built(built(listed([1]), Emits))

    def test_a_direct_stream(self) -> None:
        class Emits(BatchBolt):
            outputs = [Stream(["value"], direct=True)]

            def process_rows(self, rows: Rows) -> None:
                self.emit_rows([[1]] * len(rows))

        builder = built(listed([1]), Emits)
        with pytest.raises(ComponentError, match="is a direct one: emit_rows cannot name a task"):
            run_built(_without_sink(builder, Emits))

    @pytest.mark.parametrize("name", ["auto_ack", "auto_fail", "auto_anchor"])
    def test_answers_of_its_own(self, name: str) -> None:
        with pytest.raises(TypeError, match="batch bolt Own sets auto_ack, auto_fail or auto_anchor to"):
            type("Own", (BatchBolt,), {name: False})

    def test_emits_of_many_from_a_thread_of_its_own(self) -> None:
        raised: list[BaseException] = []

        class Emits(BatchBolt):
            outputs = ["value"]

            def process_rows(self, rows: Rows) -> None:
                thread = threading.Thread(target=self._emit)
                thread.start()
                thread.join()

            def _emit(self) -> None:
                try:
                    self.emit_rows([[1]])
                except EmitError as error:
                    raised.append(error)
                self.emit([2])

        report = run_built(behind_many(3, Emits))
        assert "from a thread of its own" in str(raised[0])
        assert report.result("sink") == [(2,)] * len(raised)


def _without_sink(builder: TopologyBuilder, cls: type[Bolt]) -> TopologyBuilder:
    made = TopologyBuilder()
    made.set_spout("source", listed([1]))
    made.set_bolt("b1", cls).shuffle_grouping("source")
    made.set_bolt("sink", CollectingSink).direct_grouping("b1")
    return made


class FailsAt(BatchBolt):
    """Cannot process some numbers, and says which row; has emitted for the rows before."""

    outputs = ["number"]

    def process_rows(self, rows: Rows) -> None:
        for index, (number,) in enumerate(rows):
            if number in self.storm_conf["fails.at"]:
                self.emit_rows(rows.values()[:index], range(index))
                raise RowError(index, ValueError(f"not {number}"))
        self.emit_rows(rows.values())


class TestErrors:
    @pytest.mark.parametrize("slice_tuples", [1, 4, 4096])
    def test_a_row_that_is_named_fails_alone(
        self, slice_tuples: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.ERROR)
        builder = built(listed(*([n] for n in range(20))), FailsAt)
        options = {"fails__at": [0, 7, 8, 19], "viper__on__error": "skip"}
        report = run_built(builder, viper__slice__tuples=slice_tuples, **options)
        assert report.result("sink") == [(n,) for n in range(20) if n not in (0, 7, 8, 19)]
        counts = report.components["b1"]
        assert (counts.processed, counts.failed, report.lost) == (20, 4, 4)
        assert "ValueError: not 7" in caplog.text

    def test_it_is_shown_where_the_run_ends_with_it(self) -> None:
        builder = built(listed(*([n] for n in range(20))), FailsAt)
        with pytest.raises(ComponentError, match=r"in process_rows: ValueError: not 7\n  tuple: \(7,\)"):
            run_built(builder, fails__at=[7])

    def test_without_a_name_all_rows_of_the_call_fail_and_nothing_is_emitted(self) -> None:
        failed: list[tuple[int]] = []

        class Raises(BatchBolt):
            outputs = ["number"]

            def process_rows(self, rows: Rows) -> None:
                self.emit_rows(rows.values())
                if (15,) in rows:
                    failed.extend(rows)
                    raise ValueError("one of them")

        report = run_built(behind_many(30, Raises), viper__on__error="skip")
        assert report.result("sink") == [(n,) for n in range(30) if (n,) not in failed]
        assert (report.components["b2"].failed, report.lost) == (len(failed), len(failed))

    @pytest.mark.parametrize("index", [-1, 20])
    def test_a_row_that_is_not_there_is_no_name(self, index: int) -> None:
        class Raises(BatchBolt):
            outputs = ["nothing"]

            def process_rows(self, rows: Rows) -> None:
                raise RowError(index, ValueError("far away"))

        with pytest.raises(ComponentError, match=f"RowError: row {index}: ValueError: far away"):
            run_built(behind_many(20, Raises))

    def test_outputs_of_rows_behind_it_are_refused(self) -> None:
        class Raises(BatchBolt):
            outputs = ["number"]

            def process_rows(self, rows: Rows) -> None:
                self.emit_rows(rows.values())
                raise RowError(len(rows) - 1, ValueError("too late"))

        with pytest.raises(ComponentError, match=r"emit_rows for a row behind row \d"):
            run_built(behind_many(3, Raises))

    def test_a_component_that_is_made_anew_goes_on_with_the_rest(self) -> None:
        builder = built(listed(*([n] for n in range(20))), FailsAt)
        report = run_built(builder, fails__at=[5], viper__on__error="restart")
        assert report.result("sink") == [(n,) for n in range(20) if n != 5]
        assert report.components["b1"].restarts == 1


class Doubles(BatchBolt):
    """Emits each number twice."""

    outputs = ["number"]

    def process_rows(self, rows: Rows) -> None:
        twice = [index for index in range(len(rows)) for _ in range(2)]
        self.emit_rows([rows[index] for index in twice], twice)


@pytest.mark.parametrize("slice_tuples", [1, 7, 4096])
@pytest.mark.parametrize("par", [1, 3])
def test_tracked_tuples_are_acked_with_all_that_descends_from_them(par: int, slice_tuples: int) -> None:
    acked: list[int] = []
    failed: list[int] = []

    class Tracked(Spout):
        outputs = ["number"]

        def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
            self._numbers = iter(range(40))

        def next_tuple(self) -> None:
            number = next(self._numbers)
            self.emit([number], tup_id=number if number % 4 else None)

        def ack(self, tup_id: Any) -> None:
            acked.append(tup_id)

        def fail(self, tup_id: Any) -> None:
            failed.append(tup_id)

    builder = TopologyBuilder()
    builder.set_spout("source", Tracked)
    builder.set_bolt("doubles", Doubles, par).shuffle_grouping("source")
    builder.set_bolt("fails", FailsAt, par).fields_grouping("doubles", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("fails")
    options = {"fails__at": [0, 7, 39], "viper__on__error": "skip", "viper__slice__tuples": slice_tuples}
    report = run_built(builder, **options)
    assert sorted(acked) == [n for n in range(40) if n % 4 and n not in (7, 39)]
    assert sorted(failed) == [7, 39]
    assert report.lost == 2  # both of the tuple without an id
    assert len(report.result("sink")) == 2 * 37


def test_a_component_in_a_test_of_its_own() -> None:
    ran = run_bolt(FailsAt, [[1], [2], [3]], conf={"fails.at": []})
    assert ran.emitted() == [(1,), (2,), (3,)] == list(ran.acked)


def test_lists_that_are_changed_after_the_emit_arrive_as_they_were() -> None:
    class Changes(BatchBolt):
        outputs = ["value"]

        def process_rows(self, rows: Rows) -> None:
            for index, (number,) in enumerate(rows):
                value = [number]
                self.emit_rows([[value]], [index])
                value.append(-1)

    report = run_built(behind_many(3, Changes))
    assert report.result("sink") == [([0],), ([1],), ([2],)]
