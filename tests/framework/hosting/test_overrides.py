"""Methods of a component's own are called when pystorm calls them, and with the same arguments."""

from __future__ import annotations

import io
import json
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.components.component import LOGGER_PREFIX
from framework.operators.sinks import CollectingSink
from tests.framework.hosting import ported
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.pieces import listed, run_built
from tests.framework.runtime.workers.running import INLINE, Workers

TICK = None
INPUT = [100, 205, TICK, 1300, TICK, 2101, 2200, TICK]
"""Times in milliseconds, which are the values, a tick each second between them, and a last one."""
OPTIONS = {"rows": [[at] for at in INPUT if at], "topology__tick__tuple__freq__secs": 1}
NOTES = ("ack", "fail", "raised", "process", "process_tick", "process_batch")


def notes(lines: list[str]) -> list[str]:
    return [line for line in lines if line.split()[0] in NOTES]


def noted(caplog: pytest.LogCaptureFixture) -> list[str]:
    name = f"{LOGGER_PREFIX}.b1"
    return notes([record.getMessage() for record in caplog.records if record.name == name])


class _Ended(Exception):
    """The component has called `_exit`, which ends its process on Storm."""


@contextmanager
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, usr1 = list(root.handlers), root.level, signal.getsignal(signal.SIGUSR1)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for name in ("pystorm", "pystorm.component.b1"):
            logging.getLogger(name).setLevel(logging.NOTSET)
        signal.signal(signal.SIGUSR1, usr1)


def on_storm(cls: Any, folder: Path) -> list[str]:
    """Run a component in pystorm's own loop, to which Storm's messages are sent, and list its notes."""
    conf = {"topology.name": "t"}
    messages: list[Any] = [
        {"pidDir": str(folder), "conf": conf, "context": {"taskid": 1, "componentid": "b1"}}
    ]
    for number, at in enumerate(INPUT):
        source = ["__system", "__tick", -1, [1]] if at is TICK else ["source", "default", 2, [at]]
        comp, stream, task, values = source
        messages.append({"id": str(number), "comp": comp, "stream": stream, "task": task, "tuple": values})
    sent = "".join(f"{json.dumps(message)}\nend\n" for message in messages)
    output = io.BytesIO()

    class Once(cls):  # type: ignore[misc]
        def _exit(self, status: int) -> None:
            raise _Ended

    with _logging_as_before():
        component = Once(input_stream=io.BytesIO(sent.encode()), output_stream=output)
        with suppress(_Ended):
            component.run()
        component.serializer.output_stream.flush()
        answers = [json.loads(text) for text in output.getvalue().decode().split("\nend\n") if text]
    said = [one["msg"].rpartition(" - ")[2] for one in answers if one.get("command") == "log"]
    return notes(said)


@pytest.mark.parametrize("name", ["NotesAnswers", "NotesBatches"])
@both
def test_they_are_called_as_pystorm_calls_them(
    name: str, base: ModuleType, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER_PREFIX)
    expected = on_storm(getattr(ported, name), tmp_path)
    assert {line.split()[0] for line in expected} >= {"ack", "fail", "raised"}
    INLINE.run(chain(base.Timed, getattr(base, name)), **OPTIONS)
    found = noted(caplog)
    if (
        name == "NotesBatches"
    ):  # pystorm keeps the keys of batches that are done, so others come in their order
        assert found[:6] == expected[:6]
        found, expected = sorted(found), sorted(expected)
    assert found == expected


@both
@everywhere
def test_so_they_are_on_every_worker(
    workers: Workers, base: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOGGER_PREFIX)
    report = workers.run(chain(base.Timed, base.NotesAnswers), **OPTIONS)
    assert report.result("sink") == [(100,), (1300,), (2200,)]
    assert noted(caplog) == [
        *("process 100", "ack 100", "process 205", "raised odd 205", "fail 205"),
        *("process_tick tick", "ack tick", "process 1300", "ack 1300", "process_tick tick", "ack tick"),
        *("process 2101", "raised odd 2101", "fail 2101", "process 2200", "ack 2200"),
        *("process_tick tick", "ack tick"),
    ]
    counters = report.components["b1"]
    assert (counters.acked, counters.failed, counters.errors) == (3, 2, 2)


