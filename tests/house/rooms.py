"""The declared order of rooms: a room imports the rooms of the rows below its own, and no others.

Rooms in one row do not import each other. The test of this order is in ``tests/test_house.py``, the picture is
drawn by ``make imports``, and CONTRIBUTING.md shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.house.imports import Import, between_rooms

Rows = Sequence[Sequence[str]]
"""Rooms from top to bottom, row by row."""

ORDERS: Mapping[str, Rows] = {
    "framework": (
        ("cli",),
        ("testing",),
        ("multilang",),
    ),
    "framework.runtime": (
        ("framework.runtime",),
        ("run",),
        ("workers",),
        ("report",),
        ("assembly",),
        ("execution",),
        ("tasks",),
        ("control",),
        ("hosts",),
        ("inputs",),
        ("edges",),
        ("tracking",),
        ("positions",),
        ("metrics",),
    ),
    "spark_ingest": (("cli",),),
}
"""By house: a package whose rooms have an order."""

EXCEPTIONS: Mapping[str, str] = {}
"""Imports upwards that are still there: the importing file, and the room that it imports."""


def upwards(imports: Sequence[Import], house: str, rows: Rows) -> Sequence[Import]:
    """The imports from a room to one that is not below it; both ends of each are rooms of the house."""
    height = {room: -number for number, row in enumerate(rows) for room in row}
    return [
        entry
        for (importer, imported), entries in between_rooms(imports, house).items()
        if not height.get(imported, 0) < height.get(importer, -len(rows))
        for entry in entries
    ]
