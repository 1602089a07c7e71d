"""A component that decides itself when it answers holds the end of a run, or of its part, until it has."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder, Tuple
from framework.cli.run import summary_lines
from framework.frontends.builder import shell
from framework.model.errors import EmitError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.order.tracking.answers import Unanswered
from tests.framework.frontends.multilang.conftest import Script, script
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.partitioned import expected_rows
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.test_unroutable import COUNT, Counting, Polled
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind

__all__ = ["script"]

WORK_S = 0.1
"""The time that an answer takes. No verdict hangs on it: without the wait nothing, or little, comes."""
ALL = sorted((n,) for n in range(COUNT))


class Late(Bolt):
    """Works in a pool of threads, and acks when it has emitted."""

    outputs = ["number"]
    auto_ack = False
    auto_anchor = False

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._pool = ThreadPoolExecutor(COUNT)

    def process(self, tup: Any) -> None:
        self._pool.submit(self._work, tup)

    def _work(self, tup: Any) -> None:
        time.sleep(WORK_S)
        self.emit([tup.values[-1]], anchors=[tup])
        self.ack(tup)


class Asynchronous(Late):
    """Works in an event loop of its own."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def process(self, tup: Any) -> None:
        asyncio.run_coroutine_threadsafe(self._answer(tup), self._loop)

    async def _answer(self, tup: Any) -> None:
        await asyncio.sleep(WORK_S)
        self.emit([tup.values[-1]])
        self.ack(tup)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Failing(Late):
    """Emits, and fails each tuple."""

    def _work(self, tup: Any) -> None:
        self.emit([tup.values[-1]], anchors=[tup])
        self.fail(tup)


class Silent(Bolt):
    """Never answers."""

    outputs = ["number"]
    auto_ack = False

    def process(self, tup: Any) -> None:
        self.emit([tup.values[-1]])


def chained(*bolts: Any, spout: Any = Counting) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    before = "source"
    for number, bolt in enumerate(bolts):
        before, source = f"b{number}", before
        builder.set_bolt(before, bolt, 2).shuffle_grouping(source)
    builder.set_bolt("sink", CollectingSink).global_grouping(before)
    return builder


def check(report: RunReport) -> None:
    assert sorted(report.result("sink")) == ALL
    assert report.drained and report.lost == 0
    assert not any(counters.unanswered for counters in report.components.values())


@every_kind
@pytest.mark.parametrize("bolts", [[Late], [Asynchronous], [Late, Late]], ids=["pool", "asyncio", "two"])
def test_the_end_of_the_input_waits(bolts: list[Any], workers: Workers) -> None:
    check(workers.run(chained(*bolts)))


@every_kind
def test_so_it_does_for_components_of_streamparse(streamparse: ModuleType, workers: Workers) -> None:
    if workers is PROCESSES:
        pytest.skip("a class that is made here cannot be imported there")
    names = ("initialize", "process", "_work", "outputs", "auto_ack", "auto_anchor")
    ported = type("Ported", (streamparse.Bolt,), {name: vars(Late)[name] for name in names})
    check(workers.run(chained(ported)))


@pytest.mark.parametrize("options", [{"topology__acker__executors": 0}, {}], ids=["untracked", "tracked"])
def test_so_it_does_behind_a_spout_with_ids(options: dict[str, Any]) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Polled)
    builder.set_bolt("b0", Late, 2).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("b0")
    check(run_built(builder, **options))


def test_a_tuple_that_fails_is_answered() -> None:
    report = run_built(chained(Failing))
    check(report)
    assert report.components["b0"].failed == COUNT


@every_kind
def test_so_does_a_drain(workers: Workers) -> None:
    report = workers.run(chained(Late), {"max_tuples": COUNT - 5})
    assert len(report.result("sink")) == report.emitted >= COUNT - 5
    assert (report.drained, report.lost) == (True, 0)


def test_a_run_that_is_stopped_waits_for_it() -> None:
    stop = StopSignal()

    class Stopping(Late):
        def process(self, tup: Any) -> None:
            super().process(tup)
            stop.request(StopReason.INTERRUPTED)

    report = run_built(chained(Stopping), {"stop": stop})
    assert len(report.result("sink")) == report.emitted > 0
    assert (report.reason, report.drained) == (StopReason.INTERRUPTED, True)


