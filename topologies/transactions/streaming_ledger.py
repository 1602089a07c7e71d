"""The Streaming Ledger: deposits, and transfers of money and assets that go through as a whole or not at all.

There are 10,000 accounts and as many lots of assets, with about 100 bytes each. A deposit adds to one of
each. A transfer takes from one of each and adds to another. It is refused unless the account has more than
the least balance and more than is taken, and the asset too has more than is taken.

These are the rules of Streaming Ledger's own example (dataArtisans, "Serializable ACID Transactions on
Streaming Data", 2018). TStream's published code differs. A transfer gives the destination the balance of the
source, plus the amount; the changes of a refused transfer are not undone. Nothing waits for the balances
that it depends on. It has 100,000 of both, which are empty at first.
"""

from transactions.records import ROWS, spare
from viperstorm import Bolt, SharedTable, Stream

FIRST_MONEY, FIRST_ASSETS = 10_000, 1_000
"""The amounts of each account and asset at first: as much as the largest transfer takes."""
SPARE = spare(100, used=1)


def loaded(first, count=ROWS):
    """As many balances that are equal."""
    return [(key, first, *[0] * len(SPARE)) for key in range(count)]


def first_accounts():
    """List the rows that the accounts are loaded with."""
    return loaded(FIRST_MONEY)


def first_assets():
    """List the rows that the assets are loaded with."""
    return loaded(FIRST_ASSETS)


def balances(name, load, rows=ROWS):
    """A table of balances.

    Args:
        name: of the table.
        load: as `SharedTable` takes it, of rows as `loaded` gives them.
        rows: the most there are.
    """
    return SharedTable(name, key="int64", columns={"balance": "int64", **SPARE}, rows=rows, load=load)


accounts = balances("accounts", first_accounts)
assets = balances("assets", first_assets)


class Parser(Bolt):
    """Passes deposits and transfers on, each to those who carry them out."""

    outputs = [
        Stream(["event", "account", "asset", "amount", "assets"], name="deposits"),
        Stream(["event", "account", "asset", "to_account", "to_asset", "amount", "assets"], name="transfers"),
    ]
    config = {"viper.stateless": True}

    def process(self, tup):
        event, transfers, account, asset, to_account, to_asset, amount, count = tup.values
        if transfers:
            self.emit([event, account, asset, to_account, to_asset, amount, count], stream="transfers")
        else:
            self.emit([event, account, asset, amount, count], stream="deposits")


ANSWER = ["event", "accepted", "money", "having"]
"""The fields of an answer: whether an event went through; the source's money and asset before a transfer."""


class Deposit(Bolt):
    """Adds to an account and an asset; derive from it for other `tables`, in this order."""

    tables = [accounts, assets]
    outputs = ANSWER

    def process(self, tup):
        _, account, asset, amount, count = tup.values
        accounts, assets = self.tables
        with self.transaction(tup) as t:
            t.add(accounts.balance, account, amount)
            t.add(assets.balance, asset, count)

    def process_result(self, tup, result):
        self.emit([tup.values[0], bool(result), None, None])


class Transfer(Bolt):
    """Moves money and assets; derive from it for other `tables`, in this order.

    Args:
        minimum: the balance that an account must have more than.
    """

    tables = [accounts, assets]
    outputs = ANSWER

    def __init__(self, minimum=0):
        super().__init__()
        self._minimum = minimum

    def process(self, tup):
        _, account, asset, to_account, to_asset, amount, count = tup.values
        accounts, assets = self.tables
        with self.transaction(tup) as t:
            money = t.read(accounts.balance, account)
            having = t.read(assets.balance, asset)
            t.require((money > self._minimum) & (money > amount), "not enough money")
            t.require(having > count, "not enough of the asset")
            t.subtract(accounts.balance, account, amount)
            t.add(accounts.balance, to_account, amount)
            t.subtract(assets.balance, asset, count)
            t.add(assets.balance, to_asset, count)

    def process_result(self, tup, result):
        self.emit([tup.values[0], bool(result), *(result.values or (None, None))])
