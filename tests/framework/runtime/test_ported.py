"""streamparse's components, run as they are."""

from __future__ import annotations

import logging
import signal
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework import Stream, TopologyBuilder
from framework.frontends.loading import load
from framework.model.config import resolve
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.runtime import run
from tests.framework.runtime.pieces import built, listed, run_built

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("project", ["quickstart", "quickstart_framework"])
def test_the_quickstart_project_runs(project: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    topology = load(str(FIXTURES / project / "topologies" / "wordcount.py")).topology
    assert topology is not None
    settings, _ = resolve(topology)
    report = run(make_plan(topology, settings), settings, max_tuples=4000)
    assert report.components["word_spout"].emitted == 4000
    assert report.components["count_bolt"].processed == report.components["count_bolt"].emitted == 4000
    assert "counted [1,000] words" in caplog.text


def made(streamparse: ModuleType, base: str, **attributes: Any) -> Any:
    return type("Ported", (getattr(streamparse, base),), {"outputs": ["value"], **attributes})


def counting(streamparse: ModuleType, last: int, base: str = "Spout", **attributes: Any) -> Any:
    """A spout that emits 0, 1, ... with themselves as ids, and ends."""

    def next_tuple(self: Any) -> None:
        self.n = getattr(self, "n", -1) + 1
        if self.n == last:
            raise StopIteration
        self.emit([self.n], tup_id=self.n)

    return made(streamparse, base, next_tuple=next_tuple, **attributes)


def test_tuples_are_pystorms_with_named_values(streamparse: ModuleType) -> None:
    import pystorm

    seen: list[Any] = []
    inspecting = made(streamparse, "Bolt", process=lambda self, tup: seen.append(tup))
    run_built(built(listed(["x", 1], outputs=["word", "user-id"]), inspecting))
    (tup,) = seen
    assert type(tup) is pystorm.Tuple
    assert (tup.component, tup.stream, tup.task) == ("source", "default", 3)
    assert isinstance(tup.values, tuple)
    assert (tup.values.word, tup.values._1, type(tup.values).__name__) == ("x", 1, "SourceDefaultTuple")
    assert (*tup.values, "y") == ("x", 1, "y")
    assert pystorm.Bolt.is_tick(tup) is False


def test_log_metrics_and_reported_exceptions(
    streamparse: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def process(self: Any, tup: Any) -> None:
        self.log("by log", level="warn")
        self.logger.info("by logger")
        self.report_metric("seen", 5)
        try:
            raise ValueError("reported")
        except ValueError as error:
            self.raise_exception(error, tup)
        self.emit(["went on"])

    report = run_built(built(listed(["x"]), made(streamparse, "Bolt", process=process)))
    assert report.result("sink") == [("went on",)]
    counters = report.components["b1"]
    assert (counters.metrics, counters.errors) == ({"seen": 5}, 1)
    said = {(r.name, r.levelname, r.getMessage()) for r in caplog.records}
    assert ("viperstorm.component.b1", "WARNING", "by log") in said
    assert ("viperstorm.component.b1", "INFO", "by logger") in said
    assert "ValueError: reported" in caplog.text


def test_a_fail_before_the_automatic_ack_is_harmless(streamparse: ModuleType) -> None:
    def process(self: Any, tup: Any) -> None:
        self.fail(tup)
        self.emit(["went on"])

    report = run_built(built(listed(["x"], ["y"]), made(streamparse, "Bolt", process=process)))
    assert report.result("sink") == [("went on",)] * 2
    assert report.components["b1"].failed == 2


def test_a_reliable_spout_is_acked_at_its_emit(streamparse: ModuleType) -> None:
    waiting: list[int] = []

    def deactivate(self: Any) -> None:
        waiting.append(len(self.unacked_tuples))

    reliable = counting(streamparse, 5, "ReliableSpout", deactivate=deactivate)
    assert run_built(built(reliable)).result("sink") == [(n,) for n in range(5)]
    assert waiting == [0]


def test_ids_come_back_at_the_emit_also_in_initialize(streamparse: ModuleType) -> None:
    acked: list[Any] = []

    def initialize(self: Any, conf: Any, context: Any) -> None:
        self.emit(["early"], tup_id="early")

    spout = counting(streamparse, 2, initialize=initialize, ack=lambda self, tup_id: acked.append(tup_id))
    assert run_built(built(spout)).result("sink") == [("early",), (0,), (1,)]
    assert acked == ["early", 0, 1]


def test_batching_bolts_fire_on_ticks(streamparse: ModuleType) -> None:
    def process_batch(self: Any, key: Any, tups: list[Any]) -> None:
        self.emit([[key, *(tup.values[0] for tup in tups)]])

    batching = made(
        streamparse,
        "BatchingBolt",
        process_batch=process_batch,
        group_key=lambda self, tup: tup.values[0] % 2,
    )
    source = listed(*([t] for t in (100, 501, 1200, 2300, 3401)), config={"viper.timestamp.field": "value"})
    rows = run_built(built(source, batching), topology__tick__tuple__freq__secs=1).result("sink")
    assert rows == [([0, 100, 1200],), ([1, 501],), ([0, 2300],), ([1, 3401],)]


def test_tickless_batching_bolts_have_no_thread_and_leave_signals_alone(streamparse: ModuleType) -> None:
    threads: list[set[str]] = []

    def process_batch(self: Any, key: Any, tups: list[Any]) -> None:
        threads.append({thread.name for thread in threading.enumerate()})
        self.emit([len(tups)])

    before = {thread.name for thread in threading.enumerate()}, signal.getsignal(signal.SIGUSR1)
    tickless = made(streamparse, "TicklessBatchingBolt", process_batch=process_batch, secs_between_batches=60)
    assert run_built(built(listed([1], [2], [3]), tickless)).result("sink") == [(3,)]
    assert threads[0] <= before[0] | {"viper-watch"}
    assert ({thread.name for thread in threading.enumerate()}, signal.getsignal(signal.SIGUSR1)) == before


def test_properties_that_raise_before_initialize_are_left_alone(streamparse: ModuleType) -> None:
    class Touchy(streamparse.Bolt):  # type: ignore[name-defined,misc]
        outputs = ["value"]

        @property
        def conf(self) -> Any:
            if not hasattr(self, "_conf"):
                raise RuntimeError("not initialized")
            return self._conf

        tuples = close = cleanup = consume = result = conf

        def initialize(self, conf: Any, context: Any) -> None:
            self._conf = conf
            self.name = self.pid = self.task = self.host = "mine"

        def process(self, tup: Any) -> None:
            self.emit([self.conf["topology.name"]])

    assert run_built(built(listed([1]), Touchy)).result("sink") == [("tested",)]


def test_receivers_and_direct_tasks(streamparse: ModuleType) -> None:
    told: list[Any] = []

    def process(self: Any, tup: Any) -> None:
        told.append(self.emit([1], need_task_ids=True))
        told.append(self.emit([2], stream="to", direct_task=2, need_task_ids=True))
        told.append(self.emit([3]))

    asking = made(streamparse, "Bolt", process=process)
    asking.outputs = [Stream(["value"]), Stream(["value"], name="to", direct=True)]
    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"]))
    builder.set_bolt("asking", asking).shuffle_grouping("source")
    builder.set_bolt("any", CollectingSink).global_grouping("asking")
    builder.set_bolt("direct", CollectingSink, 2).direct_grouping("asking", stream="to")
    builder.set_bolt("asked", CollectingSink).direct_grouping("asking", stream="to").global_grouping("asking")
    report = run_built(builder)
    assert told == [[1, 2], [2], None]
    assert report.result("any") == [(1,), (3,)]


def test_an_exception_names_the_component_and_its_tuple(streamparse: ModuleType) -> None:
    failing = made(streamparse, "Bolt", process=lambda self, tup: 1 // 0)
    failing.config = {"viper.on.error": "stop"}
    with pytest.raises(ComponentError, match=r"'b1', task 1, in process: ZeroDivisionError.*\n.*Tuple\(id="):
        run_built(built(listed(["x"]), failing))


def test_exit_on_exception_false_gives_up_the_failing_batch_only(streamparse: ModuleType) -> None:
    def process_batch(self: Any, key: Any, tups: list[Any]) -> None:
        if key == 1:
            raise ValueError("odd")
        self.emit([[tup.values[0] for tup in tups]])

    batching = made(
        streamparse,
        "BatchingBolt",
        process_batch=process_batch,
        group_key=lambda self, tup: tup.values[0] % 3,
        exit_on_exception=False,
    )
    source = listed(*([t] for t in (0, 1, 2, 3000, 3003)), config={"viper.timestamp.field": "value"})
    report = run_built(built(source, batching), topology__tick__tuple__freq__secs=1)
    assert report.result("sink") == [([0],), ([2],), ([3000, 3003],)]
    assert report.components["b1"].errors == 1


def test_ported_components_with_own_emits_have_threads_messages_and_ids(streamparse: ModuleType) -> None:
    """A component that overrides emit goes through pystorm's own messages."""

    def emit(self: Any, tup: Any, **options: Any) -> Any:
        return super(ported, self).emit([tup[0] * 2], **options)

    ported = made(streamparse, "Bolt", emit=emit, process=lambda self, tup: self.emit(list(tup.values)))
    assert run_built(built(listed([1], [2]), ported)).result("sink") == [(2,), (4,)]
