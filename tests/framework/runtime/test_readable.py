"""A spout that waits for a descriptor is asked when it is readable, which the kernel alone tells."""

from __future__ import annotations

import math
import os
import random
import selectors
import socket
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from framework import Block, PartitionedSpout, TopologyBuilder, when_readable
from framework.operators.components import later
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.execution.assembly import task_factory
from framework.runtime.tasks import readable
from framework.testing import VirtualClock, run_topology
from tests.framework.runtime.pieces import bolt, polled, run_built, spout

FAR_S = 100_000.0
"""Seconds that no test waits for."""
PLACES: dict[str, dict[str, Any]] = {
    "inline": {"viper__worker": "inline"},
    "threads that share": {"viper__worker": "thread", "viper__worker__threads": 2},
    "2 threads": {"viper__worker": "thread", "topology__workers": 2},
}
in_every_place = pytest.mark.parametrize("place", PLACES)


@pytest.fixture
def only_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by the clock, so a wake-up that is lost is found."""
    monkeypatch.setattr(task_factory, "LONGEST_WAIT_S", FAR_S)
    monkeypatch.setattr(later, "CLOSED_LOOK_S", FAR_S)


@pytest.fixture(autouse=True)
def no_thread_remains() -> Iterator[None]:
    yield
    assert readable._present._watcher is None
    assert "viper-descriptors" not in [thread.name for thread in threading.enumerate()]


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    near.setblocking(False)
    with near, far:
        yield near, far


def run_seen(source: Any, process: Callable[[Any, Any], None], place: str, **options: Any) -> Any:
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    builder.set_bolt("seen", bolt(process)).global_grouping("source")
    return run_built(builder, viper__time="ingest", **PLACES[place], **options)


# -- a spout by itself


def received(near: socket.socket) -> Iterator[Any]:
    """The bytes that come, one by one, until the other end is closed."""
    while True:
        try:
            found = near.recv(1)
        except BlockingIOError:
            yield when_readable(near)
            continue
        if not found:
            return
        yield [found[0]]


@in_every_place
@pytest.mark.parametrize("is_polled", [False, True])
@pytest.mark.usefixtures("only_the_kernel")
def test_each_byte_makes_the_next_one_come(place: str, is_polled: bool, pair: Any) -> None:
    near, far = pair
    seen: list[int] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        if len(seen) < 200:
            far.send(bytes([len(seen)]))
        else:
            far.shutdown(socket.SHUT_WR)

    drawn = received(near)

    def next_tuple(self: Any) -> Any:
        values = next(drawn)
        return self.emit(values) if isinstance(values, list) else values

    far.send(b"\0")
    run_seen(polled(next_tuple) if is_polled else spout(lambda self: drawn), process, place)
    assert seen == [*range(200)]


class Receives(PartitionedSpout):
    """Partitions that have a socket each."""

    outputs = ["partition", "number"]
    nears: list[socket.socket]

    @property
    def partitions(self) -> int:
        return len(self.nears)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Any]:
        for values in received(self.nears[partition]):
            is_row = isinstance(values, list)
            yield Block(array("q", values), [(partition, *values)]) if is_row else values


@in_every_place
@pytest.mark.usefixtures("only_the_kernel")
def test_partitions_wait_together(place: str) -> None:
    """The next row of a partition that has none decides; the others have theirs at hand."""
    pairs = [socket.socketpair() for _ in range(3)]
    Receives.nears = [near for near, _ in pairs]
    for near in Receives.nears:
        near.setblocking(False)
    seen: list[tuple[int, int]] = []

    def process(self: Any, tup: Any) -> None:
        partition, number = tup.values
        seen.append((partition, number))
        far = pairs[partition][1]
        far.send(bytes([number + 1])) if number < 50 else far.shutdown(socket.SHUT_WR)

    for _, far in pairs:
        far.send(b"\0")
    builder = TopologyBuilder()
    builder.set_spout("source", Receives)
    builder.set_bolt("seen", bolt(process)).global_grouping("source")
    run_built(builder, viper__time="event", **PLACES[place])
    assert seen == [(partition, number) for number in range(51) for partition in range(3)]
    for near, far in pairs:
        near.close()
        far.close()


@pytest.mark.parametrize("kind", ["all named", "a selector"])
@pytest.mark.usefixtures("only_the_kernel")
def test_hundreds_of_descriptors(kind: str) -> None:
    chance, count = random.Random(7), 300
    pipes = [os.pipe() for _ in range(count)]
    for near, _ in pipes:
        os.set_blocking(near, False)
    wanted = [chance.randrange(count) for _ in range(200)]
    selector = selectors.DefaultSelector()
    for near, _ in pipes:
        selector.register(near, selectors.EVENT_READ)
    seen: list[int] = []

    def tuples(self: Any) -> Iterator[Any]:
        for _ in wanted:
            if kind == "a selector":
                yield when_readable(selector)
            else:
                yield when_readable(*[near for near, _ in pipes])
            ((key, _),) = selector.select(0)
            os.read(key.fd, 1)
            yield [next(index for index, (near, _) in enumerate(pipes) if near == key.fd)]

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        if len(seen) < len(wanted):
            os.write(pipes[wanted[len(seen)]][1], b".")

    os.write(pipes[wanted[0]][1], b".")
    run_seen(spout(tuples), process, "inline")
    assert seen == wanted
    selector.close()
    for both in pipes:
        for descriptor in both:
            os.close(descriptor)


@in_every_place
@pytest.mark.usefixtures("only_the_kernel")
def test_two_spouts_share_one(place: str, pair: Any) -> None:
    """Either gets a byte; both are told of it, and one finds nothing."""
    near, far = pair
    seen: list[int] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        far.send(bytes([len(seen)])) if len(seen) < 100 else far.shutdown(socket.SHUT_WR)

    builder = TopologyBuilder()
    for name in ("a", "b"):
        builder.set_spout(name, spout(lambda self: received(near)))
    builder.set_bolt("seen", bolt(process)).global_grouping("a").global_grouping("b")
    far.send(b"\0")
    run_built(builder, viper__time="ingest", **PLACES[place])
    assert seen == [*range(100)]


@in_every_place
def test_one_that_is_closed_here_is_noticed(
    place: str, pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel says nothing of it, so somebody looks now and then."""
    monkeypatch.setattr(later, "CLOSED_LOOK_S", 0.01)
    near, _ = pair
    found: list[int] = []
    wait_for = readable.Readable.wait_for

    def closed_meanwhile(self: Any, descriptors: Any) -> None:
        wait_for(self, descriptors)
        near.close()

    monkeypatch.setattr(readable.Readable, "wait_for", closed_meanwhile)

    def tuples(self: Any) -> Iterator[Any]:
        yield when_readable(near)
        found.append(near.fileno())
        yield [0]

    run_seen(spout(tuples), lambda self, tup: None, place)
    assert found == [-1]


