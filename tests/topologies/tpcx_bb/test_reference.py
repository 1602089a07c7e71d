"""The rules of the queries in SQL, and bolts that break them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.framework.runtime.workers.running import INLINE
from tests.portions import at_every_change
from tests.topologies.tpcx_bb.cases import (
    SMALL,
    Files,
    Row,
    answered,
    comparable,
    of_sqlite,
    part,
    small_bolts,
    source_of,
    written,
)
from tests.topologies.tpcx_bb.reference import RULES

MUTATED: Mapping[str, Mapping[str, Any]] = {
    "q1": {
        "categories": (1, 2),
        "stores": (10, 20, 33, 40),
        "period_s": 7_200,
        "distinct": False,
        "above": 9,
        "limit": 11,
        "ties": "DESC",
    },
    "q2": {
        "item": 10_002,
        "timeout_s": 3_599,
        "inclusive": True,
        "distinct": False,
        "period_s": 43_200,
        "limit": 31,
        "ties": "DESC",
    },
    "q3": {
        "item": 10_002,
        "views": 6,
        "within_s": 864_001,
        "categories": (2,),
        "categories_first": True,
        "purchases_count": False,
        "period_s": 43_200,
        "limit": 11,
        "ties": "DESC",
    },
    "q4": {
        "timeout_s": 3_599,
        "inclusive": True,
        "without_sale": False,
        "orders_end": False,
        "period_s": 43_200,
    },
    "q15": {"store": 20, "first": 11_568, "last": 11_933, "by_day": False, "flat": False},
}


@pytest.mark.parametrize(
    ("query", "rule"), [(query, each.name) for query, rules in RULES.items() for each in fields(rules)]
)
def test_each_rule_changes_a_row(files: Files, query: str, rule: str) -> None:
    changed = replace(SMALL[query], **{rule: MUTATED[query][rule]})
    assert of_sqlite(query, files[query], changed) != of_sqlite(query, files[query])


class TestWhatIsTried:
    """The input has answers enough."""

    def test_there_are_thirty_items_a_day(self, files: Files) -> None:
        assert len(of_sqlite("q2", files["q2"], RULES["q2"]())) >= 30 * 11
        assert len(of_sqlite("q3", files["q3"], RULES["q3"]())) >= 100

    def test_a_pair_is_sold_more_than_fifty_times_an_hour(self, files: Files) -> None:
        assert all(row[-1] > 50 for row in of_sqlite("q1", files["q1"], RULES["q1"]()))
        assert of_sqlite("q1", files["q1"], RULES["q1"]())

    def test_some_categories_rise_and_one_is_flat(self, files: Files) -> None:
        slopes = of_sqlite("q15", files["q15"])
        assert 3 <= len(slopes) <= 9 and [slope for _, slope in slopes].count(0.0) == 1


def scene() -> list[Row]:
    """Sales of three days, of which two categories sell less each day and more each day."""
    rows = []
    for day in range(3):
        at = (11_567 + day) * 86_400
        for item, paid in ((10_001, 100 - 10 * day), (10_002, 100 + 10 * day)):
            rows.append((len(rows), at, at // 86_400, 0, item, 1, 10, len(rows), 1, paid))
    return rows


def test_a_slope_is_that_of_the_line(tmp_path: Any) -> None:
    """Worked out by hand: 100, 90, 80 falls by 10 a day."""
    path = written(tmp_path, "q15", scene())
    assert of_sqlite("q15", path) == [(2, -10.0)]
    assert answered("q15", source_of("q15", path), INLINE) == [(2, -10.0)]


def top_with_ties_from_above(query: str) -> Any:
    """The last bolt of a query, with rows that count as many in the opposite order of their keys."""
    queries = part("tpcx_bb.queries")
    base = queries.TopPairs if query == "q1" else queries.TopItems

    class Reversed(base):  # type: ignore[misc]
        def process_window(self, window: Any) -> None:
            rows = [tuple(tup.values) for tup in window.tuples if tup.values[-1] > self._above]
            rows.sort(key=lambda row: (-row[-1], *(-key for key in row[:-1])))
            for row in rows[: self._limit]:
                self.emit((window.end // 1_000_000, *row))

    limits = [SMALL[query].limit, SMALL[query].above] if query == "q1" else [SMALL[query].limit]
    return Reversed(*limits)


def baskets_with_doubles() -> Any:
    """Query 1, with an item that is twice on a ticket counted twice."""

    class Doubled(part("tpcx_bb.queries").Baskets):  # type: ignore[misc]
        def update(self, window: Any, tup: Any) -> Any:
            item, others = tup.values.item, window.state
            pairs = [(min(item, other), max(item, other)) for other in others if item != other]
            others.append(item)
            return pairs

    return Doubled()


def cart_that_orders_keep() -> Any:
    """Query 4, with a cart that counts as abandoned although an order came later."""

    class Kept(part("tpcx_bb.queries").Abandoned):  # type: ignore[misc]
        def process(self, tup: Any) -> None:
            if tup.values.dynamic:
                self.emit([tup.values.pages])

    return Kept()


PLANTED: Mapping[str, tuple[str, str, Callable[[Any], Any]]] = {
    "q1, ties": ("q1", "top", lambda queries: top_with_ties_from_above("q1")),
    "q2, the gap": ("q2", "visits", lambda queries: queries.Visits(gap="3600s")),
    "q3, the age": ("q3", "views", lambda queries: queries.ViewsBefore(within_s=863_999)),
    "q4, orders": ("q4", "abandoned", lambda queries: cart_that_orders_keep()),
    "q15, the last day": ("q15", "of_store", lambda queries: queries.OfStore(last=11_931)),
    "q1, doubles": ("q1", "baskets", lambda queries: baskets_with_doubles()),
    "q1, a store": ("q1", "chosen", lambda queries: queries.OfCategories(stores=(10, 20, 33, 40))),
    "q1, as many as the limit": ("q1", "top", lambda queries: queries.TopPairs(12, 7)),
    "q2, ties": ("q2", "top", lambda queries: top_with_ties_from_above("q2")),
    "q2, a longer gap": ("q2", "visits", lambda queries: queries.Visits(gap="3602s")),
    "q3, ties": ("q3", "top", lambda queries: top_with_ties_from_above("q3")),
    "q3, views": ("q3", "views", lambda queries: queries.ViewsBefore(views=4)),
    "q4, the gap": ("q4", "carts", lambda queries: queries.Carts(gap="3600s")),
    "q15, the first day": ("q15", "of_store", lambda queries: queries.OfStore(first=11_568)),
}
"""The query, the bolt and its maker for each mistake; the first ones are of one query each."""


@pytest.mark.parametrize("mistake", at_every_change(PLANTED, 5))
def test_a_planted_mistake_is_seen(files: Files, mistake: str) -> None:
    query, bolt, make = PLANTED[mistake]
    bolts = {**small_bolts(query), bolt: make(part("tpcx_bb.queries"))}
    found = answered(query, source_of(query, files[query]), INLINE, bolts=bolts)
    assert comparable(query, found) != of_sqlite(query, files[query])
