"""Online Bidding: bids for items, whose prices are altered and whose quantities are topped up meanwhile.

There are 10,000 items, with about 50 bytes each. A bid for some of an item is accepted if its price is not
below that of the item, and as many are left, which it takes. Other requests set the prices of twenty items,
or add to the quantities of twenty. Requests with a token that is not their bidder's own are dropped.

The published code has lists of 5 to 24 items, and takes every request for valid.
"""

from transactions.generators import ALTER, BID, TOKEN
from transactions.records import ROWS, spare
from viperstorm import Bolt, SharedTable

FIRST_QUANTITY = 100
SPARE = spare(50, used=2)


def first_items(count=ROWS):
    """The items at the beginning, as key, price and quantity."""
    return [(key, key * 7919 % 100, FIRST_QUANTITY) for key in range(count)]


def loaded():
    """List the rows that the table is loaded with."""
    return [(*row, *[0] * len(SPARE)) for row in first_items()]


items = SharedTable(
    "items", key="int64", columns={"price": "int64", "quantity": "int64", **SPARE}, rows=ROWS, load=loaded
)


class Auth(Bolt):
    """Passes requests with the right token on."""

    outputs = ["event", "kind", "items", "values"]
    config = {"viper.stateless": True}

    def process(self, tup):
        event, kind, bidder, token, keys, values = tup.values
        if token == bidder * TOKEN:
            self.emit([event, kind, keys, values])


ANSWER = ["event", "kind", "accepted", "price", "quantity"]
"""The fields of an answer: acceptance of a request; of a bid, the item's price, and how many there were."""


class Trade(Bolt):
    """Carries requests out."""

    tables = [items]
    outputs = ANSWER

    def process(self, tup):
        _, kind, keys, values = tup.values
        with self.transaction(tup) as t:
            if kind == BID:
                self._bid(t, *keys, *values)
            elif kind == ALTER:
                t.set_each(items.price, keys, values)
            else:
                t.add_each(items.quantity, keys, values)

    def _bid(self, t, key, price, quantity):
        asked = t.read(items.price, key)
        left = t.read(items.quantity, key)
        t.require(asked <= price, "the price is too low")
        t.require(left >= quantity, "not enough are left")
        t.subtract(items.quantity, key, quantity)

    def process_result(self, tup, result):
        event, kind, _, _ = tup.values
        self.emit([event, kind, bool(result), *(result.values or (None, None))])
