"""The arguments, results and refusals of an emit."""

from __future__ import annotations

import gc
import itertools
import logging
import sys
from typing import Any

import pytest

from framework import Stream, TopologyBuilder
from framework.model.errors import ComponentError, EmitError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import bolt, built, listed, polled, run_built, spout
from viper.source import Source


def refused(emit: Any, outputs: Any = ("value",), **options: Any) -> str:
    """The error of a bolt that does this once."""
    builder = built(listed(["x"]), bolt(lambda self, tup: emit(self), outputs))
    with pytest.raises(ComponentError) as caught:
        run_built(builder, **options)
    return str(caught.value)


def test_what_is_neither_list_nor_tuple() -> None:
    assert "TypeError: emit takes a list or tuple of values, found str: 'word'" in refused(
        lambda b: b.emit("word")
    )
    assert "found dict" in refused(lambda b: b.emit({"value": 1}))


def test_a_wrong_number_of_values() -> None:
    said = refused(lambda b: b.emit([1, 2]))
    assert "component 'b1', stream 'default': 2 values [1, 2], expected 1: ['value']" in said
    assert "tuple: Tuple(id=" in said


def test_an_unknown_stream_and_the_nearest_one() -> None:
    outputs = [Stream(["value"]), Stream(["value"], name="errors")]
    said = refused(lambda b: b.emit([1], stream="error"), outputs)
    assert "'error'" in said
    assert "'errors'" in said


def test_direct_task_on_other_streams_and_direct_streams_without_it() -> None:
    assert "direct_task=3, but the stream is not declared direct" in refused(
        lambda b: b.emit([1], direct_task=3)
    )
    outputs = [Stream(["value"]), Stream(["value"], name="to", direct=True)]
    builder = built(listed(["x"]), bolt(lambda self, tup: self.emit([1], stream="to"), outputs))
    builder.set_bolt("receiver", CollectingSink).direct_grouping("b1", "to")
    with pytest.raises(ComponentError, match="a direct stream needs direct_task="):
        run_built(builder)


def test_any_list_or_tuple_is_taken() -> None:
    class Mine(list[Any]):
        pass

    def process(self: Any, tup: Any) -> None:
        self.emit((1,))
        self.emit(Mine([2]))
        self.emit(tup.values)

    assert run_built(built(listed(["x"]), bolt(process))).result("sink") == [(1,), (2,), ("x",)]


def undeclared(self: Any, tup: Any) -> None:
    assert self.emit([tup.values[0], 2]) is None
    assert self.emit([1], stream="other", need_task_ids=True) == []


def without_outputs() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"], ["y"]))
    builder.set_bolt("silent", bolt(undeclared, None)).shuffle_grouping("source")
    return builder


def test_emits_without_declared_outputs_are_dropped_counted_and_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    report = run_built(without_outputs())
    assert report.components["silent"].undeclared == 4
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [text.split("outputs = ")[1] for text in warnings] == [
        '["field1", "field2"]',
        '[Stream(fields=["field1"], name="other")]',
    ]


def test_emits_without_declared_outputs_are_an_error_if_wished() -> None:
    with pytest.raises(ComponentError, match=r"'silent'.*stream"):
        run_built(without_outputs(), viper__emit__undeclared="error")


# -- need_task_ids


def test_the_ids_of_the_receivers_are_returned_and_the_order_is_kept() -> None:
    told: list[Any] = []

    def process(self: Any, tup: Any) -> None:
        self.emit([1])
        told.append(self.emit([2], need_task_ids=True))
        self.emit([3])
        told.append(self.emit([4], need_task_ids=True))
        self.emit([5])

    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"]))
    builder.set_bolt("asks", bolt(process)).shuffle_grouping("source")
    builder.set_bolt("many", CollectingSink, 3).all_grouping("asks")
    builder.set_bolt("one", CollectingSink).global_grouping("asks")
    builder.set_bolt("turns", CollectingSink, 2).shuffle_grouping("asks")
    report = run_built(builder)
    many, one, turns = [2, 3, 4], 5, [7, 8]
    assert [sorted(ids) for ids in told] == [[*many, one, turns[1]], [*many, one, turns[1]]]
    assert report.result("one") == [(n,) for n in range(1, 6)]
    assert report.results["turns"] == ([(1,), (3,), (5,)], [(2,), (4,)])


@pytest.mark.parametrize("hook", ["initialize", "process_tick", "next_tuple"])
def test_receivers_are_told_in_every_hook(hook: str) -> None:
    told: list[Any] = []

    def ask(self: Any, *_args: Any) -> None:
        told.append(self.emit([hook], need_task_ids=True))

    if hook == "next_tuple":

        def once(self: Any) -> None:
            ask(self)
            raise StopIteration

        builder = built(polled(once))
        expected = 1
    else:
        asking = bolt(lambda self, tup: None, **{hook: ask})
        builder = built(listed([1], outputs=["value"], config={"viper.timestamp.field": "value"}), asking)
        builder.config["topology.tick.tuple.freq.secs"] = 1
        expected = 2
    rows = run_built(builder).result("sink")
    assert told == [[expected]] * len(rows)
    assert set(rows) == {(hook,)}


