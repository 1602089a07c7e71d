"""The view of a function that runs alone: it reads and changes tables."""

from __future__ import annotations

from typing import Any

import pytest

from tests.viper.transactions.programs import ACCOUNTS, PAIRS, PLACES, SPECS
from tests.viper.transactions.world import World, one_task
from viper.transactions.recorder import Recorder, Result, View
from viper.transactions.specs import TableSpec


def alone(what: Any) -> tuple[World, Result]:
    """Run a function alone, and return the world after it, with its result."""

    def process(recorder: Recorder, tup: Any) -> None:
        recorder.alone(tup, what)

    world = one_task(SPECS, process, [()])
    world.tables[0].load([(1, 10), (2, 20)])
    world.tables[1].put("a", 7, 1.5, [1, 2])
    world.tables[2].put((1, "a"), 5, ["x"], [])
    world.settle()
    return world, world.members[0].tuples[0].results[0]


def value_of(what: Any) -> Any:
    _, result = alone(what)
    assert result, result.aborted
    return result.values[0]


class TestReading:
    def test_values(self) -> None:
        assert value_of(lambda view: view.read(ACCOUNTS, 1)) == 10
        assert value_of(lambda view: view.read(ACCOUNTS.balance, 5, -1)) == -1
        assert value_of(lambda view: view.read(PLACES.cars, "a")) == (1, 2)
        assert value_of(lambda view: view.read(PLACES.x, "b")) == 0.5
        assert value_of(lambda view: view.read(PLACES.x, "b", 9)) == 9
        assert value_of(lambda view: view.read(PLACES.x, "a", 9)) == 1.5

    def test_rows(self) -> None:
        assert value_of(lambda view: view.get(PAIRS, (1, "a"))) == {"a": 5, "s": ("x",), "r": ()}
        assert value_of(lambda view: view.get(PAIRS, (1, "b"))) is None
        assert value_of(lambda view: view.get(PLACES, "b")) == {"n": 3, "x": 0.5, "cars": ()}
        assert value_of(lambda view: list(view.rows(ACCOUNTS))) == [(1, 10), (2, 20)]
        assert value_of(lambda view: [view.exists(PLACES, "a"), view.exists(PLACES, "b")]) == [True, False]
        assert value_of(lambda view: [view.has(PLACES.cars, "a", n) for n in (1, 3)]) == [True, False]

    def test_a_missing_row_aborts(self) -> None:
        for what in (
            lambda view: view.read(ACCOUNTS, 5),
            lambda view: view.set(PAIRS.a, (5, "a"), 1),
            lambda view: view.insert(PAIRS.s, (5, "a"), 1),
        ):
            _, result = alone(what)
            assert result.aborted in ("no row 5 in accounts", "no row (5, 'a') in pairs")


class TestWriting:
    def test_it_sees_its_own_writes(self) -> None:
        def what(view: View) -> Any:
            view.set(ACCOUNTS, 1, 11)
            view.set(ACCOUNTS, 3, 30)
            view.delete(ACCOUNTS, 2)
            view.delete(ACCOUNTS, 4)
            view.set(PLACES.n, "b", 8)
            view.put(PAIRS, (2, "b"), a=1, s=[4, 5], r="z" and ["z"])
            return [list(view.rows(spec)) for spec in SPECS]

        world, result = alone(what)
        assert result.values[0] == [
            [(1, 11), (3, 30)],
            [("a", 7, 1.5, (1, 2)), ("b", 8, 0.5, ())],
            [((1, "a"), 5, ("x",), ()), ((2, "b"), 1, (4, 5), ("z",))],
        ]
        assert [list(table.rows()) for table in world.tables] == result.values[0]

    def test_put_makes_a_row_anew(self) -> None:
        def what(view: View) -> Any:
            view.put(PLACES, "a", n=1)
            view.put(PAIRS, (1, "a"), s=[7])
            return [view.get(PLACES, "a"), view.get(PAIRS, (1, "a"))]

        assert value_of(what) == [{"n": 1, "x": 0.5, "cars": ()}, {"a": 0, "s": (7,), "r": ()}]

    def test_sets(self) -> None:
        def what(view: View) -> Any:
            found = [view.insert(PLACES.cars, "a", n) for n in (2, 3, "x")]
            found += [view.discard(PLACES.cars, "a", n) for n in (1, 1)]
            found += [view.insert(PLACES.cars, "new", 1), view.insert(PLACES.cars, "new", 1)]
            return [found, view.read(PLACES.cars, "a"), view.get(PLACES, "new")]

        found, of_a, new = value_of(what)
        assert found == [False, True, True, True, False, True, False]
        assert (of_a, new) == ((2, 3, "x"), {"n": 3, "x": 0.5, "cars": (1,)})

    def test_deleted_rows_have_empty_sets_when_they_come_back(self) -> None:
        def what(view: View) -> Any:
            view.delete(PLACES, "a")
            view.insert(PLACES.cars, "a", 9)
            return view.read(PLACES.cars, "a")

        assert value_of(what) == (9,)

    def test_counts_are_those_of_later_transactions(self) -> None:
        reads: list[Any] = []

        def process(recorder: Recorder, tup: Any) -> None:
            recorder.alone(tup, lambda view: view.insert(PLACES.cars, "a", tup.values[0]))
            with recorder.begin(tup) as t:
                reads.append(t.read(PLACES.cars, "a"))
                t.insert(PLACES.cars, "a", 100)
                t.read(PLACES.cars, "a")

        world = one_task(SPECS, process, [(1,), (2,), (1,)])
        world.settle()
        values = [one.results[1].values for one in world.members[0].tuples]
        assert values == [(1, 1, 2), (3, 0, 3), (3, 0, 3)]


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        (lambda view: view.read(PLACES, "a"), TypeError, "expected a column, or a table with one only"),
        (lambda view: view.get(PLACES.n, "a"), TypeError, "expected a table; found <column places.n"),
        (
            lambda view: view.set(PLACES.cars, "a", 1),
            TypeError,
            r"is a set: write view.insert\(places.cars, key",
        ),
        (lambda view: view.insert(PLACES.n, "a", 1), TypeError, "column places.n is no set"),
        (lambda view: view.put(PLACES, "a", m=1), KeyError, "table places has no column 'm'"),
        (lambda view: view.set(ACCOUNTS, 1, 1.5), TypeError, "column accounts.balance is int64; found 1.5"),
        (lambda view: view.set(ACCOUNTS, "a", 1), TypeError, "a key of table accounts is int64; found 'a'"),
        (
            lambda view: view.get(TableSpec("t", "int64", {"a": "int64"}, 1), 1),
            KeyError,
            "there is no table 't'",
        ),
    ],
)
def test_what_is_wrong_is_told(what: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        alone(what)


def test_a_view_is_over_with_its_function() -> None:
    kept: list[View] = []
    alone(kept.append)
    with pytest.raises(ValueError, match="the function that this view was for is over"):
        kept[0].read(ACCOUNTS, 1)
