"""Bolts that take the place of what a component that is measured alone has around it."""

from __future__ import annotations

from framework.operators.components import BatchBolt
from framework.operators.components.rows import Rows


class Nothing(BatchBolt):
    """Takes tuples, and does nothing with them."""

    def process_rows(self, rows: Rows) -> None:
        """Forget them."""


class AsColumns(BatchBolt):
    """Hands tuples on, on the streams that they came on: those of typed streams as columns."""

    def process_rows(self, rows: Rows) -> None:
        """Make columns of them, so that the component behind does not have to."""
        self.emit_rows(rows.values() if rows.schema is None else rows.batch(), stream=rows.stream)
