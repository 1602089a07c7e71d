"""Bolts whose tasks claim key groups: order and state, and whom a slow tuple holds up."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework import BatchBolt, Bolt, ListState, MapState, TopologyBuilder, ValueState, run
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.coordination.cut_record import NO_PROPOSAL, Purpose
from framework.runtime.durability.state.memory import REGISTERS_OF_CLAIMANT
from framework.runtime.tasks.bolt_cut import AtCut
from framework.runtime.tasks.bolt_task import BoltTask, CutParticipant
from framework.runtime.tasks.claimants import Claimants
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.test_sharing import COUNT, Numbers
from tests.framework.runtime.workers.running import Workers, every_kind
from viper.arena import Arena
from viper.hashing import group_of_hash, stable_hash
from viper.registers import Registers
from viper.state import KeyClaimant, KeyClaims

CLAIMS = {"viper.sharing": "claims"}
KEYS = 17


class Keyed(Numbers):
    """As `Numbers`, with a key before each number."""

    outputs = ["key", "number"]

    def emit(self, values: list[Any], **options: Any) -> Any:  # type: ignore[override]
        (number,) = values
        return super().emit([number * number % KEYS, number], **options)


class Remembers(Bolt):
    """Emits what it remembers of a key, in each kind of state."""

    outputs = ["key", "number", "seen", "last", "all", "square"]
    seen = ValueState("int64", default=0)
    last = ValueState(default=[])
    all = ListState()
    squares = MapState("int64", "int64")

    def process(self, tup: Any) -> None:
        key, number = tup.values
        last = self.last.value
        found = [self.seen.add(1), tuple(last), sum(self.all.get()), self.squares.get(number - KEYS, -1)]
        last.append(number)
        del last[:-2]
        self.all.add(number)
        self.squares.put(number, number * number)
        self.emit([key, number, *found])


def expected() -> list[tuple[Any, ...]]:
    """The rows that the key of each number makes of those before it, by a dictionary."""
    before: dict[int, list[int]] = {}
    rows = []
    for number in range(COUNT):
        key = number * number % KEYS
        of_key = before.setdefault(key, [])
        square = (number - KEYS) ** 2 if number - KEYS in of_key else -1
        rows.append((key, number, len(of_key) + 1, tuple(of_key[-2:]), sum(of_key), square))
        of_key.append(number)
    return rows


def built(bolt: type[Bolt] = Remembers, tasks: int = 3, **config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed)
    builder.set_bolt("some", bolt, tasks, config={**CLAIMS, **config}).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    return builder


@every_kind
@pytest.mark.parametrize("slices", [1, 7, 4096])
def test_each_key_has_its_tuples_in_order(workers: Workers, slices: int) -> None:
    """The source ends when it has heard an ack for each tuple."""
    report = workers.run(built(), topology__max__spout__pending=50, viper__slice__tuples=slices)
    assert report.result("sink") == expected()
    source = report.components["source"]
    assert (source.acked, source.failed, source.unanswered) == (COUNT, 0, 0)


class Sums(BatchBolt):
    outputs = ["key", "sum"]
    total = ValueState("int64", default=0)

    def process_rows(self, rows: Any) -> None:
        made = []
        for key, number in rows.keyed():
            self.total.value += number
            made.append((key, self.total.value))
        self.emit_rows(made)


@every_kind
def test_batch_bolts_get_the_rows_of_their_keys(workers: Workers) -> None:
    sums: dict[int, int] = {}
    rows = []
    for key, number, *_ in expected():
        sums[key] = sums.get(key, 0) + number
        rows.append((key, sums[key]))
    assert workers.run(built(Sums), topology__max__spout__pending=50).result("sink") == rows


SLOW = 4
"""The key whose first tuple is held; its square, and no number before it, has it."""


class Held(Bolt):
    """Holds the first tuple of a key until those of all other key groups have been processed elsewhere."""

    outputs = ["number"]
    seen = ValueState("int64", default=0)
    done = threading.Semaphore(0)

    def process(self, tup: Any) -> None:
        key, number = tup.values
        if group(key) != group(SLOW):
            self.done.release()
        elif self.seen.value == 0 and key == SLOW:
            for _ in range(sum(group(n * n % KEYS) != group(SLOW) for n in range(COUNT))):
                self.done.acquire()
        self.seen.value += 1
        self.emit([number])


def group(key: int) -> int:
    return group_of_hash(stable_hash(key), 256)


def test_a_slow_tuple_holds_up_its_key_group_only() -> None:
    """Dealt out, a half of the key groups would wait behind it for ever."""
    topology = built(Held, 2, **{"viper.blocking": True})
    # A jumbo tuple may have one tuple only, and there is room for all that wait behind the slow one.
    options = {"viper__slice__tuples": 1, "viper__channel__jumbos": 2 * COUNT}
    report = run_built(topology, viper__worker="thread", **options)
    assert report.result("sink") == [(number,) for number in range(COUNT)]


@pytest.mark.parametrize(("recorded", "repeated"), [("claims", "dealt"), ("dealt", "claims")])
def test_a_recording_does_not_depend_on_who_claimed_what(
    recorded: str, repeated: str, tmp_path: Path
) -> None:
    def made(sharing: str, **options: Any) -> RunReport:
        topology = built(**{"viper.sharing": sharing}).build("tested")
        return run(topology, worker="thread", workers=3, **options)

    assert made(recorded, record=tmp_path / "recorded").result("sink") == expected()
    assert made(repeated, replay=tmp_path / "recorded").result("sink") == expected()


class Unhashable(Keyed):
    def emit(self, values: list[Any], **options: Any) -> Any:  # type: ignore[override]
        (number,) = values
        key = object() if number == 3 else number % KEYS
        return super(Keyed, self).emit([key, number], **options)


def test_what_is_no_key_is_refused_where_it_is_emitted() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Unhashable)
    builder.set_bolt("some", Remembers, 2, config=CLAIMS).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    with pytest.raises(Exception, match="grouped by fields"):
        run_built(builder)


class Changes(Bolt):
    """Changes the lists that it gets, the keys among them."""

    outputs = ["key", "seen"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        key, number = tup.values
        seen = self.seen.add(1)
        self.emit([list(key), seen])
        key.append(number)


class Lists(Keyed):
    def emit(self, values: list[Any], **options: Any) -> Any:  # type: ignore[override]
        (number,) = values
        return super(Keyed, self).emit([[number % KEYS], number], **options)


@pytest.mark.parametrize("worker", ["inline", "thread"])
def test_keys_that_a_task_changes_are_its_own(worker: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Lists)
    changes = builder.set_bolt("some", Changes, 3, config={**CLAIMS, "viper.mutates": True})
    changes.fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    found = run_built(builder, viper__worker=worker).result("sink")
    assert found == [([number % KEYS], number // KEYS + 1) for number in range(COUNT)]


class AtEnd:
    """Claimants of which one stands at the end, and then all do."""

    stands = False

    def end(self) -> bool:
        self.stands = True
        return True


@pytest.mark.parametrize(
    ("exact", "is_clear", "stands"), [(True, False, False), (True, True, True), (False, False, True)]
)
def test_a_task_stands_at_the_end_behind_its_commit(exact: bool, is_clear: bool, stands: bool) -> None:
    claimants = AtEnd()
    task: Any = SimpleNamespace(
        parts=SimpleNamespace(group=None, claimants=claimants),
        emitter=SimpleNamespace(commits=object() if exact else None, is_clear=is_clear),
    )
    assert BoltTask._may_end(task) is stands
    assert claimants.stands is stands


class Cut:
    """In place of a task's `BoltCut`, which waits at the cut of the first attempt."""

    attempt = 1
    is_wanted = True

    def call_there(self, at_cut: AtCut) -> None:
        self.at_cut = at_cut


