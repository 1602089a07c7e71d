"""The component that answers a tuple, and the answer that counts: by a model of the rule of the first one."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from framework import BatchingBolt, TicklessBatchingBolt
from framework.model.errors import ComponentError
from framework.runtime import RunReport
from tests.framework.reliability.pieces import SMALL, Heard, chained, ending, passing, tracked
from tests.framework.runtime.pieces import FakeClock, bolt, listed, run_built

IDS = range(1, 5)
TICKS = {"topology.tick.tuple.freq.secs": 1}

Does = Sequence[str]
SCRIPTS: list[Does] = [
    (),
    ("ack",),
    ("fail",),
    ("raise",),
    ("ack", "ack"),
    ("ack", "fail"),
    ("fail", "ack"),
    ("ack", "raise"),
    ("fail", "raise"),
    ("emit", "ack"),
    ("ack", "emit"),
    ("emit", "raise"),
    ("emit", "fail"),
]
FLAGS = list(itertools.product((True, False), repeat=3))


def first_answer(script: Does, auto_ack: bool, auto_fail: bool) -> str | None:
    """Find the answer of a bolt to a tuple that counts; None if it gives none."""
    for step in script:
        if step in ("ack", "fail"):
            return step
    if "raise" in script:
        return "fail" if auto_fail else None
    return "ack" if auto_ack else None


def does(script: Does) -> Callable[..., None]:
    def process(self: Any, tup: Any) -> None:
        for step in script:
            if step == "raise":
                raise ValueError("as told")
            if step == "emit":
                self.emit([tup.values[0]])
            elif tup.values[0] % 2:
                getattr(self, step)(tup)
            else:
                getattr(self, step)(tup.id)

    return process


@pytest.mark.few(49)
@pytest.mark.parametrize("script", SCRIPTS, ids="-".join)
@pytest.mark.parametrize(("auto_ack", "auto_anchor", "auto_fail"), FLAGS)
def test_the_first_answer_counts(
    script: Does, auto_ack: bool, auto_anchor: bool, auto_fail: bool, clock: FakeClock
) -> None:
    heard = Heard()
    flags = {"auto_ack": auto_ack, "auto_anchor": auto_anchor, "auto_fail": auto_fail}
    scripted = bolt(does(script), exit_on_exception=False, **flags)
    builder = chained(tracked(heard, IDS), scripted, ending())
    report = run_built(builder, {"stop": clock}, topology__message__timeout__secs=1)
    answer = first_answer(script, auto_ack, auto_fail)
    assert sorted(heard.acked) == (list(IDS) if answer == "ack" else [])
    assert sorted(heard.failed) == ([] if answer == "ack" else list(IDS))
    why = "timed out" if answer is None else "b1:1 raised" if "fail" not in script else "failed by b1:1"
    assert set(heard.reasons) == (set() if answer == "ack" else {why})
    given = [step for step in script if step in ("ack", "fail")]
    expected = len(given) - 1 + auto_ack if given else 0  # with auto_ack any other answer is one too many
    assert report.components["b1"].second_answers == 4 * expected


@pytest.mark.parametrize("auto_anchor", [True, False])
def test_a_descendant_that_fails_counts_where_it_is_anchored(auto_anchor: bool) -> None:
    heard = Heard()
    failing = ending(lambda self, tup: self.fail(tup))
    run_built(chained(tracked(heard, IDS), passing(auto_anchor=auto_anchor), failing))
    assert sorted(heard.failed if auto_anchor else heard.acked) == list(IDS)


def second(step: str, **attributes: Any) -> RunReport:
    return run_built(
        chained(tracked(Heard(), IDS), ending(does(("ack", step)), **attributes)), viper__answers="strict"
    )


@pytest.mark.parametrize(("step", "verb"), [("ack", "acks"), ("fail", "fails")])
def test_a_second_answer_is_an_error_where_answers_are_strict(step: str, verb: str) -> None:
    told = rf"AnswerError: {verb} tuple 1, which has been answered before.*viper\.answers: strict"
    with pytest.raises(ComponentError, match=told):
        second(step, auto_ack=False)


def test_an_answer_beside_auto_ack_is_an_error_where_answers_are_strict() -> None:
    with pytest.raises(ComponentError, match="acks tuple 1, which is acked anyway when process returns"):
        second("ack")


def test_an_anchor_to_an_answered_tuple_is_an_error_where_answers_are_strict() -> None:
    def process(self: Any, tup: Any) -> None:
        if hasattr(self, "first"):
            self.emit([0], anchors=[self.first])
        self.first = tup
        self.ack(tup)

    builder = chained(tracked(Heard(), IDS), bolt(process, auto_ack=False))
    with pytest.raises(ComponentError, match=r"anchors to tuple 1, which has been answered before"):
        run_built(builder, viper__answers="strict")


@pytest.mark.parametrize("tracking", [None, 0])
def test_a_second_answer_to_an_untracked_tuple_is_one_as_well(tracking: int | None) -> None:
    """Nobody waits for the first; yet Storm ends the worker at the second, tracked or not."""
    builder = chained(listed([1], [2]), ending(does(("ack", "fail", "ack")), auto_ack=False))
    report = run_built(builder, topology__acker__executors=tracking)
    counters = report.components["b1"]
    assert (counters.acked, counters.failed, counters.second_answers) == (2, 0, 4)
    with pytest.raises(ComponentError, match="fails tuple 1, which has been answered before"):
        run_built(builder, viper__answers="strict", topology__acker__executors=tracking)


# -- later answers


def late(answer: Callable[[Any], Any]) -> Any:
    """A bolt that answers with its next tick what it has gathered."""

    def process(self: Any, tup: Any) -> None:
        self.kept = [*getattr(self, "kept", ()), tup]

    def process_tick(self: Any, tick: Any) -> None:
        for tup in getattr(self, "kept", ()):
            answer(self)(tup)
        self.kept = []

    return ending(process, auto_ack=False, process_tick=process_tick, config=TICKS)


@pytest.mark.parametrize("verb", ["ack", "fail"])
@pytest.mark.parametrize("time", ["logical", "ingest"])
def test_answers_may_come_with_a_tick(verb: str, time: str, clock: FakeClock) -> None:
    heard = Heard()
    builder = chained(tracked(heard, IDS), late(lambda self: getattr(self, verb)))
    report = run_built(builder, {"stop": clock}, viper__time=time)
    assert sorted(heard.acked if verb == "ack" else heard.failed) == list(IDS)
    assert len(heard.acked) + len(heard.failed) == 4
    assert report.components["b1"].second_answers == 0


@pytest.mark.parametrize("base", [BatchingBolt, TicklessBatchingBolt])
@pytest.mark.parametrize("pending", [None, 2])
def test_a_batch_is_acked_when_what_came_of_it_was(base: type, pending: int | None, clock: FakeClock) -> None:
    """Also where the spout waits for that; then it takes several batches."""
    heard = Heard()

    def process_batch(self: Any, key: Any, tups: Any) -> None:
        self.emit([sum(tup.values[0] for tup in tups)])

    config = {} if base is TicklessBatchingBolt else TICKS
    batching = type(
        "Batching", (base,), {"process_batch": process_batch, "outputs": ["value"], "config": config}
    )
    sums: list[int] = []
    adding = ending(lambda self, tup: sums.append(tup.values[0]))
    builder = chained(tracked(heard, IDS), batching, adding)
    run_built(builder, {"stop": clock}, topology__max__spout__pending=pending)
    assert sorted(heard.acked) == list(IDS)
    assert heard.failed == []
    assert sum(sums) == sum(IDS)
    assert len(sums) >= 2 if pending else len(sums) == 1


def test_one_failing_descendant_of_a_batch_fails_all_of_the_batch(clock: FakeClock) -> None:
    heard = Heard()

    def process_batch(self: Any, key: Any, tups: Any) -> None:
        self.emit([key])

    batching = type(
        "Batching",
        (BatchingBolt,),
        {
            "process_batch": process_batch,
            "group_key": lambda self, tup: tup.values[0] % 2,
            "outputs": ["value"],
            "config": TICKS,
        },
    )
    failing = ending(lambda self, tup: self.fail(tup) if tup.values[0] else None)
    run_built(chained(tracked(heard, IDS), batching, failing), {"stop": clock})
    assert (sorted(heard.acked), sorted(heard.failed)) == ([2, 4], [1, 3])


def test_answers_may_come_from_another_thread() -> None:
    """A thread answers each tuple, and emits for it first, as soon as it has come or somewhat later."""
    heard, count = Heard(), 400

    def initialize(self: Any, conf: Any, context: Any) -> None:
        self.waiting: list[Any] = []
        self.came = threading.Semaphore(0)
        self.thread = threading.Thread(target=work, args=(self,))
        self.thread.start()

    def work(self: Any) -> None:
        for _ in range(count):
            self.came.acquire()
            tup = self.waiting.pop(0)
            self.emit([tup.values[0]], anchors=[tup])
            (self.fail if tup.values[0] % 5 == 0 else self.ack)(tup)

    def process(self: Any, tup: Any) -> None:
        self.waiting.append(tup)
        self.came.release()

    def close(self: Any) -> None:
        self.thread.join()

    threaded = bolt(process, auto_ack=False, initialize=initialize, close=close)
    failing = ending(lambda self, tup: self.fail(tup) if tup.values[0] % 7 == 0 else None)
    report = run_built(chained(tracked(heard, range(count)), threaded, failing), **SMALL)
    assert sorted(heard.acked) == [n for n in range(count) if n % 5 and n % 7]
    assert sorted(heard.failed) == [n for n in range(count) if not (n % 5 and n % 7)]
    assert report.components["b1"].second_answers == 0