@in_every_place
@pytest.mark.usefixtures("only_the_kernel")
def test_a_new_one_with_the_number_of_one_that_was_closed(place: str) -> None:
    """The kernel has forgotten the first one with its close."""
    seen: list[int] = []
    ends: list[socket.socket] = []

    def tuples(self: Any) -> Iterator[Any]:
        numbers = set()
        for _ in range(20):
            near, far = socket.socketpair()
            with near, far:
                numbers.add(near.fileno())
                ends[:] = [far]
                yield [len(ends)]
                yield when_readable(near)
                assert near.recv(1) == b"."
        assert len(numbers) < 20

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        ends[0].send(b".")

    run_seen(spout(tuples), process, place)
    assert seen == [1] * 20


@in_every_place
@pytest.mark.usefixtures("only_the_kernel")
def test_a_timeout_is_one(place: str, pair: Any) -> None:
    near, _ = pair
    waited: list[float] = []

    def tuples(self: Any) -> Iterator[Any]:
        for timeout in (0.01, timedelta(seconds=0.01), 0):
            began_s = time.monotonic()
            yield when_readable(near, timeout=timeout)
            waited.append(time.monotonic() - began_s)
            yield [0]

    run_seen(spout(tuples), lambda self, tup: None, place)
    assert min(waited[:2]) >= 0.01 and len(waited) == 3


