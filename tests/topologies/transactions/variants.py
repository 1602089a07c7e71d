"""Bolts in the place of the applications' own: poorer accounts, and transfers as they were published once.

Worker processes import this, as it stands in a module.
"""

from __future__ import annotations

from typing import Any

from transactions import batches, streaming_ledger

RECORDS = 40
MONEY, ASSETS = 8, 5
"""The money and the assets of the poor at first."""


def few_accounts() -> list[Any]:
    """List the rows that the accounts of the poor are loaded with."""
    return list(streaming_ledger.loaded(MONEY, RECORDS))


def few_assets() -> list[Any]:
    """Likewise the assets."""
    return list(streaming_ledger.loaded(ASSETS, RECORDS))


POOR = [
    streaming_ledger.balances("accounts", few_accounts, RECORDS),
    streaming_ledger.balances("assets", few_assets, RECORDS),
]


class PoorDeposit(streaming_ledger.Deposit):  # type: ignore[misc]
    """To the accounts of the poor."""

    tables = POOR


class PoorTransfer(streaming_ledger.Transfer):  # type: ignore[misc]
    """Between these accounts."""

    tables = POOR


class PoorLedger(batches.Ledger):  # type: ignore[misc]
    """Both, on columns."""

    tables = POOR


class PublishedTransfer(PoorTransfer):
    """Gives the destination what the source had, and what is moved."""

    def process(self, tup: Any) -> None:
        _, account, asset, to_account, to_asset, amount, count = tup.values
        accounts, assets = self.tables
        with self.transaction(tup) as t:
            money = t.read(accounts.balance, account)
            having = t.read(assets.balance, asset)
            t.require((money > 0) & (money > amount) & (having > count))
            t.subtract(accounts.balance, account, amount)
            t.set(accounts.balance, to_account, money + amount)
            t.subtract(assets.balance, asset, count)
            t.set(assets.balance, to_asset, having + count)
