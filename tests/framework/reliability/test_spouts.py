"""The answers that spouts hear of their tuples, and how they emit these again."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from framework import BatchingBolt, ReliableSpout, Stream, TopologyBuilder
from framework.model.errors import TopologyError
from framework.operators.sinks import CollectingSink
from tests.framework.reliability.pieces import SMALL, Heard, chained, ending, passing, prepared, tracked
from tests.framework.runtime.pieces import FakeClock, bolt, built, polled, run_built, spout

IDS = range(6)
TICKS = {"topology.tick.tuple.freq.secs": 1}


def failing_first(times: int = 1, log: list[Any] | None = None) -> Any:
    """A bolt that fails each value so often before it lets it pass."""

    def process(self: Any, tup: Any) -> None:
        self.seen = getattr(self, "seen", {})
        value = repr(tup.values[0])
        self.seen[value] = self.seen.get(value, 0) + 1
        if log is not None:
            log.append(tup.values[0])
        if self.seen[value] <= times:
            self.fail(tup)

    return ending(process)


# -- what is tracked


def test_without_ackers_a_tuple_is_acked_as_it_is_emitted() -> None:
    log: list[Any] = []

    def tuples(self: Any) -> Any:
        for n in IDS:
            self.emit([n], tup_id=n)
            log.append(("emitted", n))
            yield None

    source = spout(tuples, ack=lambda self, tup_id: log.append(("acked", tup_id)))
    report = run_built(
        chained(source, ending(lambda self, tup: self.fail(tup))), topology__acker__executors=0
    )
    assert log == [(what, n) for n in IDS for what in ("acked", "emitted")]
    assert (report.components["source"].tracked, report.components["source"].acked) == (0, 6)


def test_what_nobody_subscribes_to_is_acked() -> None:
    heard = Heard()

    def tuples(self: Any) -> Any:
        self.emit([1], tup_id="heard by nobody", stream="other")
        self.emit([2], tup_id="heard")
        yield None

    source = spout(tuples, ["value", Stream(["value"], name="other")], **heard.hooks)
    run_built(chained(source, ending(lambda self, tup: self.fail(tup))))
    assert (heard.acked, heard.failed) == (["heard by nobody"], ["heard"])


def test_a_tuple_without_an_id_is_heard_nothing_of() -> None:
    heard = Heard()
    source = spout(lambda self: ([n] for n in IDS), **heard.hooks)
    report = run_built(chained(source, failing_first()))
    assert (heard.acked, heard.failed) == ([], [])
    assert report.components["source"].tracked == 0


def test_ids_may_be_anything() -> None:
    ids = [0, "", None.__class__, 1.5, (1, [2]), [1, {"a": []}], {"b": 1}, b"x", frozenset()]
    heard = Heard()
    failing = ending(lambda self, tup: self.fail(tup) if tup.values[0] % 2 else None)
    positions = iter(range(len(ids)))
    run_built(chained(tracked(heard, ids, lambda tup_id: [next(positions)]), failing))
    assert sorted(map(repr, heard.acked)) == sorted(map(repr, ids[::2]))
    assert sorted(map(repr, heard.failed)) == sorted(map(repr, ids[1::2]))


def test_the_same_id_may_be_emitted_twice() -> None:
    heard = Heard()
    run_built(chained(tracked(heard, [1, 1, 2]), ending()))
    assert sorted(heard.acked) == [1, 1, 2]


# -- how many are in flight


def counting_flight(heard: Heard, count: int, most: list[int]) -> Any:
    def next_tuple(self: Any) -> None:
        self.n = getattr(self, "n", -1) + 1
        if self.n == count:
            raise StopIteration
        self.emit([self.n], tup_id=self.n)
        most.append(self.n + 1 - len(heard.acked) - len(heard.failed))

    return polled(next_tuple, **heard.hooks)


@pytest.mark.parametrize("bound", [1, 3])
@pytest.mark.parametrize("options", [{}, SMALL], ids=["", "small"])
def test_no_more_are_in_flight_than_may_be(bound: int, options: dict[str, Any]) -> None:
    heard, most = Heard(), [0]
    builder = chained(counting_flight(heard, 40, most), passing(), failing_first(0))
    run_built(builder, topology__max__spout__pending=bound, **options)
    assert sorted(heard.acked) == list(range(40))
    assert max(most) == bound


def test_a_batching_bolt_lets_a_bounded_spout_go_on(clock: FakeClock) -> None:
    heard, most, batches = Heard(), [0], []

    def process_batch(self: Any, key: Any, tups: Any) -> None:
        batches.append(len(tups))

    batching = type("Batching", (BatchingBolt,), {"process_batch": process_batch, "config": TICKS})
    builder = chained(counting_flight(heard, 10, most), batching)
    run_built(builder, {"stop": clock}, topology__max__spout__pending=3)
    assert (sorted(heard.acked), max(most)) == (list(range(10)), 3)
    assert batches == [3, 3, 3, 1]


@pytest.mark.parametrize("time", ["event", "logical", "ingest"])
def test_a_bounded_spout_that_is_merged_with_what_comes_of_it_goes_on(time: str) -> None:
    """Descendants of a tuple come after it and before the next one: it need not wait for that."""
    heard = Heard()

    def tuples(self: Any) -> Any:
        for n in IDS:
            self.emit([n], tup_id=n, **({"timestamp": n} if time == "event" else {}))
            yield None

    builder = TopologyBuilder()
    source = spout(tuples, config={"viper.spout.bounded": True}, **heard.hooks)
    builder.set_spout("source", source)
    builder.set_bolt("middle", passing()).shuffle_grouping("source")
    builder.set_bolt("end", ending()).shuffle_grouping("source").shuffle_grouping("middle")
    run = prepared(builder, {"duration_s": 30}, viper__time=time, topology__max__spout__pending=1)
    assert run.execute().reason == "exhausted"
    assert sorted(heard.acked) == list(IDS)


@pytest.mark.parametrize("par", [1, 2])
def test_a_bounded_spout_is_merged_with_what_a_tick_made_of_its_tuples(par: int, clock: FakeClock) -> None:
    heard = Heard()

    def process_batch(self: Any, key: Any, tups: Any) -> None:
        self.emit([len(tups)])

    batching = type(
        "Batching", (BatchingBolt,), {"process_batch": process_batch, "outputs": ["value"], "config": TICKS}
    )
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, IDS), par)
    builder.set_bolt("batches", batching).shuffle_grouping("source")
    builder.set_bolt("end", ending()).shuffle_grouping("source").shuffle_grouping("batches")
    limits = {"stop": clock, "duration_s": 100}
    run = prepared(builder, limits, viper__time="logical", topology__max__spout__pending=2)
    assert run.execute().reason == "exhausted"
    assert sorted(heard.acked) == sorted([*IDS] * par)


def test_batches_at_ticks_of_event_time_behind_a_bounded_spout_are_refused() -> None:
    batching = type("Batching", (BatchingBolt,), {"config": TICKS})
    source = spout(lambda self: iter(()), ["time"], config={"viper.timestamp.field": "time"})
    with pytest.raises(TopologyError, match="acks its batches at ticks of event time"):
        prepared(chained(source, batching), viper__time="event", topology__max__spout__pending=1)


# -- again


def test_what_fails_may_be_emitted_again_in_fail_when_the_generator_has_ended() -> None:
    heard, log = Heard(), []

    def fail(self: Any, tup_id: Any) -> None:
        heard.failed.append(tup_id)
        self.emit([tup_id], tup_id=tup_id)

    run_built(chained(tracked(heard, IDS, fail=fail), failing_first(2, log)))
    assert sorted(heard.acked) == list(IDS)
    assert sorted(heard.failed) == sorted([*IDS] * 2)
    assert sorted(log) == sorted([*IDS] * 3)


def test_what_fails_may_be_emitted_again_in_next_tuple_after_its_end() -> None:
    heard = Heard()

    def next_tuple(self: Any) -> None:
        self.waiting = getattr(self, "waiting", list(IDS))
        if not self.waiting:
            raise StopIteration
        n = self.waiting.pop(0)
        self.emit([n], tup_id=n)

    source = polled(next_tuple, **{**heard.hooks, "fail": lambda self, tup_id: self.waiting.append(tup_id)})
    run_built(chained(source, failing_first()))
    assert sorted(heard.acked) == list(IDS)


@pytest.mark.parametrize("tasks", [1, 3])
def test_what_one_spout_repeats_does_not_wait_for_another(tasks: int, clock: FakeClock) -> None:
    """Both have brought everything, and the other one still waits for an answer."""
    heard = Heard()
    again = {"fail": lambda self, tup_id: self.emit([tup_id], tup_id=tup_id)}

    def holds_other(self: Any, tup: Any) -> None:
        self.seen = [*getattr(self, "seen", ()), tup]
        values = [tup.values[0] for tup in self.seen]
        if tup.values[0] == "other":
            return
        if values.count(tup.values[0]) < 4:
            self.fail(tup)
            return
        self.ack(tup)
        if all(values.count(n) == 4 * tasks for n in IDS):
            [self.ack(kept) for kept in self.seen if kept.values[0] == "other"]

    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, IDS, **again), tasks)
    builder.set_spout("other", tracked(heard, ["other"], **again))
    waiting = ending(holds_other, auto_ack=False)
    builder.set_bolt("b1", waiting).shuffle_grouping("source").shuffle_grouping("other")
    options = {"topology__enable__message__timeouts": False}
    report = prepared(builder, {"stop": clock, "duration_s": 60}, **options).execute()
    assert len(heard.acked) == 6 * tasks + (report.reason == "exhausted")
    assert report.components["source"].failed >= 3 * 6


@pytest.mark.parametrize("base", ["ours", "streamparses"])
def test_a_reliable_spout_gives_up_in_the_end(base: str, streamparse: ModuleType) -> None:
    log: list[Any] = []

    def next_tuple(self: Any) -> None:
        self.n = getattr(self, "n", -1) + 1
        if self.n >= 3:
            raise StopIteration
        self.emit([self.n], tup_id=self.n)

    parent = ReliableSpout if base == "ours" else streamparse.ReliableSpout
    made = {"next_tuple": next_tuple, "outputs": ["value"], "max_fails": 2}
    source = type("Reliable", (parent,), made)
    report = run_built(chained(source, failing_first(1, log))).components["source"]
    assert (report.acked, report.failed, sorted(log)) == (3, 3, sorted([0, 1, 2] * 2))
    log.clear()
    report = run_built(chained(source, failing_first(99, log))).components["source"]
    assert (report.acked, report.failed, sorted(log)) == (0, 9, sorted([0, 1, 2] * 3))


def test_a_tuple_is_repeated_with_its_old_time() -> None:
    heard = Heard()

    def emit(self: Any, n: int) -> None:
        self.emit([n], tup_id=n, timestamp=n)

    def tuples(self: Any) -> Any:
        for n in IDS:
            emit(self, n)
            yield None

    source = spout(
        tuples,
        config={"viper.spout.bounded": True},
        ack=lambda self, tup_id: heard.ack(self, tup_id),
        fail=emit,
    )
    builder = built(source, bolt(failing_first().process))
    run_built(builder, viper__time="event", viper__slice__tuples=1)
    assert sorted(heard.acked) == list(IDS)


def test_sinks_ack_what_they_take() -> None:
    heard = Heard()
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, IDS))
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    assert run_built(builder).result("sink") == [(n,) for n in IDS]
    assert sorted(heard.acked) == list(IDS)
