"""Steps by key remember by declared state: it survives kills and restarts, and goes back with what failed."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import add
from pathlib import Path
from typing import Any

import pytest

from framework import BatchBolt, Bolt, Rows, StreamBuilder
from framework.frontends.streams import KeyedStream, keyed
from framework.frontends.streams.keyed import AggregateByKey, CountByKey, Folded, FoldedState, ReduceByKey
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.state import LivingHandle, StateAccess
from framework.runtime import RunReport
from framework.testing import run_bolt
from tests.framework.frontends.streams.words import COUNT, KEYS, DiesAtTheHalf, Keyed, collected, spoils
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind
from tests.viper.stores import Store
from viper.state import items

STEPS: dict[str, Callable[[KeyedStream], Any]] = {
    "count_by_key": lambda keyed: keyed.count_by_key(par=2, name="step"),
    "reduce_by_key": lambda keyed: keyed.reduce_by_key(add, par=2, name="step"),
    "aggregate_by_key": lambda keyed: keyed.aggregate_by_key(list, collected, tuple, par=2, name="step"),
}


def expected(step: str) -> list[Any]:
    """Compute the output of a step for the numbers."""
    found: list[Any] = []
    seen: dict[str, list[int]] = {}
    for number in range(COUNT):
        of_key = seen.setdefault(f"key {number % KEYS}", [])
        of_key.append(number)
        results = {"count_by_key": len, "reduce_by_key": sum, "aggregate_by_key": lambda n: tuple(n[-3:])}
        found.append((f"key {number % KEYS}", results[step](of_key)))  # type: ignore[operator]
    return found


def topology(step: str, *between: type[Bolt]) -> Any:
    builder = StreamBuilder()
    stream = STEPS[step](builder.new_stream(Keyed, name="source").key_by("key"))
    for number, bolt in enumerate(between, 1):
        stream = stream.to(bolt, name=f"b{number}").stream()
    stream.to(CollectingSink, name="sink")
    return builder._assembly.builder


@pytest.mark.few(8)
@every_kind
@pytest.mark.parametrize("step", STEPS)
def test_steps_remember_from_slice_to_slice(step: str, workers: Workers) -> None:
    report = workers.run(topology(step), viper__slice__tuples=100, viper__jumbo__size=64)
    assert report.result("sink") == expected(step)
    (states,) = [state for state in report.statistics.states if state.component == "step"]
    assert states.keys == KEYS


@pytest.mark.parametrize("step", ["count_by_key", "reduce_by_key"])
def test_what_is_remembered_survives_a_kill(step: str, tmp_path: Path) -> None:
    """Tuples that the dead process had taken are lost; the sums resume from those before."""
    placement = {"source": 1, "step": 2, "b1": 2, "sink": 3}
    options = {"viper__slice__tuples": 50, "topology__acker__executors": 0}
    report = PROCESSES.run(
        topology(step, DiesAtTheHalf), marks=str(tmp_path), viper__placement=placement, **options
    )
    (incident,) = report.incidents
    last: dict[str, int] = {}
    for key, value in report.result("sink"):
        assert value > last.get(key, -1)
        last[key] = value
    whole = dict(expected(step))
    if step == "count_by_key":
        assert sum(whole.values()) - incident.lost <= sum(last.values()) <= sum(whole.values())
    for key, value in last.items():
        assert whole[key] - COUNT * incident.lost <= value <= whole[key]
        assert value > whole[key] // 2


class TestFailures:
    """Under ``viper.on.error``: what happens to the state of a tuple that fails, and of those before it."""

    def run(self, function: Callable[..., Any], **options: Any) -> RunReport:
        builder = StreamBuilder()
        keyed = builder.new_stream(Keyed, name="source").key_by("key")
        keyed.aggregate_by_key(list, function, len).to(CollectingSink, name="sink")
        return INLINE.run(builder._assembly.builder, **options)

    @pytest.mark.parametrize("choice", ["skip", "restart"])
    def test_the_others_go_on_with_it(self, choice: str) -> None:
        def fails_at_1_000(before: list[int], number: int) -> list[int]:
            if number == 1_000:
                raise ValueError("planted")
            return [*before, number]

        report = self.run(fails_at_1_000, viper__on__error=choice)
        last = dict(report.result("sink"))
        assert sum(last.values()) == COUNT - 1
        assert report.components["fails_at_1_000"].failed == 1

    def test_what_a_function_changes_before_it_raises_stays(self) -> None:
        """As it would in a dictionary; the bolt that is made again sees the same."""

        def changes_and_fails(before: list[int], number: int) -> list[int]:
            before.append(number)
            if number == 1_000:
                raise ValueError("planted")
            return before

        for choice in ("skip", "restart"):
            report = self.run(changes_and_fails, viper__on__error=choice)
            assert sum(dict(report.result("sink")).values()) == COUNT

    def test_a_value_that_cannot_be_pickled_is_named(self) -> None:
        with pytest.raises(ComponentError, match=r"state folded holds .*generator.*cannot be pickled"):
            self.run(lambda before, number: [(n for n in ())])


@pytest.mark.parametrize("most_rows", [1, 2, None])
def test_single_steps_in_a_test(most_rows: int | None) -> None:
    rows = [("a", 1), ("b", 2), ("a", 3)]
    counts = run_bolt(
        CountByKey, rows, fields=["key", "n"], key=["key"], args=[["key", "count"]], most_rows=most_rows
    )
    assert counts.streams["default"] == [("a", 1), ("b", 1), ("a", 2)]
    sums = run_bolt(
        ReduceByKey, rows, fields=["key", "n"], key=["key"], args=["operator.add", 1, ["key", "sum"]]
    )
    assert sums.streams["default"] == [("a", 1), ("b", 2), ("a", 4)]


@pytest.mark.parametrize("step", [ReduceByKey, CountByKey])
@pytest.mark.parametrize("warm", [0, 2])
def test_a_call_that_fails_as_a_whole_changes_nothing(warm: int, step: type[BatchBolt]) -> None:
    """Neither what it has in hand, nor what it has written."""
    rows: Sequence[Any] = [("a", n) for n in range(10)]

    class Fails(step):  # type: ignore[valid-type, misc]
        exit_on_exception = False
        calls = 0

        def process_rows(self, rows: Rows) -> None:
            super().process_rows(rows)
            self.calls += 1
            if self.calls == warm + 1:
                raise ValueError("planted")

    done = run_bolt(
        Fails,
        rows,
        fields=["key", "n"],
        key=["key"],
        args=[["key", "count"]] if step is CountByKey else ["operator.add", 1, ["key", "sum"]],
        most_rows=2,
    )
    numbers = [n for _, n in rows if n not in (2 * warm, 2 * warm + 1)]
    whole = len(numbers) if step is CountByKey else sum(numbers)
    assert done.streams["default"][-1] == ("a", whole)


def test_the_check_finds_a_step_that_forgets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Folded, "forget", lambda self: None)
    with pytest.raises(AssertionError):
        test_a_call_that_fails_as_a_whole_changes_nothing(0, ReduceByKey)


def test_folded_state_is_a_value_of_any_kind() -> None:
    class Declares(Bolt):
        state = FoldedState()

    spec = Declares.state.spec
    assert (spec.kind, spec.per, spec.types) == ("value", "key", "any values")


class LivingAndWritten:
    """The values of a task's keys in two tables: written when a slice ends, and when somebody reads them."""

    def __init__(self) -> None:
        self.stores = [Store(*FoldedState().codes, size_bytes=1 << 24, groups=4) for _ in range(2)]
        self.tables = [store.table(0) for store in self.stores]
        self.handles: list[Any] = [
            FoldedState().handle(
                StateAccess(
                    "folded", [table], store.scope, store.scope, False, is_read_anytime=is_read_anytime
                )
            )
            for store, table, is_read_anytime in zip(self.stores, self.tables, (True, False), strict=True)
        ]
        self.outputs: list[list[Any]] = [[], []]

    def slice(self, rows: list[tuple[Any, ...]]) -> None:
        """Process rows, and end the slice."""
        for store, handle, output in zip(self.stores, self.handles, self.outputs, strict=True):
            step = AggregateByKey(collected, 1, ["key", "seen"], make=list)
            vars(step)["folded"] = handle
            step.emit_rows = lambda made, output=output, **_: output.extend(made)  # type: ignore[method-assign]
            step.process_rows(Rows(rows, "source", "default", ["key", "number"]))
            handle.flush()
            store.writer.commit()
        assert self.outputs[0] == self.outputs[1]

    def order(self) -> list[list[Any]]:
        """The keys of each table, in its order."""
        return [[key for group in range(4) for key, _ in items(table, group)] for table in self.tables]

    def found(self) -> list[list[Any]]:
        """The keys and values of each table, in its order."""
        return [
            [(key, pickle.loads(data)) for group in range(4) for key, (data,) in items(table, group)]
            for table in self.tables
        ]

    def save(self) -> None:
        """Write all, as for a checkpoint."""
        (self.handles[1]).save()
        written, living = self.found()
        assert written == living


