"""The trees of tuples when an emit is refused, and the component continues all the same."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest

from framework import Bolt, Stream, TopologyBuilder
from framework.model.errors import AnswerError, ComponentError, EmitError
from framework.model.topology import Grouping
from tests.framework.reliability.pieces import Heard, ending, tracked
from tests.framework.runtime.pieces import bolt, run_built


class Refuses:
    """A grouping that has no task for 2."""

    def prepare(self, context: Any, component: str, stream: str, tasks: Sequence[int]) -> None:
        self.tasks = tasks

    def choose_tasks(self, values: Sequence[Any]) -> Sequence[int]:
        if values[0] == 2:
            raise ValueError("not this one")
        return self.tasks


def sending(send: type[Bolt], heard: Heard, ids: Sequence[int], first: type[Bolt]) -> TopologyBuilder:
    """``source -> send``, and from there to ``first``, and by way of `Refuses` to ``second``."""
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(heard, ids))
    builder.set_bolt("send", send).shuffle_grouping("source")
    builder.set_bolt("first", first).shuffle_grouping("send")
    builder.set_bolt("second", ending()).grouping("send", Grouping.custom(Refuses))
    return builder


def test_a_tuple_that_cannot_come_to_everybody_comes_to_nobody_and_fails() -> None:
    def send(self: Any, tup: Any) -> None:
        with contextlib.suppress(EmitError):
            self.emit([tup.values[0]], need_task_ids=True)

    heard, received = Heard(), []
    first = ending(lambda self, tup: received.append(tup.values[0]))
    run_built(sending(bolt(send, ["value"]), heard, [1, 2, 3], first))
    assert (heard.acked, heard.failed, heard.reasons) == ([1, 3], [2], ["send:3 raised"])
    assert received == [1, 3]


def test_what_a_silent_consumer_would_have_got_fails_at_once() -> None:
    """A consumer that never answers: nothing is waited for that has not come to it."""

    def send(self: Any, tup: Any) -> None:
        with contextlib.suppress(EmitError):
            self.emit([tup.values[0]], need_task_ids=True)

    heard = Heard()
    silent = ending(auto_ack=False)
    run_built(sending(bolt(send, ["value"]), heard, [2], silent), topology__message__timeout__secs=1)
    assert (heard.acked, heard.failed) == ([], [2])


def test_joints_and_acks_outlive_an_emit_that_is_refused() -> None:
    def send(self: Any, tup: Any) -> None:
        if tup.values[0] == 1:
            self.first = tup
            return
        with contextlib.suppress(EmitError):
            self.emit([2], anchors=[self.first, tup], need_task_ids=True)
        self.ack(self.first)
        self.ack(tup)

    heard = Heard()
    topology = sending(bolt(send, ["value"], auto_ack=False), heard, [1, 3], ending())
    report = run_built(topology, {"duration_s": 20})
    assert sorted(heard.failed) == [1, 3] and heard.acked == []
    assert report.components["source"].unanswered == 0


def test_an_error_of_the_run_in_the_middle_of_a_callback_cannot_be_caught_there() -> None:
    caught: list[BaseException] = []

    def send(self: Any, tup: Any) -> None:
        for _ in range(20_000):
            try:
                self.emit([2])
            except Exception as error:
                caught.append(error)

    with pytest.raises(ComponentError, match="not this one"):
        run_built(sending(bolt(send, ["value"]), Heard(), [1], ending()))
    assert caught == []


def test_an_anchor_that_is_refused_leaves_direct_tasks_as_they_are() -> None:
    got: list[tuple[int, int]] = []

    def tasks_of(context: Any, name: str) -> list[int]:
        return sorted(
            int(task) for task, component in context["task->component"].items() if component == name
        )

    def initialize(self: Any, conf: Any, context: Any) -> None:
        self.targets = tasks_of(context, "mark")

    def send(self: Any, tup: Any) -> None:
        if tup.values[0] == 1:
            self.first = tup
            self.ack(tup)
            return
        with pytest.raises(AnswerError):
            self.emit([0], stream="to", direct_task=self.targets[1], anchors=[self.first])
        for number in (1, 2):
            self.emit([number], stream="to", direct_task=self.targets[0], anchors=[tup])
        self.ack(tup)

    def mark(self: Any, tup: Any) -> None:
        got.append((tasks_of(self.context, "mark").index(self.task_id), tup.values[0]))

    outputs = [Stream(["value"], name="to", direct=True)]
    builder = TopologyBuilder()
    builder.set_spout("source", tracked(Heard(), [1, 2]))
    builder.set_bolt("send", bolt(send, outputs, auto_ack=False, initialize=initialize)).shuffle_grouping(
        "source"
    )
    builder.set_bolt("mark", bolt(mark, None), 2).direct_grouping("send", stream="to")
    run_built(builder, viper__answers="strict")
    assert got == [(0, 1), (0, 2)]
