"""Shared tables: rows that the transactions of several bolts, and of all their tasks, read and write."""

from framework.model.tables.declaration import SharedTable, TableGroup, declared_tables
from viper.transactions.specs import Abort

__all__ = ["Abort", "SharedTable", "TableGroup", "declared_tables"]
