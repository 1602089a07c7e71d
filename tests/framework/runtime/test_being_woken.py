"""Executors sleep until there is something to do: whatever that is wakes them, or the tuples here would wait.

Each tuple is brought only when the one before has been seen at the end, so that everything rests in between.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.runtime.exchange.buffer import EmitBuffer
from framework.runtime.execution import stand_in
from framework.runtime.execution.assembly import task_factory
from framework.runtime.execution.idle import BellIdleStrategy
from framework.runtime.execution.live_time import HeartbeatRequests
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.report import RunReport
from framework.runtime.tasks.presence import BlockingPresence
from framework.runtime.tasks.spout_task import SpoutTask
from tests.framework.runtime.pieces import bolt, polled, run_built, spout

COUNT = 30
PATIENCE_S = 60.0
PLANTED_S = 1.0
"""Seconds of a run in which somebody sleeps for ever."""
TWO_THREADS = {"viper__worker": "thread", "topology__workers": 2}


@pytest.fixture(autouse=True)
def without_looks_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_factory, "LONGEST_WAIT_S", 1000.0)
    monkeypatch.setattr(stand_in, "LONGEST_WAIT_S", 1000.0)


class Counter:
    """Counts what has been seen, and lets others wait for it."""

    def __init__(self) -> None:
        self._seen = 0
        self._changed = threading.Condition()

    def count(self) -> None:
        with self._changed:
            self._seen += 1
            self._changed.notify_all()

    def wait(self, least: int, over: threading.Event) -> bool:
        """True if so many have been seen, and not only the end of the run."""
        with self._changed:
            self._changed.wait_for(lambda: self._seen >= least or over.is_set(), PATIENCE_S)
            return self._seen >= least

    @property
    def seen(self) -> int:
        return self._seen


class Handed:
    """A queue from a bolt to a thread of its own, which gets items once the bolt's executor rests."""

    def __init__(self, case: Case) -> None:
        self._rests = case.rests_of[threading.get_ident()]
        self._items: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def put(self, item: Any) -> None:
        self._rests.clear()
        self._items.put(item)

    def get(self) -> Any:
        item = self._items.get()
        self._rests.wait()
        return item


class Case:
    """A topology, and how much has been seen at its end before it was stopped."""

    def __init__(self) -> None:
        self.counter, self.over = Counter(), threading.Event()
        self.rests_of: defaultdict[int, threading.Event] = defaultdict(threading.Event)
        """By thread: set when its executor goes to rest, and sees by itself no more of what others do."""

    def one_by_one(self) -> Any:
        """A spout that waits, in its callback, until the tuple before has been seen."""

        def tuples(this: Any) -> Iterator[Any]:
            for number in range(COUNT):
                yield [number]
                if not self.counter.wait(number + 1, self.over):
                    return

        return spout(tuples, config={"viper.blocking": True})

    def silent(self) -> Any:
        """A spout that has nothing, and ends when everything has been seen."""

        def tuples(this: Any) -> Iterator[Any]:
            while self.counter.seen < COUNT and not self.over.is_set():
                yield None

        return spout(tuples)

    def last(self) -> Any:
        return bolt(lambda this, tup: self.counter.count(), None)

    def run(self, builder: TopologyBuilder, planted: bool, **options: Any) -> RunReport:
        timer = threading.Timer(PLANTED_S if planted else PATIENCE_S, self.stop)
        timer.start()
        try:
            return run_built(builder, **options)
        finally:
            timer.cancel()

    def stop(self) -> None:
        self.over.set()
        with self.counter._changed:
            self.counter._changed.notify_all()


def merged(case: Case, planted: bool) -> None:
    """A live source that is silent, on another executor than the bolt that its time holds up."""
    builder = TopologyBuilder()
    builder.set_spout("source", case.one_by_one())
    builder.set_spout("silent", case.silent())
    builder.set_bolt("last", case.last()).global_grouping("source").global_grouping("silent")
    placed = {"viper__placement": {"source": 1, "silent": 1, "last": 2}}
    case.run(builder, planted, viper__time="ingest", **placed, **TWO_THREADS)


def behind_one_that_blocks(case: Case, planted: bool) -> None:
    """The time of a spout that is away in its callback is asked of who acts for it."""

    def tuples(this: Any) -> Iterator[Any]:
        case.counter.wait(COUNT, case.over)
        yield from ()

    builder = TopologyBuilder()
    builder.set_spout("source", case.one_by_one())
    builder.set_spout("silent", spout(tuples, config={"viper.blocking": True}))
    builder.set_bolt("last", case.last()).global_grouping("source").global_grouping("silent")
    case.run(builder, planted, viper__time="ingest")