def tracked(*rows: Any) -> Any:
    """A spout that emits values with ids, and notes what became of them."""
    from framework import Spout

    class Tracked(Spout):
        outputs = ["value"]

        def initialize(self, conf: Any, context: Any) -> None:
            self.rows = iter(rows)

        def next_tuple(self) -> None:
            value = next(self.rows)
            self.emit([value], tup_id=value)

        def ack(self, tup_id: Any) -> None:
            self.logger.info("acked %s", tup_id)

        def fail(self, tup_id: Any) -> None:
            self.logger.info("failed %s", tup_id)

    return Tracked


@both
def test_the_spout_hears_of_it(base: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER_PREFIX)
    report = run_built(chain(tracked(0, 1, 2), base.NotesAnswers))
    assert [m for m in caplog.messages if "ed " in m and "raised" not in m and "ack " not in m] == [
        "acked 0",
        "failed 1",
        "acked 2",
    ]
    assert (report.components["source"].acked, report.components["source"].failed) == (2, 1)
    assert report.components["b1"].second_answers == 0


@both
def test_methods_may_be_replaced_in_initialize(base: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    class Wraps(base.Bolt):  # type: ignore[misc,name-defined]
        outputs: Any = []

        def initialize(self, conf: Any, context: Any) -> None:
            ack = self.ack

            def counting(tup: Any) -> None:
                self.logger.warning("counts %s", tup.values[0])
                ack(tup)

            self.ack = counting

        def process(self, tup: Any) -> None:
            pass

    builder = TopologyBuilder()
    builder.set_spout("source", tracked(0, 1))
    builder.set_bolt("b1", Wraps).shuffle_grouping("source")
    report = run_built(builder)
    assert [text for text in caplog.messages if "counts" in text] == ["counts 0", "counts 1"]
    assert report.components["source"].acked == 2


@both
def test_an_ack_that_is_kept_back_is_none(base: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    """A class may ack later what pystorm has it ack: here at the next tuple."""
    caplog.set_level(logging.INFO, LOGGER_PREFIX)

    class Later(base.Bolt):  # type: ignore[misc,name-defined]
        outputs: Any = []
        kept: Any = None

        def process(self, tup: Any) -> None:
            self.logger.info("process %s", tup.values[0])

        def ack(self, tup: Any) -> None:
            if self.kept is not None:
                super().ack(self.kept)
            self.kept = tup
            if tup.values[0] == 2:
                super().ack(tup)

    builder = TopologyBuilder()
    builder.set_spout("source", tracked(0, 1, 2))
    builder.set_bolt("b1", Later).shuffle_grouping("source")
    report = run_built(builder)
    assert report.components["source"].acked == 3
    assert report.components["b1"].second_answers == 0


def test_a_bolt_that_restarts_answers_too(streamparse: Any, caplog: pytest.LogCaptureFixture) -> None:
    """pystorm calls `_handle_run_exception`, "right before program exits"."""
    caplog.set_level(logging.INFO, LOGGER_PREFIX)

    class Handles(streamparse.Bolt):
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            if tup.values[0] == 1:
                raise ValueError("one")
            self.emit([tup.values[0]])

        def _handle_run_exception(self, exc: Any) -> None:
            self.logger.info("handles %s of %s", exc, self._current_tups[0].values[0])
            super()._handle_run_exception(exc)

    report = run_built(chain(tracked(0, 1, 2), Handles))
    assert report.result("sink") == [(0,), (2,)]
    assert "handles one of 1" in caplog.messages
    assert (report.components["b1"].restarts, report.components["b1"].errors) == (1, 1)
    assert report.components["source"].failed == 1


def test_what_raises_in_its_turn_is_told_and_no_more(
    streamparse: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Worse(streamparse.Bolt):
        outputs = ["value"]
        exit_on_exception = False

        def process(self, tup: Any) -> None:
            if tup.values[0] == 1:
                raise ValueError("one")
            self.emit([tup.values[0]])

        def raise_exception(self, exception: Any, tup: Any = None) -> None:
            raise KeyError("worse")

    assert run_built(chain(listed([0], [1], [2]), Worse)).result("sink") == [(0,), (2,)]
    assert caplog.text.count("ValueError: one") == 1
    assert "KeyError: 'worse'" in caplog.text


@both
def test_a_spout_reports_in_its_own_way(base: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER_PREFIX)

    class Fragile(base.Spout):  # type: ignore[misc,name-defined]
        outputs = ["value"]
        exit_on_exception = False
        calls = 0

        def next_tuple(self) -> None:
            self.calls += 1
            if self.calls == 1:
                raise ValueError("first")
            if self.calls == 3:
                raise StopIteration
            self.emit([self.calls])

        def raise_exception(self, exception: Any, tup: Any = None) -> None:
            self.logger.info("reports %s %s", exception, tup)
            super().raise_exception(exception)

    builder = TopologyBuilder()
    builder.set_spout("source", Fragile)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    report = run_built(builder)
    assert report.result("sink") == [(2,)]
    assert "reports first None" in caplog.messages
    assert report.components["source"].errors == 1


def test_setting_up_is_seen_and_leaves_the_process_alone(
    streamparse: Any, caplog: pytest.LogCaptureFixture
) -> None:
    handlers = list(logging.getLogger().handlers)

    class SetsUp(streamparse.Bolt):
        outputs = ["value"]

        def _setup_component(self, storm_conf: Any, context: Any) -> None:
            super()._setup_component(storm_conf, context)
            self.mine = (
                self.component_name,
                self.task_id == context["taskid"],
                self.storm_conf is storm_conf,
            )

        def initialize(self, conf: Any, context: Any) -> None:
            self.seen = (self.mine, self.context is context)

        def process(self, tup: Any) -> None:
            self.emit([self.seen])

    assert run_built(chain(listed(["user-id"]), SetsUp)).result("sink") == [((("b1", True, True), True),)]
    assert logging.getLogger().handlers == handlers


def test_messages_and_tuples_pass_through_methods_of_its_own(streamparse: Any) -> None:
    class Reads(streamparse.Bolt):
        outputs = ["value"]
        sent = 0

        def read_tuple(self) -> Any:
            tup = super().read_tuple()
            return tup._replace(values=(tup.values[0].upper(),))

        def send_message(self, message: Any) -> None:
            if message["command"] == "emit":
                message["tuple"] = [*message["tuple"], "sent"]
            super().send_message(message)

        def process(self, tup: Any) -> None:
            self.emit([tup.values[0]])

    class Two(Reads):
        outputs = ["value", "how"]

    assert run_built(chain(listed(["a"], ["b"]), Two)).result("sink") == [("A", "sent"), ("B", "sent")]


def test_what_counts_as_a_tick_is_for_the_class_to_say(streamparse: Any) -> None:
    class Own(streamparse.Bolt):
        outputs = ["value"]

        @staticmethod
        def is_tick(tup: Any) -> bool:
            return bool(tup.values[0] == "tick")

        def process_tick(self, tup: Any) -> None:
            self.emit(["a tick"])

        def process(self, tup: Any) -> None:
            self.emit([tup.values[0]])

    assert run_built(chain(listed(["a"], ["tick"]), Own)).result("sink") == [("a",), ("a tick",)]


def test_a_timer_asks_for_batches_without_any_too(streamparse: Any) -> None:
    """pystorm's thread calls `process_batches` after each pause, whatever has been gathered."""
    from framework.frontends.streamparse.construction import construct
    from framework.frontends.streamparse.ported_host import PortedHost

    class Counts(streamparse.TicklessBatchingBolt):
        calls = 0

        def process_batches(self) -> None:
            self.calls += 1
            super().process_batches()

    host = PortedHost(construct(Counts))
    host.fire_batches()
    assert host.component.calls == 1


def test_bolts_that_pystorm_does_not_have_are_answered_for_as_before() -> None:
    from framework import BatchBolt, Bolt, JoinBolt, SharedTable, StatefulBolt, WindowedBolt
    from framework.runtime.tasks.hosts.host import Host

    def acks(self: Any, tup: Any) -> None: ...

    for base in (BatchBolt, JoinBolt, StatefulBolt, WindowedBolt):
        own = type("Own", (base,), {"ack": acks})
        assert not Host(own.__new__(own)).answers_by_methods
    table = SharedTable("t", columns={"n": "int64"}, rows=10)
    transacts = type("Own", (Bolt,), {"ack": acks, "tables": (table,)})
    assert not Host(transacts()).answers_by_methods
    assert Host(type("Own", (Bolt,), {"ack": acks})()).answers_by_methods


def test_a_component_of_streamparses_may_call_anything_tables(streamparse: Any) -> None:
    from framework.frontends.streamparse.construction import construct
    from framework.frontends.streamparse.ported_host import PortedHost

    class Own(streamparse.Bolt):
        tables = ("orders", "users")

        def ack(self, tup: Any) -> None: ...

    assert PortedHost(construct(Own)).answers_by_methods
