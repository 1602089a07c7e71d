"""Rows as components emit them and records as components receive them, in C.

`Outbox.emit` snapshots one row of exactly immutable values and leaves everything
else to a Python callable; an `Inbox` turns rows into named records and notes how
many rows the outbox held after each, which is what output positions are made of.
"""

from viper._rows import Inbox, Outbox, is_plain, partition

__all__ = ["Inbox", "Outbox", "is_plain", "partition"]
