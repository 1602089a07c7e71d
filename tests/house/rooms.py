"""The declared order of rooms: a room imports rooms of the rows below its own, and no others.

Rooms in one row do not import each other. The test of this order is in ``tests/test_house.py``; ``make
imports`` draws it, and CONTRIBUTING.md shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.house.imports import Import, between_rooms

Rows = Sequence[Sequence[str]]
"""Rooms from top to bottom, row by row."""

ORDERS: Mapping[str, Rows] = {
    "framework": (
        ("cli", "framework"),
        ("public",),
        ("api", "testing"),
        ("frontends", "web"),
        ("runtime",),
        ("optimizer",),
        ("recording",),
        ("planning",),
        ("operators",),
        ("model",),
        ("aliases", "common", "version"),
    ),
    "framework.frontends": (
        ("framework.frontends", "loading"),
        ("flux",),
        ("discovery",),
        ("streams",),
        ("builder",),
        ("dsl",),
        ("streamparse",),
        ("declaration", "multilang"),
    ),
    "framework.runtime": (
        ("framework.runtime",),
        ("run",),
        ("leading",),
        ("workers",),
        ("execution",),
        ("report", "tasks"),
        ("coordination", "exchange", "options"),
        ("durability", "order", "rebalancing"),
        ("observation",),
    ),
    "framework.optimizer": (
        ("framework.optimizer", "planned"),
        ("first_placement",),
        ("profiling", "search"),
        ("costs",),
    ),
    "framework.recording": (
        ("comparing", "framework.recording"),
        ("ancestry", "replay"),
        ("reading", "writing"),
        ("parts",),
        ("header", "tap", "timeline"),
    ),
    "framework.planning": (
        ("framework.planning",),
        ("planner", "validation"),
        ("checkpoints", "coroutines", "sharing", "strategy", "transactions"),
        ("scaling",),
        ("connections", "keys", "merge_bolts", "recovery"),
        ("plan", "windows"),
        ("evaluation", "time_mode"),
        ("layout", "place", "placement", "routing", "traits"),
    ),
    "framework.operators": (
        ("framework.operators", "kafka"),
        ("sinks",),
        ("log", "sources", "standins"),
        ("components",),
        ("windows",),
        ("controllers", "state"),
    ),
    "framework.model": (
        ("framework.model", "specs"),
        ("instantiate",),
        ("arguments", "config", "importing", "render", "tables", "tracebacks"),
        ("errors", "programs"),
        ("columns", "positions", "sealing", "topology"),
    ),
    "spark_ingest": (
        ("cli", "spark_ingest"),
        ("backfill",),
        ("spout",),
        ("direct", "preparing"),
        ("replaying",),
        ("datasets",),
        ("job",),
        ("engine",),
        ("errors",),
    ),
}
"""By house: a package whose rooms have an order. Its own ``__init__.py`` is the room of its name."""

EXCEPTIONS: frozenset[tuple[str, str]] = frozenset()
"""Imports upwards that are still to be cut: the importing file and the module that it imports."""


def upwards(imports: Sequence[Import], house: str, rows: Rows) -> Sequence[Import]:
    """The imports between rooms of a house that do not lead to a lower row, exceptions left out.

    A room that stands in no row is found by every import from it or of it.
    """
    row_of = {room: number for number, row in enumerate(rows) for room in row}
    return [
        entry
        for (importer, imported), entries in between_rooms(imports, house).items()
        if not row_of.get(importer, len(rows)) < row_of.get(imported, -1)
        for entry in entries
        if (entry.file, entry.imported) not in EXCEPTIONS
    ]


def as_text(house: str, rows: Rows) -> str:
    """The order of a house for people: a line per row, indented as in CONTRIBUTING.md."""
    lines = [", ".join(_shown(room, house) for room in row) for row in rows]
    return "".join(f"    {line}\n" for line in lines)


def _shown(room: str, house: str) -> str:
    return "__init__" if room == house else room
