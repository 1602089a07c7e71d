"""The source of each rule of the queries: the table of the paper, the published queries, or our reading."""

from __future__ import annotations

from collections.abc import Mapping

from tests.topologies.sources import ORDERED, Code, Guess, Origin, Source

QUERIES = "Big-Data-Benchmark-for-Big-Bench, engines/hive/queries/"
PARAMETERS = Code(
    "Big-Data-Benchmark-for-Big-Bench, engines/hive/conf/queryParameters.sql",
    "the value is one of its parameters",
)
HOURLY = Source(
    ORDERED,
    "Find top 100 pairs of items that are sold together frequently in the retail stores every hour",
)
TOGETHER = Source(
    ORDERED,
    "Find top 30 products that are viewed together online. Viewed together relates to a click-session of a "
    "user with session time-out of 60 mins",
)
BEFORE = Source(
    ORDERED,
    "Find top 30 list of items (sorted by number of views) which are the last 5 products (in the past 10 "
    "days) that are mostly viewed before an item was purchased online",
)
CARTS = Source(
    ORDERED,
    "Shopping cart abandonment analysis: For users who added products in their shopping cart but did not "
    "check out, find average number of pages they visited during their session",
)
DECLINING = Source(ORDERED, "Find item categories with flat or declining sales for in-store purchases")
EXCEEDS = Code(
    QUERIES + "q02/q2-sessionize.py", "a click that comes later than the time-out begins a session"
)
DAILY = Guess("a stream has no end, and the paper gives no period but the hour of query 1: so a day is ours")
KEYS = Guess("rows that count as many come in the order of their keys, or the answer would not be one")

PAIRS: Mapping[str, Origin] = {
    "categories": PARAMETERS,
    "stores": PARAMETERS,
    "period_s": HOURLY,
    "distinct": Code(QUERIES + "q01/q01.sql", "the items of a ticket are collected as a set"),
    "above": Code(QUERIES + "q01/q01.sql", "pairs have to count more than the parameter, which is 50"),
    "limit": HOURLY,
    "ties": Code(QUERIES + "q01/q01.sql", "the highest count comes first, and then the least items"),
}
VIEWS: Mapping[str, Origin] = {
    "item": PARAMETERS,
    "timeout_s": TOGETHER,
    "inclusive": EXCEEDS,
    "distinct": Guess("an item counts once in a session, as in a ticket"),
    "period_s": DAILY,
    "limit": TOGETHER,
    "ties": KEYS,
}
VIEWS_BEFORE: Mapping[str, Origin] = {
    "item": PARAMETERS,
    "views": BEFORE,
    "within_s": BEFORE,
    "categories": PARAMETERS,
    "categories_first": Code(
        QUERIES + "q03/q03.sql", "categories choose from the last five, and not what these are the last of"
    ),
    "purchases_count": Code(
        QUERIES + "q03/q03_filterLast_N_viewedItmes_within_y_days.py",
        "each click behind the one that is looked at is remembered as a view, purchases too",
    ),
    "period_s": DAILY,
    "limit": BEFORE,
    "ties": KEYS,
}
ABANDONED: Mapping[str, Origin] = {
    "timeout_s": Code(QUERIES + "q04/q04.sql", "a session ends as that of query 2 does, after an hour"),
    "inclusive": EXCEEDS,
    "without_sale": Code(QUERIES + "q04/q04.sql", "clicks with a sale are left out"),
    "orders_end": CARTS,
    "period_s": DAILY,
}
SLOPES: Mapping[str, Origin] = {
    "store": PARAMETERS,
    "first": PARAMETERS,
    "last": PARAMETERS,
    "by_day": Code(QUERIES + "q15/q15.sql", "the line goes through the sums of each category and day"),
    "flat": DECLINING,
}