@every_kind
def test_what_is_never_answered_is_counted_and_named(
    workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    report = workers.run(chained(Silent), viper__drain__timeout__secs=0.2)
    assert sorted(report.result("sink")) == ALL
    assert (report.components["b0"].unanswered, report.drained) == (COUNT, False)
    line = f"  b0: {COUNT} tuples that it has received were neither acked nor failed; "
    assert any(found.startswith(line) for found in summary_lines(report))
    if workers is INLINE:
        said = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
        assert sum("tuples within 0.2 s (viper.drain.timeout.secs)" in one for one in said) == 2


def test_what_a_component_held_that_is_made_anew_is_lost() -> None:
    class Dies(Silent):
        def process(self, tup: Any) -> None:
            if tup.values[0] == COUNT - 1:
                raise ValueError("at the last one")

    builder = chained(Dies)
    report = run_built(builder, viper__on__error="restart", viper__drain__timeout__secs=0.2)
    of_the_other = report.components["b0"].unanswered
    assert 0 < of_the_other < COUNT and report.lost == COUNT - of_the_other


def test_a_suspended_run_has_all_that_comes_of_its_input(tmp_path: Path) -> None:
    builder = chained(Late, spout=Suspending(4, 100, 1, os.getpid(), 30))
    before = run_suspended(builder, tmp_path).result("sink")
    behind = run_built(
        chained(Late, spout=Suspending(4, 100, 1)), {"start": tmp_path, "checkpoints": tmp_path}
    ).result("sink")
    assert sorted([*before, *behind]) == sorted((row[-1],) for row in expected_rows(4, 100, 1))


def test_a_thread_that_nothing_waits_for_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """The bolt is acked for, so that nobody knows of its thread."""
    is_over, refused = threading.Event(), list[BaseException]()

    def emit_late(bolt: Bolt) -> None:
        is_over.wait()
        for number in range(2):
            try:
                bolt.emit([number])
            except EmitError as error:
                refused.append(error)

    class Acked(Bolt):
        outputs = ["number"]

        def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
            self.thread = threading.Thread(target=emit_late, args=(self,))
            self.thread.start()
            threads.append(self.thread)

        def process(self, tup: Any) -> None:
            pass

    threads: list[threading.Thread] = []
    report = run_built(chained(Acked))
    is_over.set()
    for thread in threads:
        thread.join()
    assert report.drained and len(refused) == 2 * len(threads)
    said = "a thread of the component emits after its task has ended"
    assert sum(said in record.getMessage() for record in caplog.records) == len(threads)


def test_ids_that_are_not_kept_are_counted() -> None:
    unanswered, told = Unanswered(2), list[int]()
    unanswered.watch(lambda: told.append(len(unanswered)))
    tuples = [Tuple(str(number), "source", "default", 1, ()) for number in range(4)]
    for tup in tuples:
        unanswered.receive(tup)
    assert len(unanswered) == 4
    unanswered.answer("3")
    unanswered.answer("3")
    unanswered.answer(tuples[2])
    assert (len(unanswered), told) == (2, [])
    assert (unanswered.let_go(), len(unanswered)) == (2, 0)
    unanswered.receive(tuples[0])
    unanswered.answer("0")
    assert told == [0]


# -- programs

BACKGROUND = """
    import queue, threading, time, speaking

    jobs = queue.Queue()

    def work():
        while (tup := jobs.get()) is not None:
            time.sleep(0.02)
            speaking.emit(tup["tuple"], anchors=[tup], need_task_ids=False)
            {answer}

    worker = threading.Thread(target=work)
    worker.start()
    try:
        speaking.run_bolt(jobs.put, acks=False)
    except SystemExit:
        jobs.put(None)
        worker.join()
    """
AT_ITS_END = """
    import speaking

    held = []
    try:
        speaking.run_bolt(held.append, acks=False)
    except SystemExit:
        for tup in held:
            speaking.emit(tup["tuple"], anchors=[tup], need_task_ids=False)
            {answer}
    """
ACKS, NOTHING = "speaking.ack(tup)", "pass"


def with_program(command: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Counting)
    builder.set_bolt("b0", shell(*command, outputs=["number"]), 2).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("b0")
    return builder


@every_kind
def test_a_program_in_the_background_is_waited_for(script: Script, workers: Workers) -> None:
    check(workers.run(with_program(script(BACKGROUND.format(answer=ACKS)))))


@pytest.mark.parametrize("text", [BACKGROUND, AT_ITS_END], ids=["background", "at its end"])
@pytest.mark.parametrize("answer", [ACKS, NOTHING], ids=["acks", "none"])
def test_what_a_program_says_behind_its_input_is_taken(script: Script, text: str, answer: str) -> None:
    builder = with_program(script(text.format(answer=answer)))
    report = run_built(builder, viper__drain__timeout__secs=0.5)
    assert sorted(report.result("sink")) == ALL
    left = COUNT if answer is NOTHING else 0
    assert (report.components["b0"].unanswered, report.drained) == (left, not left)


@pytest.mark.slow(daily=True)
def test_so_it_is_where_the_run_drains(script: Script) -> None:
    builder = with_program(script(AT_ITS_END.format(answer=ACKS)))
    report = run_built(builder, {"max_tuples": COUNT}, viper__drain__timeout__secs=8)
    assert sorted(report.result("sink")) == ALL and report.drained
