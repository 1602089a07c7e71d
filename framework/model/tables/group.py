"""Shared tables whose transactions have one order, and who has these transactions."""

from __future__ import annotations

from dataclasses import dataclass

from framework.model.tables.declaration import SharedTable


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Shared tables, and the bolts whose transactions on them have one order."""

    tables: tuple[SharedTable, ...]
    """By name."""
    members: tuple[str, ...]
    """Ids of the bolts, in order of definition."""
