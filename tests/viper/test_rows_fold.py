"""Rows given to the values of their keys in C, against the same loop in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from viper.rows import fold, is_plain, kept

Row = tuple[Any, ...]
NOTHING = object()


class Values:
    """The values of keys: some have changed, others are kept, and the rest is read."""

    def __init__(self, written: dict[Any, Any]) -> None:
        self.changed: dict[Any, Any] = {}
        self.kept: dict[Any, Any] = {}
        self.written = written
        self.asked: list[Any] = []

    def read(self, key: Any) -> Any:
        self.asked.append(key)
        if key == "another's":
            raise LookupError("another task's")
        return self.written.get(key, NOTHING)

    def hashable(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return tuple(map(self.hashable, key))
        if isinstance(key, set):
            raise TypeError("no key")
        return ("list", *key) if isinstance(key, list) else key

    def arguments(self) -> Any:
        return self.changed, self.kept, self.read, self.hashable, NOTHING


def spread(results: int) -> Callable[[Any], Row]:
    def made(result: Any) -> Row:
        if isinstance(result, tuple | list) and len(result) == results:
            return tuple(result)
        raise TypeError(f"{result!r} is no tuple of {results}")

    return made


def in_python(
    rows: list[Row],
    made: list[Row],
    functions: tuple[Any, ...],
    values: Values,
    width: int,
    results: int,
) -> tuple[Exception | None, bool]:
    """The definition."""
    function, make, result_of, spread = functions
    plain = True
    for row in rows:
        key: Any = row[0] if width == 1 else row[:width]
        before: Any = NOTHING
        try:
            try:
                before = values.changed.get(key, NOTHING)
            except TypeError:
                key = values.hashable(key)
                before = values.changed.get(key, NOTHING)
            if before is NOTHING:
                before = values.kept.get(key, NOTHING)
            if before is NOTHING:
                before = values.read(key)
            rest = row[width:]
            if make is None:
                of = rest[0] if len(rest) == 1 else rest
                value = of if before is NOTHING else function(before, of)
            else:
                value = function(make() if before is NOTHING else before, *rest)
            result = value if result_of is None else result_of(value)
            plain = plain and is_plain(result)
            result = kept(result)
            output = (result,) if results == 1 else spread(result)
            values.changed[key] = value
            made.append((*row[:width], *output))
        except Exception as error:
            if before is not NOTHING:
                values.changed[key] = before
            return error, plain
    return None, plain


def collects(before: list[Any], *given: Any) -> list[Any]:
    """Changes the value itself, and raises at times when it has done so."""
    before.append(given)
    if given and given[0] == 13:
        raise ValueError("planted")
    return before


FUNCTIONS: dict[str, tuple[tuple[Any, ...], int]] = {
    "reduced": ((lambda a, b: (a, b) if b == 13 else b, None, None, spread(1)), 1),
    "collected": ((collects, list, None, spread(1)), 1),
    "length": ((collects, list, len, spread(1)), 1),
    "several": ((collects, list, lambda value: (len(value), value), spread(2)), 2),
    "a list": ((collects, list, lambda value: [len(value), value[-1]], spread(2)), 2),
    "at times one": ((collects, list, lambda value: len(value) > 3 or (1, 2), spread(2)), 2),
    "no such": ((collects, list, lambda value: value.no_such, spread(1)), 1),
    "none to make": ((collects, lambda: None, None, spread(1)), 1),
}
KEYS: list[Any] = [1, 1.0, True, "x", None, [1, 2], {1}, "another's", b"y", 2**80, (1, "x")]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_it_is_the_same_as_in_python(kind: str, seed: int) -> None:
    print(f"seed={seed}")
    chance = random.Random(seed)
    functions, results = FUNCTIONS[kind]
    width, others = chance.choice([1, 1, 2, 3]), chance.choice([0, 1, 1, 2, 20])
    keys = chance.sample(KEYS, chance.randrange(1, 8))
    found: list[Any] = []
    for apply in (fold, in_python):
        drawn = random.Random(seed + 1)
        values = Values({1: [("written",)], "x": [], ("x", "x"): ["both"]})
        for _ in range(4):
            rows = [
                (
                    *(drawn.choice(keys) for _ in range(width)),
                    *(drawn.randrange(20) for _ in range(others)),
                )
                for _ in range(drawn.randrange(12))
            ]
            made: list[Row] = []
            given: Any = values if apply is in_python else values.arguments()
            raised, plain = apply(rows, made, functions, given, width, results)
            told = raised and (type(raised), str(raised))
            found.append((apply, made, told, plain, repr((values.changed, values.kept, values.asked))))
            if drawn.random() < 0.5:
                values.kept.update(values.changed)
                values.changed.clear()
    half = len(found) // 2
    assert [each[1:] for each in found[:half]] == [each[1:] for each in found[half:]]


def test_outputs_do_not_change_with_the_value() -> None:
    made: list[Row] = []
    values = Values({})
    assert fold([("a", 1), ("a", 2)], made, FUNCTIONS["collected"][0], values.arguments(), 1, 1)[0] is None
    assert made == [("a", [(1,)]), ("a", [(1,), (2,)])]
    assert made[1][1] is not values.changed["a"]


def test_what_is_no_exception_is_raised() -> None:
    def stops(before: Any, value: Any) -> Any:
        raise KeyboardInterrupt

    made: list[Row] = []
    values = Values({"a": 1})
    with pytest.raises(KeyboardInterrupt):
        fold([("b", 1), ("a", 1)], made, (stops, None, None, spread(1)), values.arguments(), 1, 1)
    assert made == [("b", 1)]
    assert values.changed == {"b": 1, "a": 1}


@pytest.mark.parametrize("row", [["a", 1], ("a",), "ab"])
def test_what_is_no_row_is_told(row: Any) -> None:
    raised, _ = fold([row], [], (max, None, None, spread(1)), Values({}).arguments(), 2, 1)
    assert isinstance(raised, TypeError)
    assert "no tuple with a key of 2 values" in str(raised)


@pytest.mark.parametrize(("width", "results"), [(0, 1), (1, 0)])
def test_a_key_and_results_have_values(width: int, results: int) -> None:
    with pytest.raises(ValueError, match="expected some"):
        fold([], [], (max, None, None, spread(1)), Values({}).arguments(), width, results)


def test_a_spread_of_another_size_is_told() -> None:
    functions = (lambda before, value: value, None, None, lambda result: (1, 2, 3))
    raised, _ = fold([("a", 1)], [], functions, Values({}).arguments(), 1, 2)
    assert isinstance(raised, TypeError)
    assert "no tuple of 2 results" in str(raised)


def test_a_function_may_change_the_rows() -> None:
    """It must not, and takes nothing down if it does."""
    rows: list[Row] = [("a", 1), ("b", 2), ("c", 3)]
    made: list[Row] = []

    def clears(before: Any, value: Any) -> Any:
        rows.clear()
        return value

    functions = (clears, lambda: 0, None, spread(1))
    assert fold(rows, made, functions, Values({}).arguments(), 1, 1) == (None, True)
    assert made == [("a", 1)]
