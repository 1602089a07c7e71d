"""The input of each application, drawn from a seed.

Events are numbered from 0 on. They are drawn in chunks of a fixed size, each of which has a chance of its
own. So any part of them can be drawn without the events before it, and is the same whoever draws how much.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from transactions.drawing import Access, Keys, Zipf

CHUNK = 4096
"""Events that are drawn at once."""

READ, WRITE = 1, 0
BID, ALTER, TOP = 0, 1, 2
"""The kinds of requests in Online Bidding."""
TOKEN = 7919
"""The token of a valid request is its bidder times this."""


class Events:
    """Draws the events of one application.

    Args:
        seed: what they are drawn from.
        parameters: values of the application's own, by name, with `access` as a mapping of those of `Access`.
    """

    fields = ()
    """The fields of events, by name and in the order of tuples."""
    lists = {}
    """The fields that are lists: arrays with a row for each event, of which so many values count as another
    array says."""
    parameters = None
    """The class of its parameters."""

    def __init__(self, seed=1, **parameters):
        if isinstance(parameters.get("access"), Mapping):
            parameters["access"] = Access(**parameters["access"])
        self.given = self.parameters(**parameters)
        self._seed = seed
        self._prepare()

    def __repr__(self):
        return f"{type(self).__name__}, seed {self._seed}, {self.given}"

    def arrays(self, count, first=0):
        """So many events from a number on, in portions, each a mapping of fields and lengths to arrays."""
        end = first + count
        for chunk in range(first // CHUNK, -(-end // CHUNK)):
            begin = chunk * CHUNK
            chance = np.random.default_rng([self._seed, chunk])
            drawn = self._drawn(chance, CHUNK)
            part = slice(max(first - begin, 0), min(end - begin, CHUNK))
            yield {"event": np.arange(begin, begin + CHUNK)[part]} | {
                name: values[part] for name, values in drawn.items()
            }

    def tuples(self, count, first=0):
        """The same events as tuples of Python's own values."""
        return chain.from_iterable(map(self.tuples_of, self.arrays(count, first)))

    def tuples_of(self, arrays):
        """The events of a portion as tuples."""
        columns = []
        for name in self.fields:
            values = arrays[name].tolist()
            if name in self.lists:
                lengths = arrays[self.lists[name]].tolist()
                values = [tuple(row[:length]) for row, length in zip(values, lengths, strict=True)]
            columns.append(values)
        return list(zip(*columns, strict=True))

    def _prepare(self):
        """Make what is drawn from."""
        raise NotImplementedError

    def _drawn(self, chance, count):
        """All but the number of so many events."""
        raise NotImplementedError


@dataclass(frozen=True)
class GrepSumParameters:
    """Of Grep & Sum."""

    accesses: int = 10
    """Records that an event reads or writes."""
    reads: float = 0.5
    """The share of events that read."""
    values: int = 1_000_000
    """The limit below which written values lie."""
    access: Access = field(default_factory=Access)


class GrepSum(Events):
    """Events that read some records, or write new values into them."""

    fields = ("event", "reads", "keys", "values")
    lists = {"keys": "length", "values": "written"}
    parameters = GrepSumParameters

    def _prepare(self):
        self._keys = Keys(self.given.access, self.given.accesses)

    def _drawn(self, chance, count):
        accesses = self.given.accesses
        reads = chance.random(count) < self.given.reads
        return {
            "reads": reads,
            "keys": self._keys.distinct(self._keys.draw(chance, count, accesses)),
            "values": chance.integers(0, self.given.values, (count, accesses)),
            "length": np.full(count, accesses),
            "written": np.where(reads, 0, accesses),
        }


@dataclass(frozen=True)
class StreamingLedgerParameters:
    """Of the Streaming Ledger."""

    transfers: float = 0.5
    """The share of events that are transfers; the others are deposits."""
    amount: int = 10_000
    """Less money than this is moved by an event."""
    assets: int = 1_000
    """Likewise of assets."""
    refused: float = 0.0
    """The share of transfers of more money than anybody has, see `FORTUNE`; besides, what accounts have at
    that moment decides."""
    access: Access = field(default_factory=Access)


FORTUNE = 10**15
"""More than anybody has."""


