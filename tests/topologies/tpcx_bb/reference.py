"""The queries in SQL, from their rules: each text is understood by Spark and by SQLite alike.

A period's answers come in the order in which the query names them. All numbers are whole but averages and
slopes, which are quotients of whole numbers below 2 ** 53, so that any engine rounds them alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DAY_S = 86_400
HOUR_S = 3_600


def listed(numbers: tuple[int, ...]) -> str:
    """Numbers as a list of SQL."""
    return ", ".join(map(str, numbers))


def sessions(timeout_s: int, inclusive: bool) -> str:
    """Common table expressions that number the sessions of each user, from `chosen` clicks to `sessions`."""
    return f"""
        paused AS (
            SELECT *, `at` - LAG(`at`) OVER (PARTITION BY `user` ORDER BY `number`) AS pause FROM chosen
        ),
        sessions AS (
            SELECT *, SUM(CASE WHEN pause {">=" if inclusive else ">"} {timeout_s} THEN 1 ELSE 0 END)
                OVER (PARTITION BY `user` ORDER BY `number` ROWS UNBOUNDED PRECEDING) AS session
            FROM paused
        )"""


@dataclass(frozen=True)
class PairRules:
    """Query 1."""

    categories: tuple[int, ...] = (1, 2, 3)
    stores: tuple[int, ...] = (10, 20, 33, 40, 50)
    period_s: int = HOUR_S
    distinct: bool = True
    above: int = 50
    limit: int = 100
    ties: str = "ASC"

    def sql(self) -> str:
        """The query."""
        return f"""
        WITH bought AS (
            SELECT {"DISTINCT" if self.distinct else ""}
                `at` - `at` % {self.period_s} AS began, ticket, sales.item AS item
            FROM sales JOIN items ON sales.item = items.item
            WHERE category IN ({listed(self.categories)}) AND store IN ({listed(self.stores)})
        ),
        counted AS (
            SELECT one.began + {self.period_s} AS ended, one.item AS one, other.item AS other,
                COUNT(*) AS times
            FROM bought one JOIN bought other
                ON one.began = other.began AND one.ticket = other.ticket AND one.item < other.item
            GROUP BY one.began, one.item, other.item
        ),
        ranked AS (
            SELECT *, ROW_NUMBER() OVER (
                PARTITION BY ended ORDER BY times DESC, one {self.ties}, other {self.ties}) AS place
            FROM counted WHERE times > {self.above}
        )
        SELECT ended, one, other, times FROM ranked WHERE place <= {self.limit} ORDER BY ended, place"""


@dataclass(frozen=True)
class ViewRules:
    """Query 2."""

    item: int = 10_001
    timeout_s: int = 3_600
    inclusive: bool = False
    distinct: bool = True
    period_s: int = DAY_S
    limit: int = 30
    ties: str = "ASC"

    def sql(self) -> str:
        """The query."""
        return f"""
        WITH chosen AS (SELECT * FROM clicks WHERE `user` IS NOT NULL AND item IS NOT NULL),
        {sessions(self.timeout_s, self.inclusive)},
        ends AS (
            SELECT `user`, session, MAX(`at`) + {self.timeout_s} + 1 AS ended FROM sessions
            GROUP BY `user`, session
        ),
        asked AS (SELECT DISTINCT `user`, session FROM sessions WHERE item = {self.item}),
        viewed AS (
            SELECT {"DISTINCT" if self.distinct else ""} sessions.`user`, sessions.session, item, ended
            FROM sessions
            JOIN asked ON sessions.`user` = asked.`user` AND sessions.session = asked.session
            JOIN ends ON sessions.`user` = ends.`user` AND sessions.session = ends.session
            WHERE item <> {self.item}
        ),
        {top("viewed", "ended", self.period_s, self.ties)}
        SELECT reported, item, times FROM ranked WHERE place <= {self.limit} ORDER BY reported, place"""


def top(table: str, at: str, period_s: int, ties: str) -> str:
    """Common table expressions that rank the items of each period, from a table to `ranked`."""
    return f"""
        counted AS (
            SELECT {at} - {at} % {period_s} + {period_s} AS reported, item, COUNT(*) AS times FROM {table}
            GROUP BY {at} - {at} % {period_s}, item
        ),
        ranked AS (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY reported ORDER BY times DESC, item {ties}) AS place
            FROM counted
        )"""


@dataclass(frozen=True)
class BeforeRules:
    """Query 3."""

    item: int = 10_001
    views: int = 5
    within_s: int = 10 * DAY_S
    categories: tuple[int, ...] = (2, 3)
    categories_first: bool = False
    purchases_count: bool = True
    period_s: int = DAY_S
    limit: int = 30
    ties: str = "ASC"

    def sql(self) -> str:
        """The query."""
        in_categories = f"category IN ({listed(self.categories)})"
        before = [f"item = {self.item}", in_categories] if self.categories_first else ["1 = 1"]
        looked_at = "1 = 1" if self.purchases_count else f"(sales IS NULL OR item = {self.item})"
        return f"""
        WITH chosen AS (
            SELECT clicks.*, category FROM clicks JOIN items ON clicks.item = items.item
            WHERE `user` IS NOT NULL
        ),
        placed AS (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY `user` ORDER BY `number`) AS place FROM chosen
            WHERE ({" OR ".join(before)}) AND {looked_at}
        ),
        found AS (
            SELECT bought.`at` AS `at`, viewed.item AS item
            FROM placed bought JOIN placed viewed
                ON bought.`user` = viewed.`user`
                AND viewed.place BETWEEN bought.place - {self.views} AND bought.place - 1
            WHERE bought.item = {self.item} AND bought.sales IS NOT NULL
                AND viewed.`at` >= bought.`at` - {self.within_s} AND viewed.{in_categories}
        ),
        {top("found", "`at`", self.period_s, self.ties)}
        SELECT reported, item, times FROM ranked WHERE place <= {self.limit} ORDER BY reported, place"""


@dataclass(frozen=True)
class CartRules:
    """Query 4."""

    timeout_s: int = 3_600
    inclusive: bool = False
    without_sale: bool = True
    orders_end: bool = True
    period_s: int = DAY_S

    def sql(self) -> str:
        """The query."""
        without_sale = "AND sales IS NULL" if self.without_sale else ""
        orders = "CASE WHEN type = 'order' THEN place ELSE 0 END" if self.orders_end else "0"
        ended = f"(MAX(`at`) + {self.timeout_s} + 1)"
        return f"""
        WITH chosen AS (
            SELECT clicks.*, type FROM clicks JOIN pages ON clicks.page = pages.page
            WHERE `user` IS NOT NULL {without_sale}
        ),
        {sessions(self.timeout_s, self.inclusive)},
        placed AS (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY `user`, session ORDER BY `number`) AS place
            FROM sessions
        ),
        abandoned AS (
            SELECT {ended} + ({self.period_s} - {ended} % {self.period_s}) % {self.period_s} AS reported,
                COUNT(*) AS visited
            FROM placed GROUP BY `user`, session
            HAVING MAX(CASE WHEN type = 'dynamic' THEN place ELSE 0 END) > MAX({orders})
        )
        SELECT reported, COUNT(*), CAST(SUM(visited) AS DOUBLE) / COUNT(*)
        FROM abandoned GROUP BY reported ORDER BY reported"""


@dataclass(frozen=True)
class SlopeRules:
    """Query 15."""

    store: int = 10
    first: int = 11_567
    last: int = 11_932
    by_day: bool = True
    flat: bool = True

    def sql(self) -> str:
        """The query."""
        return f"""
        WITH days AS (
            SELECT category, `date` - {self.first} AS x,
                {"SUM(net_paid)" if self.by_day else "net_paid"} AS y
            FROM sales JOIN items ON sales.item = items.item
            WHERE store = {self.store} AND `date` BETWEEN {self.first} AND {self.last}
            {"GROUP BY category, `date`" if self.by_day else ""}
        ),
        sums AS (
            SELECT category,
                COUNT(*) * SUM(x * y) - SUM(x) * SUM(y) AS above,
                COUNT(*) * SUM(x * x) - SUM(x) * SUM(x) AS below
            FROM days GROUP BY category
        )
        SELECT category, CAST(above AS DOUBLE) / CAST(below AS DOUBLE)
        FROM sums WHERE below <> 0 AND above {"<=" if self.flat else "<"} 0 ORDER BY category"""


RULES: Mapping[str, type[Any]] = {
    "q1": PairRules,
    "q2": ViewRules,
    "q3": BeforeRules,
    "q4": CartRules,
    "q15": SlopeRules,
}
