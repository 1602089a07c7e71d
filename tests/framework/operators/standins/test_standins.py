"""The stand-ins do what the Java classes do that they stand for."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from framework.model.instantiate import Beans
from framework.model.topology import ObjectDef
from framework.operators.components import Component, Tuple
from framework.operators.standins import STAND_INS

TESTING = "org.apache.storm.testing."
WINDOWS = "org.apache.storm.topology.base.BaseWindowedBolt$"


def made(class_name: str, *args: Any, **options: Any) -> Any:
    """An instance; a component also notes what it emits and logs."""
    instance = Beans(()).make(ObjectDef(class_name, args, cls=STAND_INS[class_name], **options))
    if isinstance(instance, Component):
        emitted: list[Any] = []
        instance._collector = SimpleNamespace(  # type: ignore[assignment]
            emit=lambda values, **_: emitted.append(values)
        )
        instance.emitted = emitted  # type: ignore[attr-defined]
    return instance


def tup(*values: Any) -> Tuple:
    return Tuple("id", "source", "default", 1, values)


def test_words_are_counted() -> None:
    bolt = made(TESTING + "TestWordCounter")
    for word in ("a", "b", "a"):
        bolt.process(tup(word, "ignored"))
    assert bolt.emitted == [["a", 1], ["b", 1], ["a", 2]]


def test_tuples_are_counted() -> None:
    bolt = made(TESTING + "TestGlobalCount")
    for _ in range(3):
        bolt.process(tup())
    assert bolt.emitted == [[1], [2], [3]]


def test_tuples_are_logged_with_their_source(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    bolt = made("org.apache.storm.flux.wrappers.bolts.LogInfoBolt")
    bolt.process(tup("a", 1))
    assert caplog.messages == ["source/default: ['a', 1]"]


def words_of(task: int, count: int, clock: list[float]) -> list[Any]:
    spout = made(TESTING + "TestWordSpout", False)
    spout.initialize(
        {}, {"task->component": {"2": "w", "3": "w", "10": "w"}, "componentid": "w", "taskid": task}
    )
    while len(spout.emitted) < count:
        clock[0] += 0.05
        spout.next_tuple()
    found: list[Any] = spout.emitted
    return found


def test_words_come_ten_times_a_second_and_are_the_same_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    first = words_of(2, 20, clock)
    assert 1.85 < clock[0] < 2.05
    assert {word for [word] in first} <= {"nathan", "mike", "jackson", "golda", "bertels"}
    assert words_of(2, 20, clock) == first
    assert words_of(10, 20, clock) != first


def test_n_grouping_takes_the_first_tasks() -> None:
    grouping = made(TESTING + "NGrouping", 2)
    grouping.prepare(None, "words", "default", [7, 5, 6])
    assert list(grouping.choose_tasks(("any",))) == [5, 6]
    with pytest.raises(ValueError, match="sends to 2 tasks, but the consumer of 'words' has 1"):
        grouping.prepare(None, "words", "default", [7])


def test_lengths_of_windows_are_plain_values() -> None:
    assert made(WINDOWS + "Count", 5) == 5
    assert made(WINDOWS + "Count", factory="of", factory_args=(6,)) == 6
    assert made(WINDOWS + "Duration", 5, "MINUTES") == timedelta(minutes=5)
    for factory, expected in (("of", timedelta(milliseconds=2)), ("seconds", timedelta(seconds=2))):
        assert made(WINDOWS + "Duration", factory=factory, factory_args=(2,)) == expected
    for factory in ("minutes", "hours", "days"):
        assert made(WINDOWS + "Duration", factory=factory, factory_args=(2,)) == timedelta(**{factory: 2})
