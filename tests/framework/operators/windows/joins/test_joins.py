"""Joins equal a nested loop over all pairs, however they look for them and however parallel they are."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from framework.operators.components import JoinBolt
from framework.operators.windows.joins import Band, Condition, Equal, SameWindow, Within
from tests.framework.operators.windows.joins.joined import (
    FIELDS,
    Event,
    Row,
    drawn,
    joining,
    near,
    nested_loop,
)
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind

NEAR = Band(2, left="x", right="a") & Band(1.1, left="y", right="b")
SAME = Equal(left="k", right="l")


def bolt(on: Condition, **options: Any) -> JoinBolt:
    return JoinBolt("left", "right", on, FIELDS, **options)


def joined(
    events: list[Event],
    made: JoinBolt,
    par: int = 1,
    keys: tuple[str, str] | None = None,
    *,
    typed: bool = True,
    workers: Workers = INLINE,
    **options: Any,
) -> list[tuple[Row, Row]]:
    built = joining(events, made, par, keys, typed=typed)
    found: list[tuple[Row, Row]] = workers.run(built, **options).result("sink")
    assert [at for _, at in found] == sorted({at for _, at in found})
    return found


def rows(found: list[tuple[Row, Row]]) -> list[Row]:
    return [row for row, _ in found]


@pytest.mark.few(7)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", [{}, {"scan": "numpy"}, {"index": "x"}, {"index": ["x", "y"]}], ids=str)
@pytest.mark.parametrize("typed", [True, False])
def test_a_join_equals_a_nested_loop(seed: int, how: dict[str, Any], typed: bool) -> None:
    events = drawn(Random(seed), 300, with_none=seed % 2 == 1)
    found = joined(events, bolt(NEAR & Within(before="30ms", after="50ms"), **how), typed=typed)
    expected = nested_loop(events, lambda a, b: near(a, b, 2, 1.1) if typed else plain(a, b), 30, 50)
    assert rows(found) == expected
    assert expected


def plain(left: Row, right: Row) -> bool:
    if None in (left[2], right[2]):
        return False
    return abs(left[2] - right[2]) <= 2 and abs(left[3] - right[3]) <= 1.1


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("par", [1, 2, 3, 6])
@pytest.mark.parametrize("keys", [6, 1000])
def test_a_dealt_join_has_the_same_rows_at_the_same_positions(seed: int, par: int, keys: int) -> None:
    events = drawn(Random(seed), 300)
    on = NEAR & Within("40ms")
    found = joined(events, bolt(on, keys=keys), par)
    assert found == joined(events, bolt(on, keys=1))
    assert rows(found) == nested_loop(events, lambda a, b: near(a, b, 2, 1.1), 40, 40)


@pytest.mark.few(2)
@every_kind
def test_a_dealt_join_does_not_depend_on_its_workers(workers: Workers) -> None:
    events = drawn(Random(9), 400)
    found = joined(events, bolt(NEAR & Within("40ms")), 3, workers=workers, viper__slice__tuples=7)
    assert found == joined(events, bolt(NEAR & Within("40ms")))


@pytest.mark.few(2)
@every_kind
@pytest.mark.parametrize("par", [1, 4])
def test_a_join_by_key_does_not_depend_on_its_workers(workers: Workers, par: int) -> None:
    events = drawn(Random(5), 300)
    on = SAME & SameWindow("25ms") & Band(3, left="x", right="a")
    found = joined(events, bolt(on, index="k"), par, ("k", "l"), workers=workers)

    def matches(left: Row, right: Row) -> bool:
        return left[1] == right[1] and abs(left[2] - right[2]) <= 3

    assert rows(found) == nested_loop(events, matches, 10**6, 10**6, 25)


def unlike(left: Row, right: Row) -> bool:
    """A predicate of one's own."""
    return left[1] != right[1] and (left[2] + right[2]) % 3 == 0


def test_any_function_may_say_what_matches() -> None:
    events = drawn(Random(3), 200)
    found = joined(events, bolt(Within(after="20ms") & unlike), 2)
    assert rows(found) == nested_loop(events, unlike, 0, 20)


@pytest.mark.parametrize(
    ("left", "right"),
    [("rows", "rows"), ("rows", "rows:default"), (["other", "rows:late"], ["rows:late", "more"])],
    ids=str,
)
def test_a_stream_on_both_sides_is_refused(left: Any, right: Any) -> None:
    with pytest.raises(ValueError, match=r"^rows:(default|late): left and right at once"):
        JoinBolt(left, right, Within("1s"), FIELDS)


def test_two_streams_of_one_component_are_joined() -> None:
    JoinBolt("rows:early", "rows:late", Within("1s"), FIELDS)
