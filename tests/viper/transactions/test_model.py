"""Drawn transactions of one to four tasks, against the same ones in plain Python one after the other.

Tasks are fed, evaluated, called back and killed in any rhythm; tables, results and reasons must not depend
on it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.viper.transactions.programs import ALONE, SPECS, TABLES, programs, programs_of_sets, run_alone, say
from tests.viper.transactions.reference import AbortedError, Program, Reference, checked
from tests.viper.transactions.world import Fed, Member, World
from viper.position import Position
from viper.transactions.group import LogSpec
from viper.transactions.recorder import Recorder, View

Call = tuple[str, Any]
"""("program", a program), ("failed", one that is left by an exception), ("alone", (place, amount))"""

ALL = 1 << 30
"""As many tuples at once as there are."""

CALLS = st.one_of(
    st.tuples(st.just("program"), programs()),
    st.tuples(st.just("program"), programs()),
    st.tuples(st.just("program"), programs_of_sets()),
    st.tuples(st.just("failed"), programs(most=3)),
    st.tuples(st.just("alone"), st.tuples(st.sampled_from(ALONE), st.integers(-500, 700))),
)


def alone(view: View, place: tuple[str, str, Any], amount: int) -> int:
    table, *rest = place
    return run_alone(view, TABLES[table], *rest, amount)


def process(recorder: Recorder, tup: Any) -> None:
    """Process a tuple as the bolt: make all its calls; if the last one says so, raise in the end."""
    calls, raises = tup.values
    for kind, what in calls:
        if kind == "alone":
            recorder.alone(tup, lambda view, what=what: alone(view, *what))
            continue
        try:
            with recorder.begin(tup) as t:
                say(t, what)
                if kind == "failed":
                    raise LookupError
        except LookupError:
            assert kind == "failed"
    if raises:
        recorder.discard_input()


@st.composite
def tasks(draw: Any, most: int = 4, calls_of: Any = CALLS) -> list[list[Fed]]:
    made = []
    for _ in range(draw(st.integers(1, most))):
        steps = draw(st.lists(st.integers(1, 3), max_size=8))
        tuples, ts = [], 0
        for step in steps:
            ts += step
            calls = draw(st.lists(calls_of, max_size=3))
            tuples.append(
                Fed(Position(ts, 0, draw(st.integers(0, 1))), (calls, draw(st.integers(0, 9)) == 0))
            )
        made.append(tuples)
    return made


RHYTHMS = st.lists(
    st.tuples(
        st.sampled_from(["feed", "feed", "evaluate", "evaluate", "call back", "release", "kill"]),
        st.integers(0, 3),
        st.integers(1, 3),
    ),
    max_size=25,
)


def successor(member: Member) -> None:
    for one in member.tuples[member.released :]:
        one.results = []
    member.begin(member.released)


def go(world: World, rhythm: list[tuple[str, int, int]], at_once: int) -> None:
    for what, which, count in rhythm:
        member = world.members[which % len(world.members)]
        if what == "feed":
            member.feed(count)
        elif what == "evaluate":
            world.evaluate(member)
        elif what == "call back":
            member.call_back(count)
        elif what == "release":
            member.release()
            member.tell()
        else:
            successor(member)
    world.settle(at_once)


def expected(reference: Reference, kind: str, what: Any) -> tuple[list[Any], str | None] | None:
    if kind == "failed":
        return None
    return reference.alone(*what[0], what[1]) if kind == "alone" else reference.run(what)


def check(
    reference: Reference,
    tasks: list[list[Fed]],
    components: list[int],
    rhythm: list[tuple[str, int, int]],
    log_bytes: int = 8192,
    at_once: int = ALL,
) -> None:
    logs = [LogSpec(component, task) for task, component in enumerate(components[: len(tasks)])]
    world = World(SPECS, logs, log_bytes)
    for tuples in tasks:
        world.add(process, [Fed(one.position, one.values) for one in tuples])
    go(world, rhythm, at_once)
    order = sorted(
        (one.position, logs[task].component, task, index)
        for task, member in enumerate(world.members)
        for index, one in enumerate(member.tuples)
    )
    for _, _, task, index in order:
        one = world.members[task].tuples[index]
        calls, raises = one.values
        found = [(list(result.values), result.aborted) for result in one.results]
        wanted = [] if raises else [expected(reference, kind, what) for kind, what in calls]
        assert repr(found) == repr([result for result in wanted if result is not None]), one
        assert [bool(result) for result in one.results] == [aborted is None for _, aborted in found]
    for table in world.tables:
        assert repr(list(table.rows())) == repr(reference.sorted_rows(table.spec.table_name))
    counts = world.group.counts()
    assert counts.transactions == sum(len(one.results) for member in world.members for one in member.tuples)


SIZES = st.sampled_from([4096, 8192, 65536])
AT_ONCE = st.sampled_from([1, 2, ALL])
COMPONENTS = st.lists(st.integers(0, 2), min_size=4, max_size=4)


class TestModel:
    @pytest.mark.slow
    @settings(max_examples=150)
    @given(tasks=tasks(), components=COMPONENTS, rhythm=RHYTHMS, at_once=AT_ONCE)
    def test_drawn(self, tasks: Any, components: list[int], rhythm: Any, at_once: int) -> None:
        check(Reference(SPECS), tasks, components, rhythm, at_once=at_once)

    @pytest.mark.slow
    @settings(max_examples=2000)
    @given(tasks=tasks(), components=COMPONENTS, rhythm=RHYTHMS, log_bytes=SIZES, at_once=AT_ONCE)
    def test_drawn_at_length(
        self, tasks: Any, components: list[int], rhythm: Any, log_bytes: int, at_once: int
    ) -> None:
        check(Reference(SPECS), tasks, components, rhythm, log_bytes, at_once)


# -- planted: a reference that is wrong is told from the right one

CATCH = settings(max_examples=3000, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)


class DeletesKeepSets(Reference):
    def do_delete(self, values: list[Any], table: str, key: Any) -> None:
        gone = self.rows[table].pop(key, None)
        self.kept = {**getattr(self, "kept", {}), (table, key): gone}

    def zeros(self, table: str) -> dict[str, Any]:
        made = super().zeros(table)
        for (name, _), gone in getattr(self, "kept", {}).items():
            if name == table and gone is not None:
                made.update({column: value for column, value in gone.items() if isinstance(value, set)})
        return made


class OverflowsWrap(Reference):
    def change(self, how: str, values: list[Any], *rest: Any) -> None:
        try:
            super().change(how, values, *rest)
        except AbortedError as aborted:
            if str(aborted) != "overflow":
                raise


class AbortsLeaveTraces(Reference):
    def run(self, program: Program) -> tuple[list[Any], str | None]:
        values: list[Any] = []
        self.conditions = 0
        try:
            for operation in program:
                self._do(operation, values)
        except AbortedError as aborted:
            return [], str(aborted)
        return values, None


class ReadsSeeWhatWasBefore(Reference):
    def run(self, program: Program) -> tuple[list[Any], str | None]:
        self.before = {table: dict(rows) for table, rows in self.rows.items()}
        return super().run(program)

    def do_put_if_absent(self, values: list[Any], table: str, key: Any, given: Any) -> None:
        super().do_put_if_absent(values, table, key, given)
        values[-1] = int(key not in self.before[table])


class ConditionsCountFromZero(Reference):
    def do_require(self, values: list[Any], expression: Any, reason: str | None) -> None:
        super().do_require(values, expression, reason)
        if self.conditions == 1:
            self.conditions = 0


class SetsAreShared(Reference):
    def seen(self, table: str, column: str, key: Any) -> set[Any]:
        return super().seen(table, "s" if table == "pairs" else column, key)


WRONG = [
    DeletesKeepSets,
    OverflowsWrap,
    AbortsLeaveTraces,
    ReadsSeeWhatWasBefore,
    ConditionsCountFromZero,
    SetsAreShared,
]


OF_SETS = st.tuples(st.just("program"), programs_of_sets())


@pytest.mark.parametrize(
    "wrong",
    # Hypothesis has to look through most of its examples for this one.
    [pytest.param(wrong, marks=pytest.mark.slow) if wrong is OverflowsWrap else wrong for wrong in WRONG],
)
def test_a_wrong_reference_is_caught(wrong: type[Reference]) -> None:
    is_of_sets = wrong in (DeletesKeepSets, SetsAreShared, ReadsSeeWhatWasBefore)

    @CATCH
    @given(tasks=tasks(1, OF_SETS if is_of_sets else CALLS), components=COMPONENTS)
    def attempt(tasks: Any, components: list[int]) -> None:
        check(wrong(SPECS), tasks, components, [])

    with pytest.raises(AssertionError):
        attempt()


def test_a_wrong_order_is_caught() -> None:
    @CATCH
    @given(tasks=tasks(), rhythm=RHYTHMS)
    def attempt(tasks: Any, rhythm: Any) -> None:
        turned = [0, 1, 2, 3]
        logs = [LogSpec(component, task) for task, component in enumerate(turned[: len(tasks)])]
        world = World(SPECS, logs)
        for tuples in tasks:
            world.add(process, [Fed(one.position, one.values) for one in tuples])
        go(world, rhythm, ALL)
        reference = Reference(SPECS)
        order = sorted(
            (one.position, -logs[task].component, task, index)
            for task, member in enumerate(world.members)
            for index, one in enumerate(member.tuples)
        )
        for _, _, task, index in order:
            calls, raises = world.members[task].tuples[index].values
            for kind, what in [] if raises else calls:
                expected(reference, kind, what)
        for table in world.tables:
            assert repr(list(table.rows())) == repr(reference.sorted_rows(table.spec.table_name))

    with pytest.raises(AssertionError):
        attempt()


def test_checked_is_of_64_bits() -> None:
    assert checked(2**63 - 1) == 2**63 - 1
    with pytest.raises(AbortedError):
        checked(2**63)
