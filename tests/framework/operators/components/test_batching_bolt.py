"""Batches fire when pystorm's would, in the same order, and are acked alike."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import framework
from framework import Tuple
from framework.operators.components.tuple import TICK_COMPONENT, TICK_STREAM

TICK = None
"""Among the keys of tuples, a tick."""

Event = tuple[Any, ...]


def tuples(keys: list[str | None]) -> list[Tuple]:
    return [
        Tuple(str(n), TICK_COMPONENT, TICK_STREAM, -1, ())
        if key is TICK
        else Tuple(str(n), "source", "default", 1, (key, n))
        for n, key in enumerate(keys)
    ]


def batching(base: Any, ticks: int, log: Callable[[Event], None]) -> Any:
    class Batches(base):  # type: ignore[misc]
        ticks_between_batches = ticks

        def group_key(self, tup: Any) -> Any:
            return tup.values[0]

        def process_batch(self, key: Any, tups: list[Any]) -> None:
            log(("batch", key, [tup.values[1] for tup in tups]))
            self.emit([key, len(tups)])

    return Batches(input_stream=BytesIO(), output_stream=BytesIO())


def by_ours(keys: list[str | None], ticks: int) -> list[Event]:
    log: list[Event] = []
    bolt = batching(framework.BatchingBolt, ticks, log.append)
    bolt._collector = SimpleNamespace(
        emit=lambda tup, anchors, **_: log.append(("emit", tup, [a.id for a in anchors])),
        ack=lambda tup: log.append(("ack", tup.id)),
    )
    for tup in tuples(keys):
        (bolt.process_tick if bolt.is_tick(tup) else bolt.process)(tup)
    return log


def by_pystorms(keys: list[str | None], ticks: int, pystorm_base: Any) -> list[Event]:
    log: list[Event] = []
    bolt = batching(pystorm_base, ticks, log.append)

    def send(message: dict[str, Any]) -> None:
        if message["command"] == "emit":
            log.append(("emit", message["tuple"], message["anchors"]))
        elif keys[int(message["id"])] is not TICK:
            log.append((message["command"], message["id"]))

    bolt.send_message = send
    for tup in tuples(keys):
        bolt.read_tuple = lambda tup=tup: type(bolt)._theirs(*tup)
        bolt._run()
    return log


@pytest.fixture(scope="module")
def pystorm_base(streamparse: Any) -> Any:
    class Base(streamparse.BatchingBolt):  # type: ignore[misc]
        _theirs = streamparse.Tuple

    return Base


@given(keys=st.lists(st.sampled_from(["a", "b", "c", TICK, TICK]), max_size=40), ticks=st.integers(0, 4))
def test_the_same_ticks_fire_the_same_batches(pystorm_base: Any, keys: list[str | None], ticks: int) -> None:
    assert by_ours(keys, ticks) == by_pystorms(keys, ticks, pystorm_base)


def test_the_first_batch_fires_on_the_second_tick() -> None:
    assert by_ours(["a", TICK], 1) == []
    assert by_ours(["a", TICK, TICK], 1) == [("batch", "a", [0]), ("emit", ["a", 1], ["0"]), ("ack", "0")]


def test_after_an_idle_time_the_next_tick_fires() -> None:
    fired = [event for event in by_ours([TICK, TICK, TICK, "a", TICK], 1) if event[0] == "batch"]
    assert fired == [("batch", "a", [3])]


class Failing(framework.BatchingBolt):
    exit_on_exception = False

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Event] = []
        self._collector = SimpleNamespace(
            ack=lambda tup: self.answers.append(("ack", tup.id)),
            fail=lambda tup: self.answers.append(("fail", tup.id)),
        )

    def group_key(self, tup: Any) -> Any:
        return tup.values[0]

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        if key == "bad":
            raise ValueError(key)


def test_a_batch_that_raises_fails_and_later_ones_are_kept() -> None:
    bolt = Failing()
    for tup in tuples(["good", "bad", "bad", "late"]):
        bolt.process(tup)
    with pytest.raises(ValueError, match="bad"):
        bolt.process_batches()
    assert bolt.answers == [("ack", "0"), ("fail", "1"), ("fail", "2")]
    bolt.process_batches()
    assert bolt.answers[3:] == [("ack", "3")]


def test_a_bolt_that_does_not_go_on_fails_the_later_ones_too() -> None:
    bolt = Failing()
    bolt.exit_on_exception = True
    for tup in tuples(["good", "bad", "late"]):
        bolt.process(tup)
    with pytest.raises(ValueError, match="bad"):
        bolt.process_batches()
    assert bolt.answers == [("ack", "0"), ("fail", "1"), ("fail", "2")]
    bolt.process_batches()
    assert len(bolt.answers) == 3


def test_without_automatic_answers_there_are_none() -> None:
    bolt = Failing()
    bolt.auto_ack = bolt.auto_fail = False
    for tup in tuples(["good", "bad"]):
        bolt.process(tup)
    with pytest.raises(ValueError, match="bad"):
        bolt.process_batches()
    assert bolt.answers == []


def test_a_tickless_bolt_ignores_ticks() -> None:
    class Timed(framework.TicklessBatchingBolt):
        def process_batch(self, key: Any, tups: list[Any]) -> None:
            raise AssertionError("it is not due")

    bolt = Timed()
    (tick,) = tuples([TICK])
    bolt.process(Tuple("1", "source", "default", 1, ()))
    for _ in range(5):
        bolt.process_tick(tick)
