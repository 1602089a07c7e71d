"""The four applications again, event by event in plain loops over dictionaries.

Each gives what a sink receives, row for row, and what its tables hold at the end. Nothing is shared with the
applications or with what draws their input. Each rule is a value, so that a test can change it and see
whether a row changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]


@dataclass
class GrepSum:
    """Reads and writes lists of records; a sum for each event that reads, None for one that writes."""

    records: dict[int, int]
    writes: bool = True
    in_order: bool = True
    """True if an event sees what those before it have written, and of its own later ones the last."""

    def rows(self, events: Iterable[Row]) -> Iterator[Row]:
        """Yield the output."""
        for event, reads, keys, values in events:
            if reads:
                yield event, sum(self.records[key] for key in keys)
                continue
            pairs = list(zip(keys, values, strict=True))
            for key, value in pairs if self.in_order else reversed(pairs):
                if self.writes:
                    self.records[key] = value
            yield event, None

    def tables(self) -> Mapping[str, list[Row]]:
        """Return the rows of the tables."""
        return {"records": sorted(self.records.items())}


@dataclass
class LedgerRules:
    """The rules that decide about transfers."""

    minimum: int = 0
    equal_is_enough: bool = False
    """True if a transfer of all that there is goes through."""
    asks_for_assets: bool = True
    credits_of_source: bool = False
    """As published once: the destination gets the balance of the source and what is moved."""
    undoes: bool = True
    """True if what is refused leaves nothing behind; otherwise the destination gets money, as published."""
    takes: bool = True
    """True if the source has less afterwards."""
    moves_assets: bool = True
    deposits: bool = True


@dataclass
class StreamingLedger:
    """Deposits and transfers; whether each goes through, and of a transfer what the source had before."""

    accounts: dict[int, int]
    assets: dict[int, int]
    rules: LedgerRules = field(default_factory=LedgerRules)

    def rows(self, events: Iterable[Row]) -> Iterator[Row]:
        """Yield the output."""
        for event, transfers, *rest in events:
            yield (event, *(self._transfer(*rest) if transfers else self._deposit(*rest)))

    def tables(self) -> Mapping[str, list[Row]]:
        """Return the rows of the tables."""
        return {"accounts": sorted(self.accounts.items()), "assets": sorted(self.assets.items())}

    def _deposit(self, account: int, asset: int, _: int, __: int, amount: int, count: int) -> Row:
        if self.rules.deposits:
            self.accounts[account] += amount
            self.assets[asset] += count
        return True, None, None

    def _transfer(self, account: int, asset: int, other: int, to: int, amount: int, count: int) -> Row:
        rules, money, having = self.rules, self.accounts[account], self.assets[asset]
        spare = 1 if rules.equal_is_enough else 0
        has_money = money > rules.minimum and money + spare > amount
        if not has_money or (rules.asks_for_assets and not having + spare > count):
            if not rules.undoes:
                self.accounts[other] += amount
            return False, None, None
        if rules.takes:
            self.accounts[account] -= amount
        self.accounts[other] = (money if rules.credits_of_source else self.accounts[other]) + amount
        if rules.moves_assets:
            self.assets[asset] -= count
            self.assets[to] = (having if rules.credits_of_source else self.assets[to]) + count
        return True, money, having


@dataclass
class BiddingRules:
    """The rules that decide about bids, and about other requests."""

    equal_price_is_enough: bool = True
    asks_for_quantity: bool = True
    last_one_sells: bool = True
    """True if a bid for all that there is goes through."""
    bids_take: bool = True
    alters: bool = True
    tops: bool = True
    knows_tokens: bool = True


@dataclass
class OnlineBidding:
    """Bids and other requests; whether each is accepted, and of such a bid the price and what there was."""

    prices: dict[int, int]
    quantities: dict[int, int]
    rules: BiddingRules = field(default_factory=BiddingRules)

    def rows(self, events: Iterable[Row]) -> Iterator[Row]:
        """Yield the output."""
        for event, kind, bidder, token, items, values in events:
            if self.rules.knows_tokens and token != bidder * 7919:
                continue
            if kind == 0:
                (item,), (price, quantity) = items, values
                yield (event, 0, *self._bid(item, price, quantity))
                continue
            for item, value in zip(items, values, strict=True):
                if kind == 1 and self.rules.alters:
                    self.prices[item] = value
                elif kind == 2 and self.rules.tops:
                    self.quantities[item] += value
            yield event, kind, True, None, None

    def tables(self) -> Mapping[str, list[Row]]:
        """Return the rows of the table."""
        return {"items": [(key, self.prices[key], self.quantities[key]) for key in sorted(self.prices)]}

    def _bid(self, item: int, price: int, quantity: int) -> Row:
        asked, there = self.prices[item], self.quantities[item]
        rules = self.rules
        too_low = price < asked or (price == asked and not rules.equal_price_is_enough)
        too_few = there < quantity or (there == quantity and not rules.last_one_sells)
        if too_low or (too_few and rules.asks_for_quantity):
            return False, None, None
        if rules.bids_take:
            self.quantities[item] -= quantity
        return True, asked, there


@dataclass
class TollRules:
    """The rules that decide tolls."""

    order: tuple[str, ...] = ("speed", "count", "toll")
    """The order of the steps of a report."""
    averages: bool = True
    counts_each_once: bool = True
    by_segment: bool = True
    """True if each segment has vehicles of its own."""
    first_speed: float = 60.0
    """The speed that the first report is averaged with."""
    crowd: int = 50
    slow: float = 40.0
    factor: int = 2


@dataclass
class TollProcessing:
    """The toll of each report, with what it goes by: average speed, and vehicles so far."""

    rules: TollRules = field(default_factory=TollRules)

    def __post_init__(self) -> None:
        self._speeds: dict[int, float] = {}
        self._vehicles: defaultdict[int, list[int]] = defaultdict(list)

    def rows(self, reports: Iterable[Row]) -> Iterator[Row]:
        """Yield the output."""
        for event, vehicle, segment, speed in reports:
            for step in self.rules.order:
                if step == "speed":
                    self._speed(segment, speed)
                elif step == "count":
                    self._count(segment, vehicle)
                else:
                    yield event, vehicle, *self._toll(segment)

    def tables(self) -> Mapping[str, list[Row]]:
        """Return the rows of the tables."""
        counted = {segment: tuple(sorted(set(found))) for segment, found in self._vehicles.items()}
        return {"speeds": sorted(self._speeds.items()), "vehicles": sorted(counted.items())}

    def _speed(self, segment: int, speed: int) -> None:
        before = self._speeds.get(segment, self.rules.first_speed)
        self._speeds[segment] = (before + speed) / 2 if self.rules.averages else float(speed)

    def _count(self, segment: int, vehicle: int) -> None:
        found = self._vehicles[segment if self.rules.by_segment else 0]
        if vehicle not in found or not self.rules.counts_each_once:
            found.append(vehicle)

    def _toll(self, segment: int) -> Row:
        rules, speed = self.rules, self._speeds.get(segment, self.rules.first_speed)
        count = len(self._vehicles.get(segment, ()))
        is_due = speed < rules.slow and count > rules.crowd
        return speed, count, rules.factor * (count - rules.crowd) ** 2 if is_due else 0
