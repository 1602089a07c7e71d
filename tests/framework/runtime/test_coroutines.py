"""Bolts whose process is a coroutine function: many tuples in flight, and an output as if there was one."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import re
import threading
from typing import Any

import pytest

from framework import (
    BatchBolt,
    BatchingBolt,
    Bolt,
    Grouping,
    ReducingState,
    Spout,
    TopologyBuilder,
    ValueState,
)
from framework.frontends.streams import Map
from framework.model.errors import ComponentError, LoadError, TopologyError
from framework.model.tracebacks import place_of
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import Sum
from framework.operators.windows.joins.conditions import as_condition
from framework.planning.validation import validate
from framework.runtime import StopReason, StopSignal
from framework.runtime.tasks.hosts import async_host
from framework.runtime.tasks.in_flight import InFlight
from framework.testing import TICK, BoltHarness, run_bolt
from tests.framework.runtime.coroutines import AHEAD, COUNT, Plain, Some, Tracked, built, expected
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from viper.errors import OrderError

CLAIMS = {"viper.sharing": "claims"}


@every_kind
@pytest.mark.parametrize(
    ("tasks", "config"),
    [(1, {}), (3, {}), (3, CLAIMS), (1, {"viper.async.in_flight": 1}), (2, {"viper.blocking": True})],
    ids=str,
)
def test_order_and_acks_are_those_of_one_tuple_at_a_time(
    workers: Workers, tasks: int, config: dict[str, Any]
) -> None:
    report = workers.run(built(Some, tasks, config), topology__max__spout__pending=50)
    assert report.result("sink") == expected()
    source = report.components["source"]
    assert (source.acked, source.failed, source.unanswered) == (COUNT, 0, 0)
    assert report.components["some"].processed == COUNT


@pytest.mark.parametrize("chains", [True, False])
def test_a_chained_bolt_has_tuples_in_flight_too(chains: bool) -> None:
    assert run_built(built(spout=Plain), viper__chains=chains).result("sink") == expected()


class Window(Bolt):
    """Each tuple waits until the one `AHEAD_BY` places behind it has begun; notes how many are in flight."""

    outputs = ["number", "in_flight"]
    config = AHEAD
    ahead_by = 3

    async def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.begun = [asyncio.Event() for _ in range(COUNT + self.ahead_by)]
        self.in_flight = self.most = 0
        for event in self.begun[COUNT:]:
            event.set()

    async def process(self, tup: Any) -> None:
        number = tup.values.number
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        self.begun[number].set()
        await self.begun[number + self.ahead_by].wait()
        self.in_flight -= 1
        self.emit([number, self.most])


def test_a_tuple_begins_as_soon_as_the_oldest_is_done() -> None:
    """With a batch of four after the other, the last of each batch would wait for ever."""
    rows = run_built(built(Window, config={"viper.async.in_flight": 4}, spout=Plain)).result("sink")
    assert [number for number, _ in rows] == list(range(COUNT))
    assert rows[-1][1] <= 4


class Held(Bolt):
    """The oldest of all tuples in flight waits until so many have begun."""

    outputs = ["most"]
    config = AHEAD
    most = 32

    async def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.begun, self.all_have = 0, asyncio.Event()

    async def process(self, tup: Any) -> None:
        self.begun += 1
        if self.begun == self.most:
            self.all_have.set()
        await self.all_have.wait()
        if tup.values.number == 0:
            for _ in range(100):
                await asyncio.sleep(0)
            self.emit([self.begun])


def test_no_more_are_in_flight_than_configured() -> None:
    """Tuple 0 sees only as many as begin before it is done."""
    assert run_built(built(Held, spout=Plain)).result("sink") == [(32,)]


# -- whose an emit is


class Divided(Bolt):
    """Emits from tasks that it creates, from a thread, and by itself."""

    outputs = ["number", "by"]
    config = AHEAD

    async def process(self, tup: Any) -> None:
        async def part(name: str, turns: int) -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            self.emit([tup.values.number, name])

        number = tup.values.number
        async with asyncio.TaskGroup() as group:
            group.create_task(part("group", (number * 7) % 5))
        await asyncio.gather(part("gather", (number * 3) % 4))
        await asyncio.to_thread(self.emit, [number, "thread"])
        self.emit([number, "itself"])


def test_an_emit_belongs_to_its_tuple_wherever_it_comes_from() -> None:
    rows = run_built(built(Divided, spout=Plain, count=100)).result("sink")
    assert rows == [(number, by) for number in range(100) for by in ("group", "gather", "thread", "itself")]


class Late(Bolt):
    """Leaves a task behind that emits later."""

    outputs = ["number"]
    config = AHEAD

    async def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.left: list[Any] = []

    async def process(self, tup: Any) -> None:
        async def later() -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.emit([-1])

        self.left.append(asyncio.create_task(later()))
        self.emit([tup.values.number])

    async def close(self) -> None:
        raised = await asyncio.gather(*self.left, return_exceptions=True)
        assert all("emits after the call that it belongs to has returned" in str(one) for one in raised)
        self.logger.info("%d came late", len(raised))


def test_an_emit_behind_the_end_of_its_call_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    assert run_built(built(Late, spout=Plain, count=5)).result("sink") == [(n,) for n in range(5)]
    assert caplog.text.count("nobody knows its place in the order") == 1
    assert "5 came late" in caplog.text


class Asks(Bolt):
    outputs = ["number"]
    config = AHEAD

    async def process(self, tup: Any) -> None:
        self.emit([tup.values.number], need_task_ids=True)


def test_nobody_knows_the_receivers_ahead_of_the_turn() -> None:
    with pytest.raises(ComponentError, match="need_task_ids=True in a bolt with coroutine functions"):
        run_built(built(Asks, spout=Plain))


class Wrong(Bolt):
    outputs = ["number"]
    config = AHEAD

    async def process(self, tup: Any) -> None:
        await asyncio.sleep(0)
        self.emit([1, 2])


def test_a_wrong_emit_is_raised_at_its_line() -> None:
    with pytest.raises(ComponentError, match=r"2 values .* expected 1") as raised:
        run_built(built(Wrong, spout=Plain))
    assert raised.value.__cause__ is not None
    line = inspect.getsourcelines(Wrong.process)[1] + 2
    assert place_of(raised.value.__cause__) == f"test_coroutines.py:{line}"


# -- errors


class Raises(Bolt):
    """Raises for every tenth tuple, behind an emit, while others are in flight."""

    outputs = ["number", "what"]
    config = AHEAD

    async def process(self, tup: Any) -> None:
        number = tup.values.number
        for _ in range((number * 7) % 5):
            await asyncio.sleep(0)
        self.emit([number, "begun"])
        if number % 10 == 3:
            raise KeyError(number)
        self.emit([number, "done"])


@pytest.mark.parametrize("action", ["skip", "restart"])
@every_kind
def test_a_tuple_that_raises_fails_alone_and_in_its_turn(action: str, workers: Workers) -> None:
    options = {"viper__on__error": action, "viper__restart__tries": 1000}
    report = workers.run(built(Raises, count=100), **options)
    assert report.result("sink") == [
        (number, what)
        for number in range(100)
        for what in ("begun", "done")
        if what == "begun" or number % 10 != 3
    ]
    assert (report.components["source"].acked, report.components["source"].failed) == (90, 10)
    assert report.components["some"].restarts == (10 if action == "restart" else 0)


class Cancelled(Bolt):
    """Tuple 0 raises when all others are in flight, which wait for ever."""

    outputs = ["number"]
    config = AHEAD
    ended: list[int] = []

    async def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.last_has_begun = asyncio.Event()

    async def process(self, tup: Any) -> None:
        number = tup.values.number
        if number == 0:
            await self.last_has_begun.wait()
            raise ValueError("no zero")
        try:
            if number == 4:
                self.last_has_begun.set()
            await asyncio.Event().wait()
        finally:
            self.ended.append(number)


def test_others_in_flight_are_cancelled_where_the_run_ends() -> None:
    Cancelled.ended = []
    with pytest.raises(ComponentError, match="ValueError: no zero") as raised:
        run_built(built(Cancelled, spout=Plain, count=5))
    assert sorted(Cancelled.ended) == [1, 2, 3, 4]
    assert "some" in str(raised.value) and "number=0" in str(raised.value)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("viper-loop")]


class Expires(Bolt):
    outputs = ["number"]
    config = {**AHEAD, "viper.on.error": "skip"}

    async def process(self, tup: Any) -> None:
        try:
            async with asyncio.timeout(0 if tup.values.number % 2 else None):
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        except TimeoutError:
            self.emit([-tup.values.number])
        else:
            self.emit([tup.values.number])


def test_timeouts_work() -> None:
    rows = run_built(built(Expires, spout=Plain, count=20)).result("sink")
    assert rows == [(-n if n % 2 else n,) for n in range(20)]


class Grouped(Bolt):
    outputs = ["number"]
    config = AHEAD

    async def process(self, tup: Any) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.ask(tup.values.number))

    async def ask(self, number: int) -> None:
        raise KeyError(f"no {number}")


def test_the_errors_of_a_group_are_named() -> None:
    with pytest.raises(ComponentError, match=r"ExceptionGroup: .*\n  KeyError: 'no 0'"):
        run_built(built(Grouped, spout=Plain, count=1))
    report = run_built(built(Grouped, spout=Plain, count=3), viper__on__error="skip")
    line = inspect.getsourcelines(Grouped.ask)[1] + 1
    (place,) = report.components["some"].error_sites
    assert f"test_coroutines.py:{line}" in str(place)


class Exits(Bolt):
    outputs = ["number"]
    config = AHEAD

    async def process(self, tup: Any) -> None:
        raise SystemExit(3)


def test_an_exit_ends_the_run_and_not_the_event_loop_alone() -> None:
    with pytest.raises(ComponentError, match="SystemExit"):
        run_built(built(Exits, spout=Plain, count=20))


# -- the end


class Stops(Bolt):
    """Has the run end in the midst of tuple 40."""

    outputs = ["number"]
    config = AHEAD
    stop = StopSignal()

    async def process(self, tup: Any) -> None:
        if tup.values.number == 40:
            self.stop.request(StopReason.INTERRUPTED)
        for _ in range((tup.values.number * 7) % 5):
            await asyncio.sleep(0)
        self.emit([tup.values.number])


def endless(bolt: type[Bolt]) -> TopologyBuilder:
    return built(bolt, spout=Plain, count=1_000_000)


def test_tuples_in_flight_finish_when_a_run_drains() -> None:
    Stops.stop = StopSignal()
    report = run_built(endless(Stops), {"stop": Stops.stop})
    rows = report.result("sink")
    assert (report.drained, report.lost) == (True, 0)
    assert 40 < len(rows) < 1_000_000 and rows == [(number,) for number in range(len(rows))]


class Hangs(Stops):
    """Never ends with tuple 40."""

    async def process(self, tup: Any) -> None:
        await super().process(tup)
        if tup.values.number == 40:
            await asyncio.Event().wait()


def test_tuples_in_flight_are_lost_where_a_run_does_not_drain(caplog: pytest.LogCaptureFixture) -> None:
    Hangs.stop = StopSignal()
    options = {"viper__drain__timeout__secs": 0.05, "viper__async__in_flight": 4}
    report = run_built(endless(Hangs), {"stop": Hangs.stop}, **options)
    assert report.result("sink") == [(number,) for number in range(40)]
    assert not report.drained and 1 <= report.lost <= 16
    assert f"some:2 awaits its coroutines for {report.lost} tuples" in caplog.text


# -- answers


class Answers(Bolt):
    """Acks even numbers and fails odd ones, each behind an emit."""

    outputs = ["number"]
    config = AHEAD
    auto_ack = False
    auto_anchor = False

    async def process(self, tup: Any) -> None:
        for _ in range((tup.values.number * 7) % 5):
            await asyncio.sleep(0)
        self.emit([tup.values.number], anchors=[tup])
        if tup.values.number % 2:
            self.fail(tup)
        else:
            self.ack(tup)


@every_kind
def test_a_bolt_answers_itself(workers: Workers) -> None:
    report = workers.run(built(Answers), viper__answers="strict")
    assert report.result("sink") == [(number,) for number in range(COUNT)]
    source = report.components["source"]
    assert (source.acked, source.failed, source.unanswered) == (COUNT // 2, COUNT // 2, 0)


class OwnAck(Answers):
    """Has a method ack of its own, which is called when process has returned, as by pystorm."""

    auto_ack = auto_anchor = True
    acked: list[int] = []

    async def process(self, tup: Any) -> None:
        await asyncio.sleep(0)
        self.emit([tup.values.number])

    def ack(self, tup: Any) -> None:
        self.acked.append(tup.values.number)
        super().ack(tup)


def test_an_ack_of_the_bolts_own_is_called_when_its_coroutine_has_ended() -> None:
    OwnAck.acked = []
    report = run_built(built(OwnAck, count=40))
    assert sorted(OwnAck.acked) == list(range(40))
    assert report.components["source"].acked == 40


# -- the other callbacks


class Session:
    """As a client's, which belongs to the loop that it was made in."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()

    async def ask(self, number: int) -> int:
        assert asyncio.get_running_loop() is self.loop
        await asyncio.sleep(0)
        return number * 2

    async def close(self) -> None:
        assert asyncio.get_running_loop() is self.loop