MIXED: list[Any] = [1, 2, "x", (1, "y"), [1, 2], None, 2.5]


@pytest.mark.parametrize("most_kept", [0, 3, 1 << 18])
@pytest.mark.parametrize("seed", range(5))
def test_what_lives_is_what_would_have_been_written(
    monkeypatch: pytest.MonkeyPatch, seed: int, most_kept: int
) -> None:
    monkeypatch.setattr(keyed, "MOST_KEPT", most_kept)
    chance, both = random.Random(seed), LivingAndWritten()
    for _ in range(60):
        both.slice([(chance.choice(MIXED), chance.randrange(99)) for _ in range(chance.randrange(9))])
        written, living = both.order()
        assert written == living  # keys are there at once
        if chance.random() < 0.2:
            both.save()
        if chance.random() < 0.1:
            both.save()
            for handle in both.handles:
                handle.own(range(4))
    both.save()


def test_a_living_value_is_written_when_somebody_reads_it() -> None:
    both = LivingAndWritten()
    both.slice([("x", 1)])
    both.slice([("x", 2)])
    assert both.found() == [[("x", [1, 2])], [("x", [1])]]
    both.save()


@pytest.mark.parametrize(
    ("is_read_anytime", "goes_on", "lives"),
    [(False, False, True), (True, False, False), (False, True, False), (True, True, False)],
)
def test_values_live_only_where_nobody_reads_or_takes_back(
    is_read_anytime: bool, goes_on: bool, lives: bool
) -> None:
    store = Store(*FoldedState().codes, size_bytes=1 << 20, groups=4)
    access = StateAccess("folded", [store.table(0)], store.scope, store.scope, goes_on)
    handle = FoldedState().handle(replace(access, is_read_anytime=is_read_anytime))
    assert isinstance(handle, LivingHandle) is lives


@every_kind
def test_a_value_that_becomes_one_that_cannot_be_pickled_is_named(workers: Workers) -> None:
    """At the end at the latest, where it lives in its process."""
    builder = StreamBuilder()
    step = builder.new_stream(Keyed, name="source").key_by("key").aggregate_by_key(list, spoils, len)
    step.to(CollectingSink, name="sink")
    with pytest.raises(ComponentError, match=r"state folded holds .*generator.*cannot be pickled"):
        workers.run(builder._assembly.builder)