def test_nobody_continues_from_a_cut_where_another_writes_although_its_checkpoint_is_given_up() -> None:
    """The other's rows would change, or move, under its hands."""
    arena = Arena.private(1 << 16)
    claims = KeyClaims.create(arena, 8, 2)
    registers = Registers.create(arena, 2 * REGISTERS_OF_CLAIMANT)

    def claimants(index: int) -> Claimants:
        return Claimants(KeyClaimant(claims, index), registers, lambda: 0, ())

    one, other = claimants(0), claimants(1)
    parts = SimpleNamespace(group=None, awaited=SimpleNamespace(may_pass=lambda: True), claimants=one)
    cut: Any = Cut()
    task: Any = SimpleNamespace(parts=parts)
    participant = CutParticipant(task, cut, None)
    proposal = NO_PROPOSAL._replace(attempt=1, purpose=Purpose.CHECKPOINT)
    assert not cut.at_cut(proposal)
    assert not other.has_written(1) and other.stand(1)
    with other.writing():
        cut.is_wanted = False
        assert not participant.claimants_have_come(one) and not cut.at_cut(proposal)
    assert participant.claimants_have_come(one) and cut.at_cut(proposal)

    dies = other.writing()
    dies.__enter__()
    assert one.are_writing
    claimants(1)
    assert not one.are_writing