@in_every_place
@pytest.mark.usefixtures("only_the_kernel")
def test_a_stop_ends_the_wait(place: str, pair: Any) -> None:
    near, _ = pair
    stop, is_closed = StopSignal(), threading.Event()

    def tuples(self: Any) -> Iterator[Any]:
        try:
            yield [0]
            yield when_readable(near)
            yield ["never"]
        finally:
            is_closed.set()

    seen: list[Any] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        stop.request(StopReason.INTERRUPTED)

    builder = TopologyBuilder()
    builder.set_spout("source", spout(tuples))
    builder.set_bolt("seen", bolt(process)).global_grouping("source")
    run_built(builder, {"stop": stop}, **PLACES[place])
    assert seen == [0] and is_closed.is_set()


@in_every_place
@pytest.mark.usefixtures("only_the_kernel")
def test_what_comes_while_spouts_are_not_active_is_brought_later(place: str, pair: Any) -> None:
    near, far = pair
    stop = StopSignal()
    seen: list[int] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        if seen == [0]:
            stop.deactivate()
        else:
            far.shutdown(socket.SHUT_WR)

    def deactivate(self: Any) -> None:
        if seen == [0]:
            far.send(b"\1")
            threading.Thread(target=stop.activate).start()

    source = spout(lambda self: received(near), deactivate=deactivate)
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    builder.set_bolt("seen", bolt(process)).global_grouping("source")
    far.send(b"\0")
    run_built(builder, {"stop": stop}, **PLACES[place])
    assert seen == [0, 1]


@pytest.mark.usefixtures("only_the_kernel")
def test_an_error_ends_a_run_whose_spout_waits(pair: Any) -> None:
    near, _ = pair

    def tuples(self: Any) -> Iterator[Any]:
        yield [0]
        yield when_readable(near)

    def process(self: Any, tup: Any) -> None:
        raise ValueError("planted")

    with pytest.raises(Exception, match="planted"):
        run_seen(spout(tuples), process, "2 threads")


def test_by_a_virtual_clock(pair: Any) -> None:
    """Virtual time passes at once while a descriptor is waited for; what has come is found."""
    near, far = pair
    asked: list[float] = []

    def tuples(self: Any) -> Iterator[Any]:
        yield when_readable(near, timeout=3600)
        asked.append(time.monotonic())
        far.send(b".")
        yield when_readable(near, timeout=3600)
        asked.append(time.monotonic())
        yield [near.recv(1)]

    builder = TopologyBuilder()
    builder.set_spout("source", spout(tuples))
    builder.set_bolt("seen", bolt(lambda self, tup: self.emit(tup.values))).global_grouping("source")
    run_topology(builder.build("tested"), clock=VirtualClock())
    assert asked[0] >= 3600 and asked[1] - asked[0] < 3600


