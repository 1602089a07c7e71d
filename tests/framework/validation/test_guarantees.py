"""What is promised to spouts, and the warning where tuples may come again to a bolt that remembers."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, PartitionedSpout, ReliableSpout, SeekableSpout, Spout, TopologyBuilder, ValueState
from framework.config import resolve
from framework.validation import guarantees, validate


class Plain(Spout):
    """Says nothing of itself."""

    outputs = ["word"]

    def next_tuple(self) -> None:
        raise StopIteration


class Repeating(Plain):
    """Hears what becomes of its tuples."""

    def fail(self, tup_id: Any) -> None:
        self.emit([tup_id], tup_id)


class Kept(ReliableSpout):
    """Likewise."""

    outputs = ["word"]
    next_tuple = Plain.next_tuple


class Seekable(SeekableSpout):
    """Says where it is."""

    outputs = ["word"]
    next_tuple = Plain.next_tuple


class Divided(PartitionedSpout):
    """Brings partitions."""

    outputs = ["word"]
    partitions = 1


class Forward(Bolt):
    """Remembers nothing."""

    outputs = ["word"]

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


class Count(Forward):
    """Remembers."""

    outputs = ["word"]
    seen = ValueState("int64", default=0)


def told(spout: type[Spout], bolt: type[Bolt] = Count, **options: Any) -> tuple[str, list[str]]:
    """The promise to a spout, two hops before a bolt, and the warnings about it."""
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    builder.set_bolt("forward", Forward).shuffle_grouping("spout")
    builder.set_bolt("bolt", bolt).fields_grouping("forward", "word")
    topology = builder.build("tested")
    settings, problems = resolve(
        topology, options={name.replace("__", "."): value for name, value in options.items()}
    )
    assert not problems
    (promise,) = guarantees(topology, settings)
    problems = [problem for problem in validate(topology, settings) if "ack, fail" in problem.message]
    assert all(problem.warning for problem in problems)
    return promise, [problem.message for problem in problems]


@pytest.mark.parametrize(
    ("spout", "promise"),
    [
        (Plain, "does not say where it is: it is refused"),
        (Repeating, "does not say where it is: it is refused"),
        (Seekable, "says where it is (offset, seek): with viper.recovery exact"),
        (Divided, "brings partitions: with viper.recovery exact"),
    ],
)
def test_what_is_promised(spout: type[Spout], promise: str) -> None:
    found, _ = told(spout)
    assert found.startswith(f"spout 'spout' {promise}")
    assert ("tuples with an id come at least once" in found) is (spout is Repeating)


@pytest.mark.parametrize("spout", [Repeating, Kept])
def test_tuples_may_come_again_to_a_bolt_that_remembers(spout: type[Spout]) -> None:
    _, (warning,) = told(spout)
    assert "hears what becomes of its tuples (ack, fail), and 'bolt' behind it declares state" in warning


def test_nobody_is_warned_without_need() -> None:
    assert not told(Plain)[1]
    assert not told(Seekable)[1]
    assert not told(Repeating, Forward)[1]
    assert not told(Repeating, topology__acker__executors=0)[1]
