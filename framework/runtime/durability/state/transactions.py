"""Transactions of a stateful bolt: commits of its state that it is told of, at most one in an interval."""

from __future__ import annotations

import time

from framework.operators.components import StatefulBolt


class Transactions:
    """Tells a stateful bolt of some of the commits of its state, as Storm does of its checkpoints.

    Args:
        bolt: it has been initialized.
        interval_s: seconds between two transactions.
    """

    def __init__(self, bolt: StatefulBolt, interval_s: float) -> None:
        self._bolt = bolt
        self._interval_s = interval_s
        self._due_s = time.monotonic() + interval_s

    def before_commit(self, *, is_last: bool) -> None:
        """Tell the bolt that its state is about to be committed, if that is due.

        Args:
            is_last: whether nothing comes behind the commit.
        """
        now_s = time.monotonic()
        if now_s < self._due_s and not is_last:
            return
        self._due_s = now_s + self._interval_s
        bolt = self._bolt
        txid = (bolt.transactions.value or 0) + 1
        bolt.pre_prepare(txid)
        bolt.pre_commit(txid)
        bolt.transactions.add(txid)
