"""Clicks and sales of a shop, drawn from a seed, in the order of their time.

The columns are those of TPCx-BB's tables `web_clickstreams` and `store_sales` that the queries read, without
the prefixes of their names, and two more: `number`, of the row, and `at`, its time in seconds since 1970 UTC.
A date is the number of a day since 1970, and a time the second of the day, so that no table of dates is
needed. The tables `item` and `web_page` are the functions `category` and `page_type`.

    python topologies/tpcx_bb/generator.py clicks build/clicks.parquet --rows 1000000 --days 30
    python topologies/tpcx_bb/generator.py sales build/sales.parquet --rows 1000000 --days 400 --seed 2

writes them as Parquet, which wants pyarrow.
"""

import argparse
import random
from bisect import bisect
from datetime import date
from heapq import heappop, heappush
from itertools import accumulate, count, islice

DAY_S = 86_400
BEGINS = "2001-09-02"
FIRST_ITEM = 10_001
"""The item that queries 2 and 3 ask for; the others follow."""
PAGE_TYPES = ("general", "dynamic", "order", "review", "ad")
PAGES = 60
PAGE_SHARES = (("general", 0.45), ("review", 0.70), ("dynamic", 0.85), ("order", 1.0))
"""The shares of clicks on each type of page, added up."""
STORES = (10, 20, 33, 40, 50, 1, 2, 3, 4, 5)
"""The stores, of which query 1 asks for the first five, and query 15 for the first."""
EDGES_S = (3_599, 3_600, 3_601, 7_200)
"""Pauses of a user around the end of a session."""
CLICKS = ("number", "at", "date", "time", "sales", "item", "page", "user")
SALES = ("number", "at", "date", "time", "item", "customer", "store", "ticket", "quantity", "net_paid")
"""The columns; `sales` is None unless the click has bought the item, and `net_paid` is in cents."""


def category(item):
    """The category of an item, from 1 to 10."""
    return item % 10 + 1


def page_type(page):
    """The type of a page."""
    return PAGE_TYPES[page % len(PAGE_TYPES)]


class Zipf:
    """Draws the numbers from 0 on, of which number n comes as often as 1 / (n + 1) ** skew says.

    Args:
        count: how many there are.
        skew: 0 draws all alike.
    """

    def __init__(self, count, skew):
        self._weights = list(accumulate((rank + 1) ** -skew for rank in range(count)))

    def draw(self, chance):
        """The next number."""
        return bisect(self._weights, chance.random() * self._weights[-1])


def clicks(rows, seed=1, days=3.0, users=400, items=500, skew=0.8, asked=0.08, begins=BEGINS):
    """Yield the rows of `web_clickstreams`, with the columns `CLICKS`.

    Visits begin at any time, and are of one user: one in twenty is of nobody known. A visit has 12 clicks on
    the average, half a minute apart or, one time in ten, as far as ends a session or just does not.

    Args:
        rows: how many there are.
        seed: what they are drawn from.
        days: over how many they are spread, about.
        users: how many there are.
        items: how many there are.
        skew: the exponent of Zipf's law by which users and items are drawn.
        asked: the share of clicks on the item that queries ask for, beside those that the law gives it.
        begins: the first day.
    """
    chance = random.Random(f"{seed} clicks")
    user_law, item_law = Zipf(users, skew), Zipf(items, skew)
    visits_apart_s = days * DAY_S * 12 / max(rows, 1)
    sold = count(1)
    arrival_s = float(_second_of(begins))
    visits, open_visits, number = count(), [], 0
    while number < rows:
        while not open_visits or arrival_s <= open_visits[0][0]:
            user = None if chance.random() < 0.05 else user_law.draw(chance) + 1
            heappush(open_visits, (int(arrival_s), next(visits), user))
            arrival_s += chance.expovariate(1 / visits_apart_s)
        at, visit, user = heappop(open_visits)
        item = FIRST_ITEM if chance.random() < asked else FIRST_ITEM + item_law.draw(chance)
        page, sales = _page(chance), None
        if page_type(page) == "order" and chance.random() < 0.5:
            sales = next(sold)
        elif chance.random() < 0.02:
            item = None
        yield number, at, at // DAY_S, at % DAY_S, sales, item, page, user
        number += 1
        if chance.random() >= 1 / 12:
            apart_s = chance.choice(EDGES_S) if chance.random() < 0.1 else int(chance.expovariate(1 / 30))
            heappush(open_visits, (at + apart_s, visit, user))


