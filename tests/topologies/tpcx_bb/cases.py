"""The input of each query, in files of Parquet, the answers of SQL to it, and runs of the pipelines."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from framework import run
from framework.operators.sinks import CollectingSink
from framework.operators.sources import ParquetSource
from tests.framework.runtime.workers.running import Workers
from tests.topologies.tpcx_bb.reference import RULES, BeforeRules, CartRules, PairRules, SlopeRules, ViewRules

TOPOLOGIES = Path(__file__).parents[3] / "topologies"
QUERIES = tuple(RULES)
TABLES = {"q1": "sales", "q2": "clicks", "q3": "clicks", "q4": "clicks", "q15": "sales"}
SEED = 5
DAY_S = 86_400
BEGIN_S = 11_567 * DAY_S
FLAT = 9
"""The last digit of the items of a category."""
CLICKS = {"rows": 14_000, "days": 11.5, "users": 500, "items": 300, "skew": 0.3, "asked": 0.25}
DRAWN: Mapping[str, Mapping[str, Any]] = {
    "q1": {"rows": 9_000, "days": 0.08, "items": 100},
    "q2": CLICKS,
    "q3": CLICKS,
    "q4": CLICKS,
    "q15": {"rows": 9_000, "days": 370.0, "begins": "2001-08-31"},
}
"""Few rows in which each rule decides an answer: pauses of ten days, and days before and behind the year."""

SMALL: Mapping[str, Any] = {
    "q1": PairRules(above=8, limit=12),
    "q2": ViewRules(),
    "q3": BeforeRules(limit=10),
    "q4": CartRules(),
    "q15": SlopeRules(),
}
"""The rules of each query, with limits that as few rows reach."""

Row = tuple[Any, ...]
Files = Mapping[str, Path]


def part(name: str) -> Any:
    """A module of the queries."""
    __import__(name)
    return sys.modules[name]


def files_in(folder: Path, rows: int | None = None) -> Files:
    """Draw the input of each query into a file; queries with the same input share one.

    Args:
        folder: where the files are made.
        rows: how many of the rows that are drawn there are in each; None for all.
    """
    files: dict[str, Path] = {}
    for query, given in DRAWN.items():
        same = next((other for other in files if DRAWN[other] is given), None)
        draw, _ = part("tpcx_bb.generator").TABLES[TABLES[query]]
        drawn = with_odd(query, islice(draw(seed=SEED, **given), rows))
        files[query] = files[same] if same else written(folder, query, drawn)
    return files


def with_odd(query: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Put rows among those that were drawn, at their times, for rules that decide little else.

    For query 3 these are clicks on either side of ten days before a purchase. For query 15 they are sales on
    the first and the last day of the year and on the days beside it. A category that sells as much on each
    day is in the place of all else that is sold of it.
    """
    odd: list[Row] = []
    if TABLES[query] == "clicks":
        for user, age_s in ((8_001, 864_000), (8_002, 864_001)):
            bought = BEGIN_S + age_s + user
            odd.append((None, bought - age_s, 0, 0, None, 10_002, 0, user))
            odd.append((None, bought, 0, 0, 90_000 + user, 10_001, 0, user))
    if query == "q15":
        rows = (row for row in rows if row[4] % 10 != FLAT)
        for day, paid in ((-1, 70_000), (0, 50_000), (365, 60_000), (366, 40_000)):
            odd.append((None, BEGIN_S + DAY_S * day, 0, 0, 10_001, 1, 10, 90_000 + day, 1, paid))
        for day in (10, 20, 200):
            odd.append((None, BEGIN_S + DAY_S * day, 0, 0, 10_000 + FLAT, 1, 10, 91_000 + day, 1, 1_000))
    odd.sort(key=itemgetter(1))
    for number, (_, at, _, _, *rest) in enumerate(merge(rows, odd, key=itemgetter(1))):
        yield number, at, at // DAY_S, at % DAY_S, *rest


def written(folder: Path, query: str, rows: Iterable[Row]) -> Path:
    """Write input of a query to a file."""
    generator, path = part("tpcx_bb.generator"), folder / f"{query}.parquet"
    generator.write(path, generator.TABLES[TABLES[query]][1], rows)
    return path


def source_of(query: str, path: Path) -> ParquetSource:
    """The spout that brings such a file."""
    columns = part("tpcx_bb.generator").TABLES[TABLES[query]][1][2:]
    return ParquetSource(str(path), list(columns), timestamp="at", unit="s")


def answered(
    query: str,
    rows: Any,
    workers: Workers,
    tasks: Any = 2,
    bolts: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Run a query, and return its answers in their order.

    Args:
        query: its name.
        rows: the spout that brings its input.
        workers: the workers that run it.
        tasks: of each component, as the builder takes them.
        bolts: by name, those in the place of its own; None for those with the limits of `SMALL`.
        options: of the configuration.
    """
    bolts = small_bolts(query) if bolts is None else bolts
    built = getattr(part("tpcx_bb_builder"), query)(rows, CollectingSink, tasks, bolts).build(query)
    conf = {key.replace("__", "."): value for key, value in workers.options.items()}
    report = run(built, conf={"viper.order": "strict", **conf, **(options or {})})
    return [tuple(row) for row in report.result("answers")]


def small_bolts(query: str) -> dict[str, Any]:
    """The bolts of a query whose limits are those of `SMALL`."""
    queries, rules = part("tpcx_bb.queries"), SMALL[query]
    if query == "q1":
        return {"top": queries.TopPairs(rules.limit, rules.above)}
    return {"top": queries.TopItems(rules.limit)} if query == "q3" else {}


def comparable(query: str, answers: Sequence[Row]) -> list[Row]:
    """Bring answers into the order of SQL's, where the query says none: the categories of query 15."""
    return sorted(answers) if query == "q15" else list(answers)


@cache
def of_sqlite(query: str, path: Path, rules: Any = None) -> list[Row]:
    """The answers of SQLite's SQL.

    Args:
        query: its name.
        path: of the file with its input.
        rules: those of the query, which may be changed; None for those of `SMALL`.
    """
    import pyarrow.parquet as pq

    read = pq.read_table(path)
    rows = zip(*(column.to_pylist() for column in read.columns), strict=True)
    database = sqlite3.connect(":memory:")
    try:
        tables = {TABLES[query]: (read.column_names, rows), **dimensions()}
        for table, (columns, given) in tables.items():
            names = ", ".join(f"`{name}`" for name in columns)
            database.execute(f"CREATE TABLE {table} ({names})")
            places = ", ".join("?" * len(columns))
            database.executemany(f"INSERT INTO {table} VALUES ({places})", given)
        return list(database.execute((rules or SMALL[query]).sql()))
    finally:
        database.close()


def dimensions() -> dict[str, tuple[list[str], list[Row]]]:
    """The tables of items and of pages: their columns and rows."""
    generator = part("tpcx_bb.generator")
    items = range(generator.FIRST_ITEM, generator.FIRST_ITEM + 1_000)
    return {
        "items": (["item", "category"], [(item, generator.category(item)) for item in items]),
        "pages": (["page", "type"], [(page, generator.page_type(page)) for page in range(generator.PAGES)]),
    }
