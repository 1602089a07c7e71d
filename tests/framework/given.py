"""A spout of rows that it is given, for workers of every kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework import Spout

Row = tuple[Any, ...]


class Given(Spout):
    """Brings rows.

    Args:
        rows: their values.
        fields: the names of these, apart by spaces.
        at: the field with the time in seconds, if there is one.
    """

    def __init__(self, rows: list[Row], fields: str, at: str | None = None) -> None:
        super().__init__()
        self._rows = rows
        self._fields = fields.split()
        self._at = at

    @property
    def outputs(self) -> list[str]:  # type: ignore[override]
        return self._fields

    @property
    def component_configuration(self) -> Mapping[str, Any]:
        return {"viper.timestamp.field": self._at, "viper.timestamp.unit": "s"} if self._at else {}

    def tuples(self) -> Iterator[Row]:
        yield from self._rows
