"""The bolts of all four applications on columns; they have the same tables, and emit the same.

Each emits to one stream, as columns stay columns there: values that are only passed on go by way of the next
bolt. Transactions of different kinds are wanted in blocks with masks, so there is one bolt for all kinds.
`process_rows` leaves the handles of values to be read in `_read` for `process_results`, which is called for
these rows before there are others.
"""

import numpy as np
import pyarrow as pa

from transactions import streaming_ledger, toll_processing
from transactions.columns import (
    LIST,
    GrepSum,
    OnlineBidding,
    StreamingLedger,
    TollProcessing,
    joined_lists,
    values_of,
)
from transactions.generators import ALTER, BID, TOKEN, TOP
from transactions.grep_sum import records
from transactions.online_bidding import items
from transactions.toll_processing import CROWD, FACTOR, SLOW, speeds, vehicles
from viperstorm import BatchBolt, Stream

__all__ = [
    "Auth",
    "Grep",
    "GrepSum",
    "Ledger",
    "OnlineBidding",
    "RoadSpeed",
    "StreamingLedger",
    "Sum",
    "TollNotification",
    "TollProcessing",
    "Trade",
    "VehicleCount",
]


RUNS = {"viper.shuffle.run": 1024}
"""Columns are cut and put in order again run by run: of single rows, that would be most of the work."""


def done(results):
    """Tell the transactions that were not aborted, as an array of bools."""
    return ~np.frombuffer(results.aborted, np.bool_)


def where(mask, values):
    """A column with values where a mask says so, and None elsewhere.

    Args:
        mask: which rows have one.
        values: of all rows.
    """
    return pa.array(values, mask=~mask)


def spread(mask, values):
    """Values of some rows as those of all rows, 0 elsewhere."""
    found = np.zeros(len(mask), np.int64)
    found[mask] = values
    return found


# -- Grep & Sum


class Grep(BatchBolt):
    """Reads the records of events and passes their values on, or overwrites them and passes on none."""

    config = RUNS
    tables = [records]
    outputs = [Stream(schema={"event": "int64 not null", "reads": "bool not null", "values": LIST})]

    def __init__(self, accesses=10):
        super().__init__()
        self._accesses = accesses

    def process_rows(self, rows):
        reads, keys = rows.numpy("reads"), rows.array("keys")
        with self.transactions(rows, where=reads) as t:
            self._read = [t.read(records.number, key) for key in values_of(keys, reads, self._accesses)]
        with self.transactions(rows, where=~reads) as t:
            written = values_of(rows.array("values"), ~reads, self._accesses)
            for key, value in zip(values_of(keys, ~reads, self._accesses), written, strict=True):
                t.set(records.number, key, value)

    def process_results(self, rows, results):
        reads = rows.numpy("reads")
        found = np.empty((np.count_nonzero(reads), self._accesses), np.int64)
        for place, value in enumerate(self._read):
            found[:, place] = results[value]
        values = joined_lists(found.ravel(), reads * self._accesses)
        self.emit_rows(
            {"event": rows.array("event"), "reads": rows.array("reads"), "values": values}, gives_away=True
        )


class Sum(BatchBolt):
    """Adds the values of each event up."""

    outputs = [Stream(schema={"event": "int64 not null", "sum": "int64"})]
    config = {"viper.stateless": True, **RUNS}

    def process_rows(self, rows):
        values = rows.array("values")
        sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(values.values.to_numpy())))
        ends = values.offsets.to_numpy()
        of_each = sums[ends[1:]] - sums[ends[:-1]]
        self.emit_rows(
            {"event": rows.array("event"), "sum": where(rows.numpy("reads"), of_each)}, gives_away=True
        )


# -- the Streaming Ledger


class Ledger(BatchBolt):
    """Carries deposits and transfers out; derive from it for other `tables`, in this order.

    Args:
        minimum: the balance that an account must have more than.
    """

    config = RUNS
    tables = [streaming_ledger.accounts, streaming_ledger.assets]
    outputs = [
        Stream(
            schema={
                "event": "int64 not null",
                "accepted": "bool not null",
                "money": "int64",
                "having": "int64",
            }
        )
    ]

    def __init__(self, minimum=0):
        super().__init__()
        self._minimum = minimum

    def process_rows(self, rows):
        accounts, assets = self.tables
        chosen = rows.numpy("transfers")
        names = ("account", "asset", "to_account", "to_asset", "amount", "assets")
        columns = [rows.numpy(name) for name in names]
        each = np.flatnonzero(chosen)
        account, asset, to_account, to_asset, amount, count = (column.take(each) for column in columns)
        with self.transactions(rows, where=chosen) as t:
            money = t.read(accounts.balance, account)
            having = t.read(assets.balance, asset)
            self._read = {"money": money, "having": having}
            t.require((money > self._minimum) & (money > amount), "not enough money")
            t.require(having > count, "not enough of the asset")
            t.subtract(accounts.balance, account, amount)
            t.add(accounts.balance, to_account, amount)
            t.subtract(assets.balance, asset, count)
            t.add(assets.balance, to_asset, count)
        others = np.flatnonzero(~chosen)
        account, asset, _, _, amount, count = (column.take(others) for column in columns)
        with self.transactions(rows, where=~chosen) as t:
            t.add(accounts.balance, account, amount)
            t.add(assets.balance, asset, count)

    def process_results(self, rows, results):
        chosen, accepted = rows.numpy("transfers"), done(results)
        told = chosen & accepted
        answers = {"event": rows.array("event"), "accepted": accepted}
        for name, value in self._read.items():
            answers[name] = where(told, spread(chosen, results[value]))
        self.emit_rows(answers, gives_away=True)


