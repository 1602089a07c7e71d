"""Two recordings side by side: the first difference, its kind, and what it descends from."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework import Bolt
from framework.planning import TimeMode
from framework.recording import Recording, RecordingError
from framework.recording.comparing import (
    Kind,
    StreamComparison,
    ancestors,
    check_comparable,
    compare,
    compare_tuples,
    first_difference,
)
from framework.recording.header import header_of
from framework.recording.reading import Recorded
from tests.framework.recording.pieces import (
    HandRun,
    Row,
    emission,
    plan_of,
    position,
    positions_of,
    recorded_run,
)

Listed = Sequence[tuple[int, str]]
"""Timestamps and values of a stream's tuples."""


def compared(a: Listed, b: Listed) -> StreamComparison:
    tuples = ([Recorded(position(ts), 1, 0, (value,)) for ts, value in side] for side in (a, b))
    return compare_tuples("c", "default", *map(iter, tuples))


def test_equal_streams_have_no_difference() -> None:
    both = [(1, "x"), (2, "x"), (2, "y")]
    assert compared(both, both) == StreamComparison("c", "default", both=3)
    assert compared([], []) == StreamComparison("c", "default")


@pytest.mark.parametrize(
    ("a", "b", "kind", "at"),
    [
        ([(1, "x"), (2, "y")], [(1, "x"), (2, "z")], Kind.VALUES, 2),
        ([(1, "x"), (2, "y"), (3, "z")], [(1, "x"), (3, "z")], Kind.MISSING_IN_B, 2),
        ([(1, "x"), (3, "z")], [(1, "x"), (2, "y"), (3, "z")], Kind.MISSING_IN_A, 2),
        ([(1, "x"), (2, "y")], [(1, "x")], Kind.MISSING_IN_B, 2),
        ([], [(1, "x")], Kind.MISSING_IN_A, 1),
        ([(1, "x"), (2, "y"), (4, "z")], [(1, "x"), (3, "y"), (4, "z")], Kind.POSITION, 2),
        ([(1, "x"), (3, "y"), (4, "z")], [(1, "x"), (2, "y"), (4, "z")], Kind.POSITION, 2),
        # All values alike: what comes next tells a missing tuple from one that stands elsewhere.
        ([(1, "x"), (2, "x"), (3, "x")], [(2, "x"), (3, "x")], Kind.MISSING_IN_B, 1),
        ([(2, "x"), (3, "x")], [(1, "x"), (2, "x"), (3, "x")], Kind.MISSING_IN_A, 1),
        ([(1, "x"), (4, "x")], [(2, "x"), (4, "x")], Kind.POSITION, 1),
        ([(1, "x")], [(2, "x")], Kind.POSITION, 1),
        ([(1, "x"), (1, "y")], [(1, "x")], Kind.MISSING_IN_B, 1),
        ([(1, "x"), (1, "y")], [(1, "y"), (1, "x")], Kind.VALUES, 1),
    ],
)
def test_the_kind_of_the_first_difference(a: Listed, b: Listed, kind: Kind, at: int) -> None:
    first = compared(a, b).first
    assert first is not None
    assert (first.kind, first.position) == (kind, position(at))


@given(seed=st.integers(0, 2**32 - 1))
def test_every_tuple_is_counted_once(seed: int) -> None:
    print("seed", seed)
    rng = random.Random(seed)
    a, b = ({ts: rng.choice("xy") for ts in range(30) if rng.random() < 0.7} for _ in range(2))
    found = compared(sorted(a.items()), sorted(b.items()))
    assert found.both == len(a.keys() & b.keys())
    assert found.only_a == len(a.keys() - b.keys())
    assert found.only_b == len(b.keys() - a.keys())
    assert found.other_values == sum(a[ts] != b[ts] for ts in a.keys() & b.keys())
    differing = [ts for ts in range(30) if a.get(ts) != b.get(ts)]
    assert (found.first is None) == (not differing)
    assert found.first is None or found.first.position == position(differing[0])