class StreamingLedger(Events):
    """Deposits, and transfers from an account and an asset to others; of a deposit, the latter are -1."""

    fields = ("event", "transfers", "account", "asset", "to_account", "to_asset", "amount", "assets")
    lists = {}
    parameters = StreamingLedgerParameters

    def _prepare(self):
        self._keys = Keys(self.given.access, 4)

    def _drawn(self, chance, count):
        given = self.given
        transfers = chance.random(count) < given.transfers
        keys = self._keys.draw(chance, count, 4)
        accounts, assets = self._keys.distinct(keys[:, 0::2]), self._keys.distinct(keys[:, 1::2])
        refused = transfers & (chance.random(count) < given.refused)
        amounts = chance.integers(0, given.amount, count)
        return {
            "transfers": transfers,
            "account": accounts[:, 0],
            "asset": assets[:, 0],
            "to_account": np.where(transfers, accounts[:, 1], -1),
            "to_asset": np.where(transfers, assets[:, 1], -1),
            "amount": np.where(refused, FORTUNE, amounts),
            "assets": chance.integers(0, given.assets, count),
        }


@dataclass(frozen=True)
class OnlineBiddingParameters:
    """Of Online Bidding."""

    mix: tuple = (6, 1, 1)
    """The proportion of bids to requests that alter prices and to those that top up quantities."""
    accesses: int = 20
    """Items that an alter or top request names."""
    price: int = 100
    """Prices are less."""
    bid_quantity: int = 20
    """Bids are for 1 to so many."""
    top_quantity: int = 5
    """Likewise of what is topped up."""
    bidders: int = 1_000
    forged: float = 0.0
    """The share of requests with a token that is not right."""
    access: Access = field(default_factory=Access)


class OnlineBidding(Events):
    """Requests: bids for an item, and those that alter the prices or top up the quantities of many.

    The values of a bid are its price and its quantity; others have one for each of their items.
    """

    fields = ("event", "kind", "bidder", "token", "items", "values")
    lists = {"items": "length", "values": "given"}
    parameters = OnlineBiddingParameters

    def _prepare(self):
        self._keys = Keys(self.given.access, self.given.accesses)

    def _drawn(self, chance, count):
        given, shape = self.given, (count, max(self.given.accesses, 2))
        shares = np.cumsum(given.mix) / sum(given.mix)
        kind = np.searchsorted(shares, chance.random(count), side="right")
        bidder = chance.integers(1, given.bidders + 1, count)
        prices = chance.integers(0, given.price, shape)
        values = np.where(kind[:, None] == TOP, chance.integers(1, given.top_quantity + 1, shape), prices)
        quantities = chance.integers(1, given.bid_quantity + 1, count)
        values[:, 1] = np.where(kind == BID, quantities, values[:, 1])
        forged = chance.random(count) < given.forged
        items = self._keys.draw(chance, count, given.accesses)
        items[kind != BID] = self._keys.distinct(items[kind != BID])
        return {
            "kind": kind,
            "bidder": bidder,
            "token": bidder * TOKEN + forged,
            "items": items,
            "values": values,
            "length": np.where(kind == BID, 1, given.accesses),
            "given": np.where(kind == BID, 2, given.accesses),
        }


@dataclass(frozen=True)
class TollProcessingParameters:
    """Of Toll Processing."""

    segments: int = 100
    skew: float = 0.2
    """Of Zipf's law, by which reports come from segments."""
    vehicles: int = 1_000
    speed: int = 80
    """Miles an hour that no vehicle drives."""


class TollProcessing(Events):
    """Reports of where vehicles are, and how fast."""

    fields = ("event", "vehicle", "segment", "speed")
    lists = {}
    parameters = TollProcessingParameters

    def _prepare(self):
        self._zipf = Zipf(self.given.segments, self.given.skew)

    def _drawn(self, chance, count):
        return {
            "vehicle": chance.integers(0, self.given.vehicles, count),
            "segment": self._zipf.draw(chance, count),
            "speed": chance.integers(0, self.given.speed, count),
        }


APPLICATIONS = {
    "grep_sum": GrepSum,
    "streaming_ledger": StreamingLedger,
    "online_bidding": OnlineBidding,
    "toll_processing": TollProcessing,
}