# -- Online Bidding


class Auth(BatchBolt):
    """Passes requests with the right token on."""

    outputs = [
        Stream(schema=dict.fromkeys(("event", "kind"), "int64 not null") | {"items": LIST, "values": LIST})
    ]
    config = {"viper.stateless": True, **RUNS}

    def process_rows(self, rows):
        batch, of = rows.where(rows.numpy("token") == rows.numpy("bidder") * TOKEN)
        self.emit_rows(batch.select(self.outputs[0].fields), of)


class Trade(BatchBolt):
    """Carries requests out."""

    config = RUNS
    tables = [items]
    outputs = [
        Stream(
            schema={
                "event": "int64 not null",
                "kind": "int64 not null",
                "accepted": "bool not null",
                "price": "int64",
                "quantity": "int64",
            }
        )
    ]

    def __init__(self, accesses=20):
        super().__init__()
        self._accesses = accesses

    def process_rows(self, rows):
        kind, keys, values = rows.numpy("kind"), rows.array("items"), rows.array("values")
        (key,), (price, quantity) = values_of(keys, kind == BID, 1), values_of(values, kind == BID, 2)
        with self.transactions(rows, where=kind == BID) as t:
            asked = t.read(items.price, key)
            left = t.read(items.quantity, key)
            self._read = {"price": asked, "quantity": left}
            t.require(asked <= price, "the price is too low")
            t.require(left >= quantity, "not enough are left")
            t.subtract(items.quantity, key, quantity)
        with self.transactions(rows, where=kind == ALTER) as t:
            for key, price in self._pairs(kind == ALTER, keys, values):
                t.set(items.price, key, price)
        with self.transactions(rows, where=kind == TOP) as t:
            for key, quantity in self._pairs(kind == TOP, keys, values):
                t.add(items.quantity, key, quantity)

    def _pairs(self, chosen, keys, values):
        return zip(*(values_of(column, chosen, self._accesses) for column in (keys, values)), strict=True)

    def process_results(self, rows, results):
        bids, accepted = rows.numpy("kind") == BID, done(results)
        answers = {"event": rows.array("event"), "kind": rows.array("kind"), "accepted": accepted}
        for name, value in self._read.items():
            answers[name] = where(bids & accepted, spread(bids, results[value]))
        self.emit_rows(answers, gives_away=True)


# -- Toll Processing


class RoadSpeed(BatchBolt):
    """Brings the average speeds of segments up to date."""

    tables = [speeds]
    outputs = []

    def process_rows(self, rows):
        segment, speed = rows.numpy("segment"), rows.numpy("speed").astype(np.float64)
        with self.transactions(rows) as t:
            t.set(speeds.speed, segment, (t.read(speeds.speed, segment) + speed) / 2.0)

    def process_results(self, rows, results):
        """There is nothing to say."""


class VehicleCount(BatchBolt):
    """Counts the vehicles of segments, each once."""

    tables = [vehicles]
    outputs = []

    def process_rows(self, rows):
        with self.transactions(rows) as t:
            t.insert(vehicles.seen, rows.numpy("segment"), rows.numpy("vehicle"))

    def process_results(self, rows, results):
        """There is nothing to say."""


class TollNotification(BatchBolt):
    """Tells the tolls that are asked of vehicles, and what they go by."""

    tables = toll_processing.TollNotification.tables
    outputs = [
        Stream(
            schema=dict.fromkeys(("event", "vehicle"), "int64 not null")
            | {"speed": "float64 not null"}
            | dict.fromkeys(("count", "toll"), "int64 not null")
        )
    ]

    def process_rows(self, rows):
        segment = rows.numpy("segment")
        with self.transactions(rows) as t:
            self._read = t.read(speeds.speed, segment), t.read(vehicles.seen, segment)

    def process_results(self, rows, results):
        speed, count = (np.asarray(results[value]) for value in self._read)
        toll = FACTOR * (count - CROWD) ** 2 * ((count > CROWD) & (speed < SLOW))
        told = {"event": rows.array("event"), "vehicle": rows.array("vehicle")}
        self.emit_rows({**told, "speed": speed, "count": count, "toll": toll}, gives_away=True)
