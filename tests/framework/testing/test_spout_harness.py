"""One spout step by step, through the module for users' own tests."""

from __future__ import annotations

import time
from typing import Any

import pytest

import framework
from framework import ReliableSpout
from framework.model.errors import TopologyError
from framework.testing import SpoutHarness


@pytest.fixture(params=["framework", "streamparse"])
def base(request: pytest.FixtureRequest) -> Any:
    """The module of base classes: ours, and streamparse's."""
    return framework if request.param == "framework" else request.getfixturevalue("streamparse")


def numbers(base: Any) -> Any:
    class Numbers(base.Spout):  # type: ignore[misc]
        """Emits 1, 2, 3 and so on, and again what has failed."""

        outputs = ["n"]

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.last = 0
            self.again: list[int] = []
            self.told: list[tuple[str, int]] = []

        def next_tuple(self) -> None:
            if self.again:
                n = self.again.pop(0)
            else:
                self.last = n = self.last + 1
            self.emit([n], tup_id=n)

        def ack(self, tup_id: Any) -> None:
            self.told.append(("ack", tup_id))

        def fail(self, tup_id: Any) -> None:
            self.told.append(("fail", tup_id))
            self.again.append(tup_id)

    return Numbers


def test_a_spout_that_never_ends_brings_as_many_as_are_asked_for(base: Any) -> None:
    with SpoutHarness(numbers(base)) as spout:
        assert spout.next() == [(1,)]
        assert spout.next(3) == [(2,), (3,), (4,)]
        spout.advance(100)
        assert (spout.component.last, spout.has_ended) == (4, False)
        assert spout.component.told == [("ack", n) for n in (1, 2, 3, 4)]
        assert (spout.emitted(), spout.take(), spout.take()) == ([(n,) for n in range(1, 5)],) * 2 + ([],)


def test_tuples_that_are_held_are_acked_and_failed_by_the_test(base: Any) -> None:
    with SpoutHarness(numbers(base), answers="hold") as spout:
        spout.next(3)
        assert (spout.held, spout.component.told) == ([(1,), (2,), (3,)], [])
        spout.fail([2])
        spout.ack((1,))
        assert spout.component.told == [("fail", 2), ("ack", 1)]
        assert (spout.next(2), spout.held) == ([(2,), (4,)], [(3,), (2,), (4,)])
        with pytest.raises(ValueError, match=r"no tuple \(1,\) is held: found \[\(3,\), \(2,\), \(4,\)\]"):
            spout.ack([1])


def test_tuples_that_nobody_answers_time_out_on_the_clock(base: Any) -> None:
    with SpoutHarness(numbers(base), answers="hold", conf={"topology.message.timeout.secs": 10}) as spout:
        spout.next(2)
        spout.advance(21)
        assert sorted(spout.component.told) == [("fail", 1), ("fail", 2)]


def test_pending_tuples_are_bounded(base: Any) -> None:
    with SpoutHarness(numbers(base), answers="hold", conf={"topology.max.spout.pending": 2}) as spout:
        assert spout.next(5) == [(1,), (2,)]
        spout.ack([1])
        assert spout.next(5) == [(3,)]


def test_a_generator_ends() -> None:
    class Two(framework.Spout):
        outputs = ["n"]

        def tuples(self) -> Any:
            yield [1]
            yield None
            yield [2]

    with SpoutHarness(Two) as spout:
        assert (spout.next(), spout.has_ended) == ([(1,)], False)
        assert (spout.next(5), spout.has_ended) == ([(2,)], True)
        assert spout.next() == []
        spout.advance(10)
        assert spout.clock.elapsed_s == pytest.approx(10, abs=0.01)


def test_a_spout_that_waits_for_the_clock_gets_it(base: Any) -> None:
    class Hourly(base.Spout):  # type: ignore[misc]
        outputs = ["hour"]

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.began, self.hours = time.monotonic(), 0

        def next_tuple(self) -> None:
            if time.monotonic() - self.began >= 60 * (self.hours + 1):
                self.hours += 1
                self.emit([self.hours])

    with SpoutHarness(Hourly) as spout:
        assert spout.next() == []
        spout.advance(61)
        assert (spout.next(5), spout.next()) == ([(1,)], [])


def test_what_fails_for_good_is_given_up() -> None:
    class Lines(ReliableSpout):
        outputs = ["line"]
        max_fails = 1

        def next_tuple(self) -> None:
            if not self.__dict__.get("done"):
                self.done = True
                self.emit(["a"], tup_id="a")

    with SpoutHarness(Lines, answers="hold") as spout:
        assert spout.next() == [("a",)]
        spout.fail(["a"])
        assert spout.emitted() == [("a",), ("a",)]
        spout.fail(["a"])
        assert spout.emitted() == [("a",), ("a",)]


@pytest.mark.parametrize("where", ["next_tuple", "ack", "fail"])
def test_an_exception_reaches_the_test_as_it_is(where: str) -> None:
    class Raises(framework.Spout):
        outputs = ["n"]

        def next_tuple(self) -> None:
            self._raise("next_tuple")
            self.emit([1], tup_id=1)

        def ack(self, tup_id: Any) -> None:
            self._raise("ack")

        def fail(self, tup_id: Any) -> None:
            self._raise("fail")

        def _raise(self, here: str) -> None:
            if here == where:
                raise ArithmeticError(where)

    harness = SpoutHarness(Raises, answers="hold")
    with pytest.raises(ArithmeticError, match=where), harness as spout:
        spout.next()
        spout.fail([1])
        spout.next()
        spout.ack([1])


def test_answers_are_refused_where_every_tuple_is_acked() -> None:
    with SpoutHarness(numbers(framework)) as spout:
        spout.next()
        assert spout.held == []
        with pytest.raises(ValueError, match='answers="hold"'):
            spout.fail([1])
    with pytest.raises(ValueError, match="answers='none': expected 'ack' or 'hold'"):
        SpoutHarness(numbers(framework), answers="none")


def test_what_is_no_spout_is_refused() -> None:
    class Word(framework.Bolt):
        outputs = ["word"]

    with pytest.raises(TopologyError, match="spout 'spout'"):
        SpoutHarness(Word)
