"""The operators of the five queries.

Each is stateless, or has its state by a key, or is a single task with state, as the table of the paper says.
Query 3 has one more: its table ends with an operator by key, which cannot know the first thirty of all items.
"""

from tpcx_bb.generator import DAY_S, FIRST_ITEM, STORES, category, page_type
from viperstorm import APlus, Bolt, Duration, OPlus, ValueState, WindowedBolt
from viperstorm.aggregates import Count

SECOND_US = 1_000_000
BASKET_CATEGORIES = (1, 2, 3)
BASKET_STORES = STORES[:5]
VIEW_CATEGORIES = (2, 3)
SESSION_GAP = "3601s"
"""From the last click of a session to its end, as a click 3,600 s after it still belongs to it, and times are
whole seconds."""
VIEWS_WITHIN_S = 10 * DAY_S
YEAR = (11_567, 11_932)
"""The first and the last day of query 15, as numbers of days since 1970: 2001-09-02 and 2002-09-02."""


class Top(WindowedBolt):
    """Emits the rows of a period with the highest counts, with the second at which the period ends.

    Rows are a key and its count, which is their last value. Rows that count as many are in the order of
    their keys.

    Args:
        limit: how many rows there are.
        above: only rows that count more.
        hours: the length of a period.
    """

    def __init__(self, limit, above=0, hours=24):
        super().__init__()
        self._limit = limit
        self._above = above
        self.with_tumbling_window(Duration.hours(hours))

    def process_window(self, window):
        rows = [tuple(tup.values) for tup in window.tuples if tup.values[-1] > self._above]
        for row in sorted(rows, key=lambda row: (-row[-1], row))[: self._limit]:
            self.emit((window.end // SECOND_US, *row))


class OfCategories(Bolt):
    """Query 1, stateless: passes on sales of some categories in some stores, as (ticket, item).

    Args:
        categories: numbers of categories.
        stores: numbers of stores.
    """

    outputs = ["ticket", "item"]
    config = {"viper.stateless": True}

    def __init__(self, categories=BASKET_CATEGORIES, stores=BASKET_STORES):
        super().__init__()
        self._categories = frozenset(categories)
        self._stores = frozenset(stores)

    def process(self, tup):
        sale = tup.values
        if sale.store in self._stores and category(sale.item) in self._categories:
            self.emit([sale.ticket, sale.item])


class Baskets(OPlus):
    """Query 1, by ticket: emits each new item of a ticket with each of its others, the lesser one first.

    A ticket is forgotten at the end of the hour, which counts no pair with an item of another hour.
    """

    outputs = ["first", "second"]
    size = "1h"

    def create(self):
        return []

    def update(self, window, tup):
        item, others = tup.values.item, window.state
        if item in others:
            return []
        pairs = [(min(item, other), max(item, other)) for other in others]
        others.append(item)
        return pairs

    def output(self, window):
        return []


class PairCounts(APlus):
    """Query 1, by pair: counts the tickets of an hour."""

    outputs = ["first", "second", "count"]
    size = "1h"
    aggregate = Count()


class TopPairs(Top):
    """Query 1: the pairs of an hour."""

    outputs = ["end", "first", "second", "count"]

    def __init__(self, limit=100, above=50):
        super().__init__(limit, above, hours=1)


class KnownClicks(Bolt):
    """Queries 2 and 3, stateless: passes on clicks of a known user on an item."""

    outputs = ["user", "at", "item", "sales"]
    config = {"viper.stateless": True}

    def process(self, tup):
        click = tup.values
        if click.user is not None and click.item is not None:
            self.emit([click.user, click.date * DAY_S + click.time, click.item, click.sales])


class Visits(OPlus):
    """Query 2, by user: emits the different items of a session, in their order, when it has ended."""

    outputs = ["user", "items"]
    gap = SESSION_GAP

    def create(self):
        return {}

    def update(self, window, tup):
        window.state[tup.values.item] = None

    def output(self, window):
        yield window.key, sorted(window.state)


class ViewedWith(Bolt):
    """Query 2, stateless: emits the other items of a session in which an item was viewed.

    Args:
        item: the one that is asked for.
    """

    outputs = ["item"]
    config = {"viper.stateless": True}

    def __init__(self, item=FIRST_ITEM):
        super().__init__()
        self._item = item

    def process(self, tup):
        items = tup.values.items
        if self._item in items:
            for item in items:
                if item != self._item:
                    self.emit([item])


class ItemCounts(APlus):
    """Queries 2 and 3, by item: counts how often it came on a day."""

    outputs = ["item", "count"]
    size = "1d"
    aggregate = Count()


class TopItems(Top):
    """Queries 2 and 3: the items of a day."""

    outputs = ["end", "item", "count"]

    def __init__(self, limit=30):
        super().__init__(limit)


class ViewsBefore(Bolt):
    """Query 3, by user: emits the items that were clicked on last before an item was bought.

    Args:
        item: the one that is bought.
        views: how many clicks before are looked at.
        within_s: the age in seconds of the oldest click that counts.
        categories: those of the items that are emitted.
    """

    outputs = ["item"]
    last = ValueState(default=())
    """The last clicks of the user, as pairs of item and second, the oldest one first."""

    def __init__(self, item=FIRST_ITEM, views=5, within_s=VIEWS_WITHIN_S, categories=VIEW_CATEGORIES):
        super().__init__()
        self._item = item
        self._views = views
        self._within_s = within_s
        self._categories = frozenset(categories)

    def process(self, tup):
        click, last = tup.values, self.last.value
        if click.sales is not None and click.item == self._item:
            for item, at in last:
                if at >= click.at - self._within_s and category(item) in self._categories:
                    self.emit([item])
        self.last.value = (*last, (click.item, click.at))[-self._views :]


class TypedClicks(Bolt):
    """Query 4, stateless: passes on clicks of a known user without a sale, with the type of their page."""

    outputs = ["user", "type"]
    config = {"viper.stateless": True}

    def process(self, tup):
        click = tup.values
        if click.user is not None and click.sales is None:
            self.emit([click.user, page_type(click.page)])


class Carts(OPlus):
    """Query 4, by user: emits how many pages a session had, and which of them were the last of two types.

    These are numbers from 1 on, and 0 if there was none.
    """

    outputs = ["user", "pages", "dynamic", "order"]
    gap = SESSION_GAP

    def create(self):
        return 0, 0, 0

    def update(self, window, tup):
        pages, dynamic, order = window.state
        pages, kind = pages + 1, tup.values.type
        window.state = pages, pages if kind == "dynamic" else dynamic, pages if kind == "order" else order

    def output(self, window):
        yield window.key, *window.state


class Abandoned(Bolt):
    """Query 4, stateless: passes on sessions with something in the cart that was not checked out."""

    outputs = ["pages"]
    config = {"viper.stateless": True}

    def process(self, tup):
        session = tup.values
        if session.dynamic > session.order:
            self.emit([session.pages])


class AveragePages(WindowedBolt):
    """Query 4: the average number of pages of a day's sessions, with the second at which the day ends."""

    outputs = ["end", "sessions", "average"]

    def __init__(self):
        super().__init__()
        self.with_tumbling_window(Duration.days(1))

    def process_window(self, window):
        pages = [tup.values.pages for tup in window.tuples]
        self.emit([window.end // SECOND_US, len(pages), sum(pages) / len(pages)])


class OfStore(Bolt):
    """Query 15, stateless: passes on the sales of a store in a year.

    Args:
        store: its number.
        first: the first day of the year.
        last: its last day.
    """

    outputs = ["item", "date", "net_paid"]
    config = {"viper.stateless": True}

    def __init__(self, store=STORES[0], first=YEAR[0], last=YEAR[1]):
        super().__init__()
        self._store = store
        self._first, self._last = first, last

    def process(self, tup):
        sale = tup.values
        if sale.store == self._store and self._first <= sale.date <= self._last:
            self.emit([sale.item, sale.date, sale.net_paid])


class OfCategory(Bolt):
    """Query 15, stateless: puts the category in the place of the item."""

    outputs = ["category", "date", "net_paid"]
    config = {"viper.stateless": True}

    def process(self, tup):
        item, date, net_paid = tup.values
        self.emit([category(item), date, net_paid])


class Slopes(OPlus):
    """Query 15, by category: emits the slope of daily sales by the day, in cents a day, unless it is above 0.

    The line is that of the least squares through the days on which something was sold. Its sums are whole
    numbers, so the slope is rounded once. A category that sold on a single day has no slope.

    Args:
        first: the first day of the year.
        last: its last day.
    """

    outputs = ["category", "slope"]

    def __init__(self, first=YEAR[0], last=YEAR[1]):
        days = last - first + 1
        super().__init__(size=f"{days}d", offset=f"{first % days}d")

    def create(self):
        return {}

    def update(self, window, tup):
        _, date, net_paid = tup.values
        day = date - window.start // (DAY_S * SECOND_US)
        window.state[day] = window.state.get(day, 0) + net_paid

    def output(self, window):
        sums = window.state
        x, y = sum(sums), sum(sums.values())
        above = len(sums) * sum(day * paid for day, paid in sums.items()) - x * y
        below = len(sums) * sum(day * day for day in sums) - x * x
        if below and above <= 0:
            yield window.key, above / below