def test_receivers_are_told_however_slow_a_polled_spout_is() -> None:
    told: list[Any] = []

    def slow(self: Any) -> None:
        for number in range(5):
            told.append(self.emit([number], need_task_ids=True))
        raise StopIteration

    assert run_built(built(polled(slow)), viper__jumbo__linger__ms=0).result("sink") == [
        (n,) for n in range(5)
    ]
    assert told == [[1]] * 5


def test_a_stream_without_subscribers_has_no_receivers() -> None:
    told: list[Any] = []
    outputs = [Stream(["value"]), Stream(["value"], name="unheard")]

    def process(self: Any, tup: Any) -> None:
        told.append(self.emit([1], stream="unheard", need_task_ids=True))
        self.emit([2])

    report = run_built(built(listed(["x"]), bolt(process, outputs)))
    assert told == [[]]
    assert report.components["b1"].emitted == 2


def test_ten_thousand_emits_of_one_callback_that_ask_for_receivers() -> None:
    def process(self: Any, tup: Any) -> None:
        for number in range(10_000):
            self.emit([number], need_task_ids=True)

    rows = run_built(built(listed(["x"]), bolt(process)), viper__channel__jumbos=1).result("sink")
    assert rows == [(n,) for n in range(10_000)]


def test_an_emit_in_close_is_refused() -> None:
    for hook in ("close", "cleanup"):
        late = bolt(lambda self, tup: None, **{hook: lambda self: self.emit([1])})
        with pytest.raises(
            ComponentError, match=r"'b1', task 1, in close: EmitError: .*emits in or after close"
        ):
            run_built(built(listed(["x"]), late))


def test_a_generator_may_emit_beside_what_it_yields() -> None:
    def tuples(self: Any) -> Any:
        self.emit([0])
        yield [1]
        yield None
        self.emit([2])
        yield (3,)

    assert run_built(built(spout(tuples))).result("sink") == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize("jumbo", [8, 64])
def test_what_finalizers_emit_is_not_lost_and_stops_nothing(
    jumbo: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector runs them wherever it likes: here, while rows are handed over."""
    bolts: list[Any] = []
    adds = itertools.count(1)
    add = Source.add

    def collects_garbage(self: Source, *args: Any) -> bool:
        if bolts and next(adds) in (5, 10, 15, 20):
            for _ in range(9000):  # more than an outbox holds
                bolts[0].emit([-1])
        return add(self, *args)

    monkeypatch.setattr(Source, "add", collects_garbage)
    first = bolt(
        lambda self, tup: self.emit(list(tup.values)),
        initialize=lambda self, storm_conf, context: bolts.append(self),
        close=lambda self: bolts.remove(self),
    )
    source = spout(lambda self: ([number] for number in range(1, 2001)))
    report = run_built(
        built(source, first, par=2),
        viper__jumbo__size=jumbo,
        viper__channel__jumbos=2,
        viper__channel__tuples=64,
    )
    rows = report.result("sink")
    assert [n for (n,) in rows if n > 0] == list(range(1, 2001))
    assert len(rows) == report.components["b1"].emitted > 2000


def test_a_finalizer_cannot_ask_who_receives_its_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    """While other tuples are being placed, its own cannot be."""
    bolts: list[Any] = []
    refused: list[str] = []
    add = Source.add

    def collects_garbage(self: Source, *args: Any) -> bool:
        try:  # while the spout's tuples are handed over, the bolt may emit
            for one in bolts:
                one.emit([-1], need_task_ids=True)
        except EmitError as error:
            refused.append(str(error))
        return add(self, *args)

    monkeypatch.setattr(Source, "add", collects_garbage)
    first = bolt(
        lambda self, tup: self.emit(list(tup.values)),
        initialize=lambda self, storm_conf, context: bolts.append(self),
        close=lambda self: bolts.remove(self),
    )
    report = run_built(built(spout(lambda self: ([number] for number in range(9))), first, par=2))
    assert [number for (number,) in report.result("sink") if number >= 0] == list(range(9))
    assert refused
    assert all("need_task_ids=True while other tuples of its are being placed" in one for one in refused)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="a dictionary costs nothing there")
def test_a_bolts_attributes_are_in_no_dictionary_while_it_processes() -> None:
    def process(self: Any, tup: Any) -> None:
        self.emit([any(isinstance(found, dict) and "pid" in found for found in gc.get_referents(self))])

    assert run_built(built(listed(["x"], ["y"]), bolt(process))).result("sink") == [(False,), (False,)]


def test_values_that_are_emitted_again_and_can_change_arrive_as_they_were_at_each_emit() -> None:
    def process(self: Any, tup: Any) -> None:
        self.emit(tup.values)
        tup.values.value.append("changed")
        self.emit(tup.values)

    report = run_built(built(listed([["x"]], [["y"]]), bolt(process)))
    assert report.result("sink") == [(["x"],), (["x", "changed"],), (["y"],), (["y", "changed"],)]
