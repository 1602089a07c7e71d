"""The plain loops that the applications are compared with: what they keep, and that each rule counts."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from tests.topologies.transactions import reference
from tests.topologies.transactions.reference import BiddingRules, LedgerRules, TollRules

RECORDS = 40
ACCESS = {"records": RECORDS, "partitions": 4, "distinct": False}
"""Few records, so that events depend on those before them."""
COUNT = 4_000

LEDGER = {"transfers": 0.8, "amount": 12, "assets": 12, "access": ACCESS}
"""Small amounts, so that there is often just as much as is taken."""


def drawn(generators: Any, name: str, seed: int = 3, **parameters: Any) -> list[Any]:
    return list(generators.APPLICATIONS[name](seed, **parameters).tuples(COUNT))


def ledger(rules: LedgerRules | None = None) -> reference.StreamingLedger:
    accounts = {key: key % 9 for key in range(RECORDS)}
    return reference.StreamingLedger(accounts, dict(accounts), rules or LedgerRules())


def bidding(rules: BiddingRules | None = None) -> reference.OnlineBidding:
    prices = {key: key % 50 for key in range(RECORDS)}
    return reference.OnlineBidding(prices, dict.fromkeys(prices, 20), rules or BiddingRules())


def done(loop: Any, events: list[Any]) -> tuple[list[Any], Any]:
    """Rows and tables."""
    return list(loop.rows(events)), loop.tables()


class TestGrepSum:
    def test_what_is_read_was_written_last(self) -> None:
        events = [
            (0, True, (1, 2), ()),
            (1, False, (1, 2, 1), (5, 6, 7)),
            (2, True, (2, 1, 1), ()),
        ]
        loop = reference.GrepSum({1: 10, 2: 20})
        assert done(loop, events) == ([(0, 30), (1, None), (2, 20)], {"records": [(1, 7), (2, 6)]})

    @pytest.mark.parametrize("rule", ["writes", "in_order"])
    def test_each_rule_changes_a_row(self, generators: Any, rule: str) -> None:
        events = drawn(generators, "grep_sum", access=ACCESS)
        records = dict.fromkeys(range(RECORDS), 1)
        right = done(reference.GrepSum(dict(records)), events)
        wrong = done(reference.GrepSum(dict(records), **{rule: False}), events)
        assert right[0] != wrong[0] and right[1] != wrong[1]


class TestStreamingLedger:
    def test_transfers_move_money_and_assets(self) -> None:
        events = [
            (0, False, 1, 1, -1, -1, 5, 3),
            (1, True, 1, 1, 2, 2, 5, 1),  # all that there is: refused
            (2, True, 1, 1, 2, 2, 4, 3),
            (3, True, 1, 1, 2, 2, 4, 2),
            (4, True, 2, 2, 2, 2, 3, 1),  # to oneself
        ]
        loop = reference.StreamingLedger({1: 0, 2: 0}, {1: 0, 2: 0})
        rows, tables = done(loop, events)
        refused = (False, None, None)
        assert [row[1:] for row in rows] == [(True, None, None), refused, refused, (True, 5, 3), (True, 4, 2)]
        assert tables == {"accounts": [(1, 1), (2, 4)], "assets": [(1, 1), (2, 2)]}

    def test_money_and_assets_are_kept(self, generators: Any) -> None:
        events, loop = drawn(generators, "streaming_ledger", **LEDGER), ledger()
        before = [sum(loop.accounts.values()), sum(loop.assets.values())]
        rows, _ = done(loop, events)
        deposits = [row for row in events if not row[1]]
        assert sum(loop.accounts.values()) == before[0] + sum(row[6] for row in deposits)
        assert sum(loop.assets.values()) == before[1] + sum(row[7] for row in deposits)
        assert min(loop.accounts.values()) >= 0 and min(loop.assets.values()) >= 0
        accepted = sum(row[1] for row, event in zip(rows, events, strict=True) if event[1])
        assert 300 < accepted < COUNT - len(deposits) - 300

    MUTATED = {
        "minimum": 3,
        "equal_is_enough": True,
        "asks_for_assets": False,
        "credits_of_source": True,
        "undoes": False,
        "takes": False,
        "moves_assets": False,
        "deposits": False,
    }

    @pytest.mark.parametrize("rule", [each.name for each in fields(LedgerRules)])
    def test_each_rule_changes_a_row(self, generators: Any, rule: str) -> None:
        events = drawn(generators, "streaming_ledger", **LEDGER)
        right = done(ledger(), events)
        wrong = done(ledger(replace(LedgerRules(), **{rule: self.MUTATED[rule]})), events)
        assert right[0] != wrong[0] and right[1] != wrong[1]

    @pytest.mark.parametrize("rule", ["credits_of_source", "undoes"])
    def test_what_was_published_once_makes_money(self, generators: Any, rule: str) -> None:
        events = drawn(generators, "streaming_ledger", **LEDGER)
        loop = ledger(replace(LedgerRules(), **{rule: self.MUTATED[rule]}))
        before = sum(loop.accounts.values())
        done(loop, events)
        assert sum(loop.accounts.values()) != before + sum(row[6] for row in events if not row[1])


class TestOnlineBidding:
    def test_bids_take_what_is_left_at_the_price(self) -> None:
        events = [
            (0, 0, 1, 7919, (1,), (9, 1)),  # too low
            (1, 0, 1, 7919, (1,), (10, 4)),
            (2, 0, 1, 7919, (1,), (10, 2)),  # too few
            (3, 0, 1, 7918, (1,), (10, 1)),  # a wrong token
            (4, 2, 1, 7919, (1, 2), (2, 3)),
            (5, 1, 1, 7919, (1, 2), (7, 8)),
            (6, 0, 1, 7919, (1,), (7, 3)),
        ]
        loop = reference.OnlineBidding({1: 10, 2: 20}, {1: 5, 2: 5})
        rows, tables = done(loop, events)
        assert rows == [
            (0, 0, False, None, None),
            (1, 0, True, 10, 5),
            (2, 0, False, None, None),
            (4, 2, True, None, None),
            (5, 1, True, None, None),
            (6, 0, True, 7, 3),
        ]
        assert tables == {"items": [(1, 7, 0), (2, 8, 8)]}

    def test_quantities_are_kept(self, generators: Any) -> None:
        events, loop = drawn(generators, "online_bidding", access=ACCESS), bidding()
        before = sum(loop.quantities.values())
        rows, _ = done(loop, events)
        by_event = {event[0]: event for event in events}
        taken = sum(by_event[row[0]][5][1] for row in rows if row[1] == 0 and row[2])
        topped = sum(sum(event[5]) for event in events if event[1] == 2)
        assert sum(loop.quantities.values()) == before + topped - taken
        assert min(loop.quantities.values()) >= 0 and taken > 1_000

    @pytest.mark.parametrize("rule", [each.name for each in fields(BiddingRules)])
    def test_each_rule_changes_a_row(self, generators: Any, rule: str) -> None:
        events = drawn(generators, "online_bidding", mix=(20, 1, 1), forged=0.1, access=ACCESS)
        right, wrong = (
            done(bidding(), events),
            done(bidding(replace(BiddingRules(), **{rule: False})), events),
        )
        assert right[0] != wrong[0] and right[1] != wrong[1]


class TestTollProcessing:
    def test_tolls_are_by_speed_and_vehicles_so_far(self) -> None:
        reports = [(0, 1, 7, 20), (1, 2, 7, 60), (2, 1, 7, 10)]
        loop = reference.TollProcessing(TollRules(crowd=0))
        rows, tables = done(loop, reports)
        assert rows == [(0, 1, 40.0, 1, 0), (1, 2, 50.0, 2, 0), (2, 1, 30.0, 2, 8)]
        assert tables == {"speeds": [(7, 30.0)], "vehicles": [(7, (1, 2))]}

    MUTATED = {
        "averages": False,
        "counts_each_once": False,
        "by_segment": False,
        "first_speed": 59.0,
        "crowd": 49,
        "slow": 39.0,
        "factor": 3,
    }

    @pytest.mark.parametrize("rule", [each.name for each in fields(TollRules) if each.name != "order"])
    def test_each_rule_changes_a_row(self, generators: Any, rule: str) -> None:
        assert self.of_rules(generators, **{rule: self.MUTATED[rule]}) != self.of_rules(generators)

    @pytest.mark.parametrize(
        "order", [("count", "toll", "speed"), ("speed", "toll", "count"), ("toll", "speed", "count")]
    )
    def test_the_order_of_what_a_report_does_changes_a_row(
        self, generators: Any, order: tuple[str, ...]
    ) -> None:
        assert self.of_rules(generators, order=order) != self.of_rules(generators)

    def test_some_tolls_are_asked_for(self, generators: Any) -> None:
        tolls = [row[4] for row in self.of_rules(generators)]
        assert sum(toll > 0 for toll in tolls) > COUNT / 10 and sum(toll == 0 for toll in tolls) > COUNT / 10

    @staticmethod
    def of_rules(generators: Any, **rules: Any) -> list[Any]:
        reports = drawn(generators, "toll_processing", segments=20)
        return list(reference.TollProcessing(TollRules(**rules)).rows(reports))