def emitted_by_a_thread(case: Case, planted: bool) -> None:
    """A bolt hands its tuples to a thread of its own, which emits them."""

    def initialize(this: Any, storm_conf: Any, context: Any) -> None:
        this.handed = Handed(case)
        threading.Thread(target=talk, args=(this,), daemon=True).start()

    def talk(this: Any) -> None:
        while True:
            this.emit([this.handed.get()])

    talker = bolt(lambda this, tup: this.handed.put(tup.values[0]), initialize=initialize)
    builder = TopologyBuilder()
    builder.set_spout("source", case.one_by_one())
    builder.set_bolt("talker", talker).shuffle_grouping("source")
    builder.set_bolt("last", case.last()).global_grouping("talker")
    case.run(builder, planted)


def emitted_before_it_blocks(case: Case, planted: bool) -> None:
    """A bolt emits and waits, twice in the same callback, until that has been seen."""

    def process(this: Any, tup: Any) -> None:
        for nth in (1, 2):  # at the first, somebody may still look who was called when the callback began
            this.emit(tup.values)
            case.counter.wait(2 * tup.values[0] + nth, case.over)

    builder = TopologyBuilder()
    builder.set_spout("source", case.one_by_one())
    builder.set_bolt("waits", bolt(process, config={"viper.blocking": True})).shuffle_grouping("source")
    builder.set_bolt("last", case.last()).global_grouping("waits")
    case.run(builder, planted)


def acked_by_a_thread(case: Case, planted: bool) -> None:
    """A bolt hands its tuples to a thread of its own, which acks them."""

    def tuples(this: Any) -> Iterator[Any]:
        for number in range(COUNT):
            this.emit([number], tup_id=number)
            while case.counter.seen <= number:
                if case.over.is_set():
                    return
                yield None

    class Acks(Bolt):
        auto_ack = False
        outputs = []

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.handed = Handed(case)
            threading.Thread(target=self.talk, daemon=True).start()

        def talk(self) -> None:
            while True:
                self.ack(self.handed.get())

        def process(self, tup: Any) -> None:
            self.handed.put(tup)

    source = spout(tuples, ack=lambda this, tup_id: case.counter.count())
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    builder.set_bolt("acks", Acks).shuffle_grouping("source")
    case.run(builder, planted, topology__message__timeout__secs=1000, **TWO_THREADS)


def told_who_receives_it(case: Case, planted: bool) -> None:
    """A spout asks who receives its tuple, which is placed at once for that; it has no other meanwhile.

    A task that was chained would see the tuple as soon as it is placed.
    """

    def next_tuple(this: Any) -> None:
        if case.counter.seen >= COUNT or case.over.is_set():
            raise StopIteration
        if this.emitted == case.counter.seen:
            this.emit([this.emitted], need_task_ids=True)
            this.emitted += 1

    builder = TopologyBuilder()
    builder.set_spout("source", polled(next_tuple, emitted=0))
    builder.set_bolt("last", case.last()).global_grouping("source")
    case.run(builder, planted, viper__chains=False)


Shape = Callable[[Case, bool], None]
SHAPES = [
    merged,
    behind_one_that_blocks,
    emitted_by_a_thread,
    emitted_before_it_blocks,
    acked_by_a_thread,
    told_who_receives_it,
]


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Case:
    case, wait = Case(), BellIdleStrategy.wait

    def wait_and_say_so(self: BellIdleStrategy, timeout_s: float) -> None:
        case.rests_of[threading.get_ident()].set()
        wait(self, timeout_s)

    monkeypatch.setattr(BellIdleStrategy, "wait", wait_and_say_so)
    return case


@pytest.mark.parametrize("shape", SHAPES)
def test_nobody_sleeps_through_it(shape: Shape, case: Case) -> None:
    shape(case, False)
    assert case.counter.seen >= COUNT


PLANTED: list[tuple[Shape, Any, str]] = [
    (merged, HeartbeatRequests, "ask"),
    (behind_one_that_blocks, HeartbeatRequests, "ask"),
    (emitted_by_a_thread, EmitBuffer, "watch"),
    (emitted_before_it_blocks, BlockingPresence, "call_if_away"),
    (acked_by_a_thread, Acker, "watch"),
    (told_who_receives_it, SpoutTask, "unblock"),
]


@pytest.mark.parametrize(("shape", "owner", "name"), PLANTED)
def test_without_the_call_somebody_does(
    shape: Shape, owner: Any, name: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, lambda *args, **options: True)
    seen_in_time: list[int] = []
    stop = case.stop
    monkeypatch.setattr(case, "stop", lambda: (seen_in_time.append(case.counter.seen), stop()))
    shape(case, True)
    assert seen_in_time
    assert seen_in_time[0] < COUNT