def _page(chance):
    drawn = chance.random()
    kind = next(kind for kind, share in PAGE_SHARES if drawn < share)
    return chance.randrange(PAGES // len(PAGE_TYPES)) * len(PAGE_TYPES) + PAGE_TYPES.index(kind)


def sales(rows, seed=1, days=0.25, customers=1000, items=200, skew=0.8, begins=BEGINS):
    """Yield the rows of `store_sales`, with the columns `SALES`.

    The rows of a ticket follow one another, of one time. A ticket has one to eight items, some of them twice.
    Each ten of them go to the ten stores, so that with enough of them a store sells on every day.
    Every other item is followed by its neighbour, so that some pairs are sold together often. Categories
    above 5 sell at prices that rise from day to day, and the others at prices that fall.

    Args:
        rows: how many there are.
        seed: what they are drawn from.
        days: over how many they are spread, about.
        customers: how many there are.
        items: how many there are.
        skew: the exponent of Zipf's law by which customers and items are drawn.
        begins: the first day.
    """
    chance = random.Random(f"{seed} sales")
    customer_law, item_law = Zipf(customers, skew), Zipf(items, skew)
    first_s = _second_of(begins)
    tickets_apart_s = days * DAY_S * 4.5 / max(rows, 1)
    at_s, ticket, number, stores = float(first_s), 0, 0, []
    while number < rows:
        at, ticket = int(at_s), ticket + 1
        stores = stores or chance.sample(STORES, len(STORES))
        customer, store = customer_law.draw(chance) + 1, stores.pop()
        rank = item_law.draw(chance)
        for _ in range(min(chance.randint(1, 8), rows - number)):
            item, quantity = FIRST_ITEM + rank, chance.randint(1, 5)
            trend = (category(item) - 5.5) / 10 * (at - first_s) / (366 * DAY_S)
            paid = round(quantity * (500 + item % 97 * 20) * (1 + trend) * chance.uniform(0.9, 1.1))
            yield number, at, at // DAY_S, at % DAY_S, item, customer, store, ticket, quantity, paid
            number += 1
            rank = (rank + 1) % items if chance.random() < 0.5 else item_law.draw(chance)
        at_s += chance.expovariate(1 / tickets_apart_s)


def _second_of(day):
    return (date.fromisoformat(day) - date(1970, 1, 1)).days * DAY_S


TABLES = {"clicks": (clicks, CLICKS), "sales": (sales, SALES)}


def write(path, columns, rows):
    """Write rows as Parquet, in groups of 65,536.

    Args:
        path: of the file, which is written anew.
        columns: their names, `CLICKS` or `SALES`.
        rows: tuples of whole numbers or None, in the order of their time.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    remaining = iter(rows)
    with pq.ParquetWriter(path, pa.schema([(name, pa.int64()) for name in columns])) as writer:
        while group := list(islice(remaining, 65_536)):
            values = [pa.array(column, pa.int64()) for column in zip(*group, strict=True)]
            writer.write_table(pa.table(values, schema=writer.schema))


def main():
    """Write a table, as the arguments of the command say."""
    parser = argparse.ArgumentParser(description="Draws clicks or sales, and writes them as Parquet.")
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("path")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=float, help="over how many days the rows are spread, about")
    parser.add_argument("--skew", type=float, default=0.8, help="the exponent of Zipf's law")
    given = parser.parse_args()
    days = {} if given.days is None else {"days": given.days}
    draw, columns = TABLES[given.table]
    write(given.path, columns, draw(given.rows, seed=given.seed, skew=given.skew, **days))


if __name__ == "__main__":
    main()
