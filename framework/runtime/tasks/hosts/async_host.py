"""The host of a bolt with coroutine functions: its callbacks are called by an event loop in a thread.

A call of the bolt may so wait without holding up its task. Nothing that the bolt does in a call reaches the
task at once: emits and answers are kept with the call, and the task does them in its place when it comes to
the tuple. A coroutine knows its call by a context variable, which the tasks that it creates inherit.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import Any

from framework.model.errors import EmitError
from framework.operators.components.collector import EmitResult
from framework.operators.log import Origin, speaking_as
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.tasks.hosts.host import Host, Identity


class Call:
    """One call of a component: what it does there, in order, until its task does the same.

    Args:
        on_done: called with this on the thread of the event loop when the component has returned.
    """

    __slots__ = ("_lock", "_on_done", "_steps", "error", "is_done", "tup")

    def __init__(self, on_done: Callable[[Call], None], tup: Any = None) -> None:
        self.tup = tup
        """The tuple that it is for; None for another call."""
        self.error: BaseException | None = None
        """The exception that the component has raised; None while there is none."""
        self.is_done = False
        """True if the component has returned or raised."""
        self._on_done = on_done
        self._steps: list[Callable[[], object]] = []
        self._lock = threading.Lock()  # as functions that `asyncio.to_thread` runs may emit

    def note(self, step: Callable[[], object]) -> bool:
        """Keep a step for the task; False if the call is over."""
        with self._lock:
            if not self.is_done:
                self._steps.append(step)
            return not self.is_done

    def end(self, error: BaseException | None) -> None:
        """Note that the component has returned, or what it has raised."""
        with self._lock:
            self.error, self.is_done = error, True
        self._on_done(self)

    def again(self) -> Call:
        """The call that takes its place when the component is made again: itself if it is over."""
        return self if self.is_done else Call(self._on_done, self.tup)

    def replay(self) -> None:
        """Do in the task what the component has done, and raise what it has raised."""
        steps, self._steps = self._steps, []
        for step in steps:
            step()
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = None


_call: ContextVar[Call | None] = ContextVar("viper_call", default=None)
"""The call that a coroutine, or a thread of `asyncio.to_thread`, belongs to."""


_Begin = tuple[Call, Callable[..., Any], tuple[Any, ...], Context]
"""A call, the function that is called, its arguments, and the context that the call gets a copy of."""


class CallCollector:
    """Takes what a component does in a call; the task's own collector gets it when the call is replayed.

    Args:
        component: its id, for messages.
        collector: the task's.
    """

    tells_receivers = False

    def __init__(self, component: str, collector: TaskCollector) -> None:
        self._component = component
        self._collector = collector
        self.report_metric = collector.report_metric
        self.report_error = collector.report_error

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Any = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
    ) -> EmitResult:
        """Check an emit, and keep it with its call."""
        if need_task_ids:
            raise EmitError(
                f"component {self._component!r} emits with need_task_ids=True in a bolt with coroutine "
                "functions, whose emits go out in the order of the tuples, so their receivers are not known "
                "yet: leave it out"
            )
        self._note("emits", self._collector.prepared(tup, stream, anchors, direct_task))
        return None

    def emit_rows(self, *args: Any, **options: Any) -> None:
        """Refuse: only batch bolts emit rows, and none has coroutine functions."""
        raise EmitError(f"component {self._component!r} calls emit_rows, which is for batch bolts: call emit")

    def ack(self, tup: Any) -> None:
        """Keep an ack with its call."""
        self._note("acks", partial(self._collector.ack, tup))

    def fail(self, tup: Any) -> None:
        """Keep a fail with its call."""
        self._note("fails", partial(self._collector.fail, tup))

    def begin_group(self, group: int) -> None:
        """Do nothing: there are no key groups without state by key."""

    def _note(self, verb: str, step: Callable[[], object]) -> None:
        call = _call.get()
        if call is not None and call.note(step):
            return
        when = "outside of any call" if call is None else "after the call that it belongs to has returned"
        mistake = (
            f"component {self._component!r} {verb} {when}, so nobody knows its place in the order: emit and "
            "answer in process or in what it awaits (asyncio.TaskGroup, gather, to_thread)"
        )
        self._collector.late(mistake)  # what a task raises that nobody awaits is easily missed
        raise EmitError(mistake)


class _Loop(asyncio.SelectorEventLoop):
    """Goes by the clock of the system, also in a harness, whose time passes when a test says so."""

    def time(self) -> float:
        """Seconds of that clock."""
        return time.clock_gettime(time.CLOCK_MONOTONIC)


class EventLoop:
    """An event loop with a thread of its own.

    Args:
        origin: the task that it works for.
        logger: takes what tasks raise that nobody awaits.
    """

    def __init__(self, origin: Origin, logger: logging.Logger) -> None:
        self._loop = _Loop()
        self._loop.set_exception_handler(self._report)
        self._origin = origin
        self._logger = logger
        self._at_work = set[asyncio.Task[None]]()
        self._waiting = deque[_Begin]()
        """The calls that are begun once there is room."""
        self._in_flight = deque[Call]()
        """The calls that were begun of these, from the oldest one that is not over."""
        self._most = 1
        """The most calls in there."""
        self.is_over = False
        """True if it was ended."""
        self._thread = threading.Thread(target=self._run, name=f"viper-loop-{origin}", daemon=True)
        self._thread.start()

    def begin(self, call: Call, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Begin the call of a function with its arguments; from any thread."""
        self._loop.call_soon_threadsafe(self._begin, call, function, args, copy_context())

    def line_up(self, calls: Iterable[Call], function: Callable[[Any], Any], most: int) -> None:
        """Call a function with the tuple of each call, in order, each as soon as there is room.

        Args:
            calls: they come behind those that are lined up.
            function: takes a tuple.
            most: as many are begun at a time, counted from the oldest that is not over.
        """
        context = copy_context()
        begins = [(call, function, (call.tup,), context) for call in calls]
        self._loop.call_soon_threadsafe(self._line_up, begins, most)

    def end(self, *, waits: bool) -> None:
        """Cancel all that runs, and end the thread.

        Args:
            waits: whether to return only when that is done.
        """
        if not self.is_over:
            self.is_over = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        if waits:
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with speaking_as(self._origin):
            try:
                while not self.is_over:
                    try:
                        self._loop.run_forever()
                    except (SystemExit, KeyboardInterrupt) as error:  # of a task that nobody awaits
                        self._report(self._loop, {"exception": error})
                self._finish()
            finally:
                self._waiting.clear()
                self._in_flight.clear()
                self._loop.close()
                self._loop.set_exception_handler(None)  # which refers to the loop's owner

    def _finish(self) -> None:
        """As `asyncio.run` at its end."""
        loop = self._loop
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())

    def _line_up(self, begins: list[_Begin], most: int) -> None:
        self._waiting += begins
        self._most = most
        self._go_on()

    def _go_on(self) -> None:
        """Begin with as many calls as there is room for, without waiting for the task's own thread."""
        in_flight = self._in_flight
        while in_flight and in_flight[0].is_done:
            in_flight.popleft()
        while self._waiting and len(in_flight) < self._most and not self.is_over:
            begin = self._waiting.popleft()
            in_flight.append(begin[0])
            self._begin(*begin)

    def _begin(
        self, call: Call, function: Callable[..., Any], args: tuple[Any, ...], context: Context
    ) -> None:
        own = context.copy()
        own.run(_call.set, call)
        work = self._loop.create_task(self._called(call, function, args), context=own)
        self._at_work.add(work)  # as the loop refers to it only weakly
        work.add_done_callback(self._at_work.discard)

    async def _called(self, call: Call, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Call a function, await what it returns, and note its end; raises nothing, or the loop would end."""
        try:
            result = function(*args)
            if inspect.isawaitable(result):
                await result
        except BaseException as error:
            self._ended(call, error)
        else:
            self._ended(call, None)

    def _ended(self, call: Call, error: BaseException | None) -> None:
        # What is cancelled at the end of the loop has not been processed, whatever comes of it.
        if not (self.is_over and call.tup is not None):
            call.end(error)
            self._go_on()

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._logger.error(
            "%s", context.get("message", "a task that nobody awaits has raised"), exc_info=error
        )


class AsyncHost(Host):
    """Drives a bolt with coroutine functions; all its callbacks are called by an event loop.

    `process` and all other callbacks return when what was called has ended. `begin_calls` does not wait.
    """

    computes_here = False

    def __init__(self, component: Any) -> None:
        super().__init__(component)
        self._loop: EventLoop | None = None

    def bind(self, collector: TaskCollector, identity: Identity) -> None:
        """Connect the component to its task."""
        own = CallCollector(identity.component, collector)
        self._connect(own, own.emit)
        self.tell(identity)

    def initialized(self, collector: TaskCollector) -> None:
        """Leave the component's `emit` as it is, which finds out at each replay how it anchors."""

    def unbind(self, collector: TaskCollector) -> None:
        """Leave the component's `emit` as it is, which the collector checks anyway."""

    def initialize(self, identity: Identity) -> None:
        """Start the event loop, and have it call the component's `initialize`."""
        self._loop = EventLoop(Origin(identity.component, identity.task), identity.logger)
        self._call(self.component.initialize, identity.conf, identity.context)
        self.answers_by_methods |= self._has_replaced(*self._answering)

    # -- calls that do not wait

    def begin_calls(self, calls: Iterable[Call], most: int) -> None:
        """Have the component process the tuples of calls, `most` at a time; as of `EventLoop.line_up`."""
        assert self._loop is not None
        self._loop.line_up(calls, self._processing, most)

    # -- calls that wait

    @property
    def process(self) -> Any:
        """A function that has the component process one tuple, and returns when it has."""
        return partial(self._call, self._processing)

    @property
    def _processing(self) -> Callable[[Any], Any]:
        return self._awaited_and_acked if self.answers_by_methods else self.component.process

    async def _awaited_and_acked(self, tup: Any) -> None:
        result = self.component.process(tup)
        if inspect.isawaitable(result):
            await result
        if self.component.auto_ack:
            self.component.ack(tup)

    def tick(self, tup: Any) -> None:
        """As in the base class."""
        self._call(self._tick, tup)

    async def _tick(self, tup: Any) -> None:
        result = self.component.process_tick(tup)
        if inspect.isawaitable(result):
            await result
        if self.answers_by_methods and self.component.auto_ack:
            self.component.ack(tup)

    def raised(self, error: BaseException, tup: Any) -> None:
        """As in the base class."""
        self._call(super().raised, error, tup)

    def abandon(self) -> None:
        """Cancel all that the component does, without calling it again."""
        if self._loop is not None:
            self._loop.end(waits=False)

    def close(self) -> None:
        """Inform the component that its task has ended, and end its event loop; what is in flight is
        cancelled."""
        if self._loop is None or self._loop.is_over:
            return
        try:
            self._call(self.component.cleanup)
            self._call(self.component.close)
        finally:
            self._loop.end(waits=True)

    def _call(self, function: Callable[..., Any], *args: Any) -> None:
        """Have the event loop call a function, wait for its end, and do what it did."""
        assert self._loop is not None
        is_over = threading.Event()
        call = Call(lambda call: is_over.set())
        self._loop.begin(call, function, args)
        is_over.wait()
        call.replay()
