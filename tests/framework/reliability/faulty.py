"""Components that do what Storm's contract allows, chosen at random, and tell a model of it.

Each run makes classes of its own from these, with the model and the seed as attributes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from framework import BatchingBolt, Bolt, Spout, Stream, TicklessBatchingBolt
from tests.framework.reliability.model import Delivery, Model

AGAIN = "again"


class Broken(Exception):
    """The error that faulty components raise."""


class Faults:
    """The number of faults that are left in a run, so that every tuple comes through in the end."""

    def __init__(self, seed: int, left: int) -> None:
        self.random = random.Random(seed)
        self._left = left

    def strikes(self, probability: float) -> bool:
        """True if something goes wrong now."""
        if self._left <= 0 or self.random.random() >= probability:
            return False
        self._left -= 1
        return True


class Source(Spout):
    """Emits tuples with ids 0, 1, ... and each again that fails, until all have been acked."""

    outputs = ["number", "left"]
    model: Model
    faults: Faults
    copies: int
    count: int
    in_fail: bool
    """True if what has failed is emitted again at once, in ``fail``."""
    stamped: bool
    """True if tuples have event time."""

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.attempts: dict[int, int] = {}
        self.waiting = list(range(self.count))

    def next_tuple(self) -> None:
        if not self.waiting:
            raise StopIteration
        if self.faults.strikes(0.02):
            raise Broken
        for _ in range(min(self.faults.random.choice((1, 1, 3)), len(self.waiting))):
            self._emit(self.waiting.pop(0))

    def _emit(self, n: int) -> None:
        self.attempts[n] = self.attempts.get(n, -1) + 1
        number = self.model.began((self.task_id, n, self.attempts[n]), self.copies)
        options = {"timestamp": n * 300} if self.stamped else {}
        self.emit([number, self.faults.random.randrange(3)], tup_id=n, **options)

    def ack(self, tup_id: Any) -> None:
        self.model.heard_ack((self.task_id, tup_id, self.attempts[tup_id]))
        if self.faults.strikes(0.02):
            raise Broken

    def fail(self, tup_id: Any) -> None:
        self.model.heard_fail((self.task_id, tup_id, self.attempts[tup_id]), self.failure)
        if self.in_fail:
            self._emit(tup_id)
        else:
            self.waiting.append(tup_id)


class Faulty(Bolt):
    """The common part of all faulty bolts."""

    model: Model
    faults: Faults
    copies: int
    """The number of tasks that receive what it emits on its default stream."""
    copies_again: int = 0
    """And on the stream that leads back, if it has one."""

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.model.fail_all_of(self.task_id)

    def note(self, tup: Any) -> Delivery:
        """Note that a tuple has come."""
        delivery = self.task_id, str(tup.id)
        self.model.received(delivery, tup.values[0])
        return delivery

    def settle(self, tup: Any) -> None:
        """Answer a tuple: nearly always with an ack; now and then twice, or with a fail."""
        fails = self.faults.strikes(0.1)
        self.answer(tup, fails)
        if self.faults.strikes(0.05):
            self.answer(tup, not fails)

    def answer(self, tup: Any, fails: bool) -> None:
        """Ack or fail a tuple."""
        if fails:
            self.model.fail((self.task_id, str(tup.id)))
            self.fail(tup)
        else:
            self.model.ack((self.task_id, str(tup.id)), self.component_name)
            self.ack(tup)

    def send(self, parents: Sequence[Any], carried: Sequence[Any], **options: Any) -> None:
        """Emit a tuple that belongs to the trees of these, and carries on what those carry."""
        if self.outputs:
            numbers = [tup.values[0] for tup in parents], [tup.values[0] for tup in carried]
            number = self.model.emitted(*numbers, self.copies)
            self.emit([number, self.faults.random.randrange(3)], **options)

    def go_round(self, tup: Any) -> bool:
        """Send a tuple round again, if this bolt does so and the tuple has not been round enough."""
        if not self.copies_again or tup.values[1] <= 0:
            return False
        number = self.model.emitted([tup.values[0]], [tup.values[0]], self.copies_again)
        self.emit([number, tup.values[1] - 1], stream=AGAIN)
        return True


class Simple(Faulty):
    """Answers in ``process`` or by itself; emits a tuple for each, and sometimes more that nobody needs."""

    def process(self, tup: Any) -> None:
        delivery = self.note(tup)
        if self.faults.strikes(0.05):
            self.raises(delivery)
        if not self.go_round(tup):
            self.send([tup], [tup], **self.faults.random.choice(({}, {"anchors": [tup, tup.id]})))
        if self.faults.strikes(0.1):
            self.send([], [], anchors=[])
        if self.faults.strikes(0.1):
            self.settle(tup)
        if self.faults.strikes(0.05):
            self.raises(delivery)
        self.model.ack(delivery, self.component_name)

    def raises(self, delivery: Delivery) -> None:
        """Raise, as a bolt that fails or forgets the tuple in process for that."""
        if self.auto_fail:
            self.model.fail(delivery)
        raise Broken


class Late(Faulty):
    """Holds tuples for a while, joins some of them, and forgets to answer now and then."""

    auto_ack = False

    def initialize(self, storm_conf: Any, context: Any) -> None:
        super().initialize(storm_conf, context)
        self.kept: list[Any] = []
        self.unsent: list[Any] = []

    def process(self, tup: Any) -> None:
        delivery = self.note(tup)
        if self.faults.strikes(0.03):
            self.model.fail(delivery)
            raise Broken
        if self.go_round(tup):
            self.settle(tup)
            return
        self.kept.append(tup)
        self.unsent.append(tup)
        if self.faults.random.random() < 0.5:
            self.join()
        if self.faults.random.random() < 0.3:
            self.settle_kept()

    def process_tick(self, tup: Any) -> None:
        self.join()
        self.settle_kept()

    def join(self) -> None:
        """Emit one tuple for all that came since the last time."""
        if self.unsent:
            spare = self.faults.random.choice(self.kept)
            joined = self.unsent if spare in self.unsent else [*self.unsent, spare]
            self.send(joined, self.unsent, anchors=[*joined, joined[0].id])
            self.unsent = []

    def settle_kept(self) -> None:
        """Answer what has been sent on."""
        sent = [tup for tup in self.kept if tup not in self.unsent]
        self.kept = list(self.unsent)
        self.faults.random.shuffle(sent)
        for tup in sent:
            if not self.faults.strikes(0.05):
                self.settle(tup)


class Batches(Faulty, BatchingBolt):
    """Sends a tuple on for each batch."""

    def process(self, tup: Any) -> None:
        self.note(tup)
        super().process(tup)

    def group_key(self, tup: Any) -> Any:
        return tup.values[1]

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        if self.faults.strikes(0.1):
            for tup in tups if not self.exit_on_exception else self._gathered(tups):
                self.model.fail((self.task_id, str(tup.id)))
            raise Broken
        self.send(tups, tups)
        for tup in tups:
            if self.faults.strikes(0.05):
                self.settle(tup)
        for tup in tups:
            self.model.ack((self.task_id, str(tup.id)), self.component_name)

    def _gathered(self, tups: list[Any]) -> list[Any]:
        return tups + [tup for batch in self._batches.values() for tup in batch]


class TimedBatches(Batches, TicklessBatchingBolt):
    """The same by a timer of its own."""

    secs_between_batches = 0.3


ROUND = [*Source.outputs, Stream(Source.outputs, name=AGAIN)]
KINDS: dict[str, type[Faulty]] = {
    "simple": Simple,
    "late": Late,
    "batches": Batches,
    "timed": TimedBatches,
}
