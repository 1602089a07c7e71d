"""The callbacks that are reported to take long, by what can be seen of them from another thread."""

from __future__ import annotations

import logging
import signal
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from framework.runtime.coordination.signals import asked_by_sigquit
from framework.runtime.execution import watchdog as watch_module
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.stacks import Stack, stack_of
from framework.runtime.execution.watchdog import Watch

THREAD = 1


class Stub(SimpleNamespace):
    __hash__ = object.__hash__  # as an executor's


class Seen:
    """An executor that calls a task, and a watch that looks at it at times that are made up."""

    def __init__(self, after_s: float | None = 30, *, blocks: bool = False) -> None:
        context = SimpleNamespace(
            spec=SimpleNamespace(component="count", id=4),
            counters=SimpleNamespace(ticks=0, emitted=0),
            logger=logging.getLogger("viperstorm.component.count"),
        )
        running: Any = SimpleNamespace(
            name="count:4",
            context=context,
            slot=SimpleNamespace(waiting_rows=0, host=SimpleNamespace(waits_for=None)),
            last_begun=1,
            waits_for_world=blocks,
        )
        self.running, self.counters = running, context.counters
        self.executor: Any = Stub(current=running, calls=1, turns=1, rests=Stub(count=0), tasks=[running])
        self.executor.instead_of_a_callback = lambda task: "waits for input"
        self.watch = Watch({THREAD: self.executor}, {"count": after_s})

    def look(self, *times_s: float) -> None:
        for time_s in times_s:
            self.watch.look(time_s)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(watch_module, "stack_of", lambda *_: Stack("process", "  File ...", False))
    return caplog


STUCK = "count:4 has been in process for 30 s:\n  File ..."


def test_a_call_is_told_once_and_when_it_returns(log: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    seen.look(0, 29.5)
    assert log.messages == []
    seen.look(30, 60, 74)
    seen.executor.current = None
    seen.look(75)
    seen.look(76)
    assert log.messages == [STUCK, "count:4 returned from process after 75 s"]


def test_a_call_that_waits_for_somebody_else_says_so_instead_of_frames_of_ours(
    log: pytest.LogCaptureFixture,
) -> None:
    seen = Seen()
    seen.running.slot.host.waits_for = "the program has not answered"
    seen.look(0, 30)
    assert log.messages == ["count:4 has been in process for 30 s:\nthe program has not answered"]


def test_the_next_call_is_told_again(log: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    seen.look(0, 30)
    seen.running.last_begun += 1
    seen.look(31, 61)
    assert log.messages == [STUCK, "count:4 returned from process after 31 s", STUCK]


@pytest.mark.parametrize(
    "go_on",
    [
        lambda seen: setattr(seen.executor, "calls", seen.executor.calls + 1),
        lambda seen: setattr(seen.executor.rests, "count", seen.executor.rests.count + 1),
        lambda seen: setattr(seen.executor, "turns", seen.executor.turns + 1),
        lambda seen: setattr(seen.running, "last_begun", seen.running.last_begun + 1),
        lambda seen: setattr(seen.counters, "ticks", seen.counters.ticks + 1),
        lambda seen: setattr(seen.running.slot, "waiting_rows", seen.running.slot.waiting_rows + 1),
    ],
    ids=["slices", "waits for room", "runs others", "tuples", "ticks", "emits"],
)
def test_what_gets_on_is_not_stuck(log: pytest.LogCaptureFixture, go_on: Any) -> None:
    seen = Seen()
    for time_s in range(100):
        seen.look(time_s)
        go_on(seen)
    assert log.messages == []


def test_a_call_that_went_on_for_a_while_is_told_of_its_whole_time_at_the_end(
    log: pytest.LogCaptureFixture,
) -> None:
    seen = Seen()
    seen.look(0, 20)
    seen.running.slot.waiting_rows += 1
    seen.look(21, 50)
    assert log.messages == []
    seen.look(51)
    seen.executor.current = None
    seen.look(52)
    assert log.messages == [STUCK, "count:4 returned from process after 52 s"]


@pytest.mark.parametrize("after_s", [None, 0])
def test_it_may_be_never(log: pytest.LogCaptureFixture, after_s: float | None) -> None:
    Seen(after_s=after_s).look(0, 1e6)
    assert log.messages == []


def test_a_spout_that_blocks_waits_by_nature(log: pytest.LogCaptureFixture) -> None:
    Seen(blocks=True).look(0, 1e6)
    assert log.messages == []


def test_who_is_being_debugged_is_left_alone(
    log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "stack_of", lambda *_: Stack("process", "", True))
    Seen().look(0, 1e6)
    assert log.messages == []


def test_a_call_is_long_after_a_second_without_anything(log: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    seen.look(0)
    assert seen.watch.long_callbacks(0.9) == {}
    (callback,) = seen.watch.long_callbacks(12.3).values()
    assert str(callback) == "count:4 has been in process for 12 s"
    seen.running.last_begun += 1  # which the watch has not looked at as yet
    assert seen.watch.long_callbacks(12.4) == {}


def test_a_spout_that_blocks_is_not_long_in_its_callback(log: pytest.LogCaptureFixture) -> None:
    seen = Seen(blocks=True)
    seen.look(0)
    assert seen.watch.long_callbacks(100) == {}


def test_on_request_all_stacks_are_told(log: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    seen.watch.tell_stacks()
    seen.executor.current = None
    seen.watch.tell_stacks()
    outside = "no task is in a callback: count:4 waits for input"
    assert log.messages == ["count:4 is in process:\n  File ...", outside]


def test_a_stack_begins_with_the_callback() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def callback() -> int:
        inside.set()
        go_on.wait()
        return 0

    executor: Any = object.__new__(Executor)
    executor.current, executor.calls, executor._in_callbacks = None, 0, []
    running: Any = SimpleNamespace()
    thread = threading.Thread(target=Executor.call, args=(executor, running, callback))
    thread.start()
    inside.wait()
    stack = stack_of(thread.ident or 0, Executor.call.__code__)
    go_on.set()
    thread.join()
    assert stack is not None
    assert (stack.callback, stack.in_debugger) == ("callback", False)
    assert stack.text.splitlines()[0].endswith("in callback")
    assert "executor.py" not in stack.text
    assert stack_of(thread.ident or 0, Executor.call.__code__) is None


class TestSigquit:
    def test_it_asks_and_means_afterwards_what_it_did_before(self) -> None:
        before, asked = signal.getsignal(signal.SIGQUIT), []
        with asked_by_sigquit(lambda: asked.append(1)):
            signal.raise_signal(signal.SIGQUIT)
        assert asked == [1]
        assert signal.getsignal(signal.SIGQUIT) is before

    def test_who_ignores_it_goes_on_ignoring_it(self) -> None:
        before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
        try:
            with asked_by_sigquit(lambda: pytest.fail("asked")):
                signal.raise_signal(signal.SIGQUIT)
        finally:
            signal.signal(signal.SIGQUIT, before)

    def test_other_threads_than_the_main_one_leave_it_alone(self) -> None:
        found: list[Any] = []

        def enter() -> None:
            with asked_by_sigquit(lambda: None):
                found.append(signal.getsignal(signal.SIGQUIT))

        before = signal.getsignal(signal.SIGQUIT)
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        assert found == [before]