class Client(Bolt):
    outputs = ["number"]
    config = AHEAD
    closed: list[str] = []

    async def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.session = Session()

    async def process(self, tup: Any) -> None:
        self.emit([await self.session.ask(tup.values.number)])

    async def process_tick(self, tup: Any) -> None:
        await asyncio.sleep(0)
        self.emit([-1])

    async def cleanup(self) -> None:
        self.closed.append("cleanup")

    async def close(self) -> None:
        await self.session.close()
        self.closed.append("close")


def test_clients_are_made_and_closed_within_the_loop() -> None:
    Client.closed = []
    rows = run_built(built(Client, spout=Plain, count=20)).result("sink")
    assert rows == [(number * 2,) for number in range(20)]
    assert Client.closed == ["cleanup", "close"]


def test_run_bolt_awaits_coroutines() -> None:
    found = run_bolt(Client, [[1], TICK, [2]], fields=["number"])
    assert found.emitted() == [(2,), (-1,), (4,)]
    assert found.acked == [(1,), (2,)]


class Sleeps(Client):
    """Waits for the clock of the system."""

    async def process(self, tup: Any) -> None:
        await asyncio.sleep(0.001)
        await super().process(tup)


def test_a_harness_waits_for_coroutines() -> None:
    with BoltHarness(Sleeps, fields=["number"]) as harness:
        harness.send([1], [2])
        assert harness.emitted() == [(2,), (4,)]
        harness.tick()
    assert harness.emitted() == [(2,), (4,), (-1,)]