def test_where_the_kernel_tells_nothing_it_is_polled(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from framework.runtime.tasks import source_task

    monkeypatch.setattr(source_task, "CAN_HEAR", False)
    near, far = pair
    seen: list[int] = []

    def process(self: Any, tup: Any) -> None:
        seen.append(tup.values[0])
        far.send(bytes([len(seen)])) if len(seen) < 5 else far.shutdown(socket.SHUT_WR)

    far.send(b"\0")
    run_seen(spout(lambda self: received(near)), process, "inline")
    assert seen == [*range(5)]


# -- the thread


class TestWaiting:
    """Of sources without tasks: `tell` is called for what is readable, and never after a close."""

    def test_a_source_is_told_once_each_time(self, pair: Any) -> None:
        near, far = pair
        told = threading.Semaphore(0)
        source = readable.Readable(told.release)
        far.send(b".")
        for _ in range(3):
            source.wait_for([near])
            told.acquire()
        near.recv(1)
        source.wait_for([near])
        far.send(b".")
        told.acquire()
        source.close()
        source.close()
        assert not told.acquire(blocking=False)

    def test_those_of_the_last_time_are_waited_for_no_more(self, pair: Any) -> None:
        near, far = pair
        told = threading.Semaphore(0)
        source = readable.Readable(told.release)
        other, end = socket.socketpair()
        with other, end:
            source.wait_for([near])
            source.wait_for([other])
            far.send(b".")
            assert not told.acquire(blocking=False)
            end.send(b".")
            told.acquire()
            source.close()
        assert not told.acquire(blocking=False)

    @pytest.mark.parametrize("closed", [-1, 10_000])
    def test_one_that_is_closed_already_is_told_at_once(self, closed: int) -> None:
        told: list[int] = []
        source = readable.Readable(lambda: told.append(0))
        source.wait_for([closed])
        assert told == [0]
        source.close()

    def test_the_thread_ends_with_the_last_source(self, pair: Any) -> None:
        sources = [readable.Readable(lambda: None) for _ in range(3)]
        for source in sources:
            source.wait_for([pair[0]])
        (thread,) = [one for one in threading.enumerate() if one.name == "viper-descriptors"]
        for source in sources:
            assert thread.is_alive()
            source.close()
        assert not thread.is_alive()

    @pytest.mark.parametrize("seed", range(4))
    def test_none_is_lost_whatever_is_closed_meanwhile(self, seed: int) -> None:
        """Threads exchange bytes, and open new descriptors whose numbers others have had."""
        rounds = 150

        def exchange(number: int) -> None:
            chance, told = random.Random(f"{seed}/{number}"), threading.Semaphore(0)
            source = readable.Readable(told.release)
            near, far = socket.socketpair()
            for _ in range(rounds):
                if chance.random() < 0.3:
                    near.close()
                    far.close()
                    near, far = socket.socketpair()
                is_first = chance.random() < 0.5
                if is_first:
                    far.send(b".")
                source.wait_for([near])
                if not is_first:
                    far.send(b".")
                while not later._is_readable([near]):
                    told.acquire()
                    source.wait_for([near])
                near.recv(1)
            source.close()
            near.close()
            far.close()
            done.append(number)

        done: list[int] = []
        threads = [threading.Thread(target=exchange, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(done) == [0, 1, 2, 3]


# -- what is given


def test_an_end_that_hangs_up_is_readable(pair: Any) -> None:
    near, far = pair
    waits = when_readable(near.fileno())
    assert not waits.has_come(time.monotonic())
    far.close()
    assert waits.has_come(time.monotonic())


def test_a_closed_file_counts_as_readable() -> None:
    near, far = os.pipe()
    with open(near, "rb", buffering=0) as file:
        waits = when_readable(file, timeout=FAR_S)
        assert not waits.has_come(time.monotonic())
    assert waits.has_come(time.monotonic())
    os.close(far)


def test_others_than_sockets_are_waited_for() -> None:
    event = os.eventfd(0)
    terminal, other = os.openpty()
    for given in (event, terminal):
        assert not when_readable(given).has_come(time.monotonic())
    for descriptor in (event, terminal, other):
        os.close(descriptor)


@pytest.mark.parametrize("path", [__file__, os.path.dirname(__file__), os.devnull])
def test_what_is_always_readable_is_refused(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    told = r"the kernel takes it for readable always, as a file on a disk: expected a socket.*follow=True"
    with pytest.raises(ValueError, match=told):
        when_readable(descriptor)
    os.close(descriptor)


def test_the_line_that_has_waited_for_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    def tuples(self: Any) -> Iterator[Any]:
        with open(tmp_path / "file") as file:
            yield when_readable(file)

    with pytest.raises(Exception, match=r"when_readable\(.*readable always"):
        run_seen(spout(tuples), lambda self, tup: None, "inline")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: when_readable(), r"when_readable\(\): expected at least one descriptor"),
        (lambda: when_readable(cast(Any, "5")), r"when_readable\('5'\): expected a descriptor, or an object"),
        (lambda: when_readable(cast(Any, True)), r"when_readable\(True\)"),
        (lambda: when_readable(-1), r"when_readable\(-1\): expected an open descriptor"),
        (lambda: when_readable(99_999), "found a closed one"),
        (lambda: when_readable(0, timeout=cast(Any, "5")), r"timeout='5'\): expected a number of seconds"),
        (lambda: when_readable(0, timeout=math.nan), "nan"),
    ],
)
def test_what_is_no_descriptor_is_refused(make: Callable[[], Any], message: str, pair: Any) -> None:
    near, _ = pair
    saved = os.dup(0)
    os.dup2(near.fileno(), 0)
    try:
        with pytest.raises((TypeError, ValueError), match=message):
            make()
    finally:
        os.dup2(saved, 0)
        os.close(saved)