class TestRecordings:
    def test_runs_of_other_parallelism_are_the_same(self, tmp_path: Path) -> None:
        paths = [recorded_run(tmp_path / str(n), plan_of(2, *par)) for n, par in enumerate([(1, 1), (3, 4)])]
        with Recording(paths[0]) as a, Recording(paths[1]) as b:
            check_comparable(a.header, b.header)
            for component, stream, count in (("split", "default", 10), ("split", "lengths", 6)):
                found = compare(a, b, component, stream)
                assert (found.both, found.only_a, found.only_b, found.first) == (count, 0, 0, None)

    def test_the_line_of_descent_has_what_both_recorded(self, tmp_path: Path) -> None:
        def change(component: str, row: Row) -> Row | None:
            changes: dict[tuple[str, Row], Row] = {
                ("split", ("c",)): ("C",),
                ("count", ("c", 1)): ("C", 1),
            }
            return changes.get((component, row), row)

        intact = recorded_run(tmp_path / "a", plan_of(2))
        changed = recorded_run(tmp_path / "b", plan_of(2, 2, 2), change=change)
        with Recording(intact) as a, Recording(changed) as b:
            found = [compare(a, b, "count", "default"), compare(a, b, "split", "default")]
            # That of split comes first, as an input lies before its outputs.
            first = first_difference(found)
            assert first is not None and first.component == "split"
            assert found[0].first is not None
            line = list(ancestors(a, b, found[0].first))
        shown = [(x.hop.component, x.same, [t.values for t in x.a], [t.values for t in x.b]) for x in line]
        assert shown == [
            ("lines", True, [("c a",)], [("c a",)]),
            ("split", False, [("c",)], [("C",)]),
        ]

    def test_an_ancestor_that_is_missing_in_one(self, tmp_path: Path) -> None:
        intact = recorded_run(tmp_path / "a", plan_of(2))
        changed = recorded_run(
            tmp_path / "b",
            plan_of(2),
            change=lambda id, row: row if id != "lines" and row != ("b", 1) else None,
        )
        with Recording(intact) as a, Recording(changed) as b:
            found = compare(a, b, "count", "default")
            assert found.first is not None and found.first.kind is Kind.MISSING_IN_B
            line = list(ancestors(a, b, found.first))
        assert [(x.hop.component, len(x.a), len(x.b)) for x in line] == [("lines", 1, 0), ("split", 1, 1)]

    def test_of_many_that_share_a_position_few_are_shown(self, tmp_path: Path) -> None:
        runs = [HandRun(tmp_path / name, plan_of()) for name in "ab"]
        spout = runs[0].spout(0, 1, ("first",))
        for nth in range(5):
            runs[0].recorders[2].record(emission([(nth,)], None, positions_of(spout)))
        runs[0].bolt("split", 0, spout, 0, ("word",))
        with Recording(runs[0].finish()) as a, Recording(runs[1].finish()) as b:
            first = compare(a, b, "split", "default").first
            assert first is not None
            [line] = ancestors(a, b, first)
        assert [t.values for t in line.a] == [("first",), (0,)]
        assert line.b == ()


class TestComparable:
    def test_another_time(self) -> None:
        header = header_of(plan_of())
        other = dataclasses.replace(header, time=TimeMode.INGEST)
        with pytest.raises(RecordingError, match="A was recorded by logical time, B by ingest time"):
            check_comparable(header, other)

    def test_another_shape(self) -> None:
        class Other(Bolt):
            pass

        header, other = header_of(plan_of()), header_of(plan_of(another=Other))
        with pytest.raises(RecordingError, match="of different shape: component 'split' marks positions by"):
            check_comparable(header, other)

    def test_another_parallelism_is_none(self) -> None:
        check_comparable(header_of(plan_of()), header_of(plan_of(5, 4, 3)))