class Ticking(Plain):
    """Has event time, of which each second brings a tick."""

    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time"}

    def tuples(self) -> Any:
        for number in range(30):
            yield [number, number * 500]


def test_ticks_come_between_tuples_whatever_is_in_flight() -> None:
    config = {"topology.tick.tuple.freq.secs": 1}
    rows = run_built(built(Client, config=config, spout=Ticking, count=0)).result("sink")
    one = run_built(built(Client, config={**config, "viper.async.in_flight": 1}, spout=Ticking, count=0))
    assert rows == one.result("sink")
    assert rows.count((-1,)) >= 14


class Counts(Bolt):
    outputs = ["number", "count"]
    count = ValueState("int64", default=0, per="task")

    async def process(self, tup: Any) -> None:
        await asyncio.sleep(0)
        self.count.value += tup.values.number
        await asyncio.sleep(0)
        self.emit([tup.values.number, self.count.value])


def test_one_tuple_at_a_time_may_keep_state() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Tracked, args=[50])
    config = {"viper.async.in_flight": 1}
    builder.set_bolt("some", Counts, 1, config=config).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    assert run_built(builder).result("sink") == [(n, n * (n + 1) // 2) for n in range(50)]


# -- refused before the start


class Keyed(Some):
    count = ValueState("int64", default=0, per="task")


class AsyncNext(Spout):
    outputs = ["number"]

    async def next_tuple(self) -> None:  # type: ignore[override]
        """Do nothing."""


class AsyncTuples(Spout):
    outputs = ["number"]

    async def tuples(self) -> Any:  # type: ignore[override]
        yield [1]


class AsyncAck(Tracked):
    async def ack(self, tup_id: int) -> None:  # type: ignore[override]
        """Do nothing."""


class Yields(Bolt):
    outputs = ["number"]

    def process(self, tup: Any) -> Any:
        yield [1]


class AsyncYields(Bolt):
    outputs = ["number"]

    async def process(self, tup: Any) -> Any:  # type: ignore[override]
        yield [1]


class AsyncFail(Some):
    async def fail(self, tup: Any) -> None:  # type: ignore[override]
        """Do nothing."""


class Batches(BatchBolt):
    outputs = ["number"]

    async def process_rows(self, rows: Any) -> None:  # type: ignore[override]
        """Do nothing."""


class Gathers(BatchingBolt):
    outputs = ["number"]
    config = {"topology.tick.tuple.freq.secs": 1}

    async def process_batch(self, key: Any, tups: Any) -> None:  # type: ignore[override]
        """Do nothing."""


class GroupsBy(Gathers):
    async def group_key(self, tup: Any) -> int:  # type: ignore[override]
        return 0


class Sinks(CollectingSink):
    outputs = ["number"]

    async def consume(self, rows: Any) -> None:  # type: ignore[override]
        """Do nothing."""


class Synchronous(Bolt):
    outputs = ["number"]

    def process(self, tup: Any) -> None:
        """Do nothing."""


REFUSED = [
    ("does not say that it is stateless", Some, {"viper.stateless": False}),
    ("declares state \\(count\\)", Keyed, {"viper.stateless": False}),
    (r"method process \(test_coroutines.py:\d+\) that is a generator function: nobody iterates", Yields, {}),
    (r"method process \(test_coroutines.py:\d+\) that is a generator function", AsyncYields, {}),
    (r"method fail \(.*\) that is a coroutine function: nobody awaits it. Write def fail", AsyncFail, {}),
    ("method process_rows .* coroutine function: a BatchBolt", Batches, {}),
    ("method process_batch .* coroutine function: a BatchingBolt", Gathers, {}),
    ("method group_key .* coroutine function: a BatchingBolt", GroupsBy, {}),
    ("method consume .* coroutine function: a CollectingSink", Sinks, {}),
    ("its process is no coroutine function", Synchronous, {"viper.async.in_flight": 2}),
]


@pytest.mark.parametrize(("reason", "bolt", "config"), REFUSED, ids=[one[1].__name__ for one in REFUSED])
def test_what_nobody_would_await_is_refused(reason: str, bolt: type[Bolt], config: dict[str, Any]) -> None:
    with pytest.raises(TopologyError, match=reason):
        plan_of(built(bolt, config=config))
    assert any(re.search(reason, str(problem)) for problem in validate(built(bolt, config=config).build("t")))


@pytest.mark.parametrize(
    ("spout", "reason"),
    [
        (
            AsyncNext,
            "method next_tuple .* coroutine function: nobody awaits it. Write def next_tuple, and do in",
        ),
        (AsyncTuples, "method tuples .* generator function: write def tuples, and do in a bolt"),
        (AsyncAck, "method ack .* coroutine function: nobody awaits it"),
    ],
)
def test_spouts_await_nothing(spout: type[Spout], reason: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    with pytest.raises(TopologyError, match=reason):
        plan_of(builder)


def test_classes_of_streamparse_await_nothing() -> None:
    pystorm = pytest.importorskip("pystorm")

    async def process(self: Any, tup: Any) -> None:
        """Do nothing."""

    ported = type("Ported", (pystorm.Bolt,), {"process": process, "outputs": ["number"]})
    with pytest.raises(TopologyError, match="coroutine function: streamparse awaits nothing"):
        plan_of(built(ported))


def test_a_cycle_runs_on_one_thread() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Plain)
    bolt = builder.set_bolt("some", Cycle, config=AHEAD)
    bolt.shuffle_grouping("source").shuffle_grouping("some")
    with pytest.raises(TopologyError, match="part of a cycle"):
        plan_of(builder)


class Cycle(Bolt):
    outputs = ["number"]

    async def process(self, tup: Any) -> None:
        """Do nothing."""


def test_functions_of_streams_await_nothing() -> None:
    async def ask(number: int) -> int:
        return number

    with pytest.raises(LoadError, match=r"ask \(test_coroutines.py:\d+\) is a coroutine function"):
        Map(ask)


async def never_awaited(*values: Any) -> Any:
    """Stand for a function that a user gives."""


class Chooses:
    def prepare(self, context: Any, stream: Any, targets: Any) -> None:
        """Do nothing."""

    async def choose_tasks(self, task: int, values: Any) -> list[int]:
        return []


def test_functions_of_states_and_conditions_await_nothing() -> None:
    told = r"never_awaited \(test_coroutines.py:\d+\) is a coroutine function, and nobody awaits it"
    for make in (
        lambda: ReducingState("int64", never_awaited),
        lambda: as_condition(never_awaited),
    ):
        with pytest.raises(TypeError, match=told):
            make()


def test_methods_of_aggregates_await_nothing() -> None:
    with pytest.raises(TypeError, match=r"Sums.add: add \(test_coroutines.py:\d+\) is a coroutine function"):

        class Sums(Sum):
            async def add(self, acc: Any, value: Any) -> Any:  # type: ignore[override]
                return acc + value


def test_a_custom_grouping_awaits_nothing() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Plain)
    builder.set_bolt("sink", CollectingSink).grouping("source", Grouping.custom(Chooses))
    problems = [str(problem) for problem in validate(builder.build("t"))]
    assert any(re.search(r"coroutine functions, choose_tasks \(test_coroutines", one) for one in problems)


class Returns(Bolt):
    """No coroutine function, but it returns what one makes."""

    outputs = ["number"]

    def process(self, tup: Any) -> Any:
        return self.ask(tup)

    async def ask(self, tup: Any) -> None:
        self.emit([tup.values.number])


def test_what_is_returned_and_never_awaited_is_an_error() -> None:
    with pytest.raises(ComponentError, match="process returned a coroutine, which nobody awaits"):
        run_built(built(Returns, spout=Plain))


# -- planted bugs


def test_a_plant_that_lands_tuples_as_they_are_done_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def done(self: Any, call: Any) -> None:
        if call in self._calls:
            self._calls.remove(call)
            self._calls.appendleft(call)
            self._on_oldest()

    monkeypatch.setattr(InFlight, "_done", done)
    assert run_built(built(spout=Plain)).result("sink") != expected()


def test_a_plant_that_promises_the_newest_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = InFlight.outlook

    def newest(self: Any) -> Any:
        ready, watermark, until_ts = honest(self)
        return ready, self._places.last() if self._calls else watermark, until_ts

    builder = built(spout=Plain)
    builder.set_bolt("other", Synchronously, 1, config=AHEAD).shuffle_grouping("source")
    builder.set_bolt("both", CollectingSink).global_grouping("some").global_grouping("other")
    rows = run_built(builder).result("both")
    assert rows[:4] == [(0, "other"), (1, 0), (1, "other"), (2, 0)]
    monkeypatch.setattr(InFlight, "outlook", newest)
    with pytest.raises(OrderError, match="was added or promised before"):
        run_built(builder)


class Synchronously(Bolt):
    outputs = ["number", "time"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values.number, "other"])


class OneForAll:
    """As a context variable, but every coroutine sees what was set last."""

    value: Any = None

    def get(self) -> Any:
        return self.value

    def set(self, value: Any) -> None:
        self.value = value


def test_a_plant_that_loses_whose_an_emit_is_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(async_host, "_call", OneForAll())
    with contextlib.suppress(
        ComponentError
    ):  # as most emits come behind the end of that call
        assert run_built(built(spout=Plain)).result("sink") != expected()
