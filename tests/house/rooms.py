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
        ("framework", "cli"),
        ("running", "tidying"),
        ("testing",),
        ("loading",),
        ("flux",),
        ("discovery",),
        ("streams",),
        ("builder",),
        ("dsl",),
        ("adapters",),
        ("multilang",),
        ("declaration", "registry", "runtime", "web"),
        ("checkpoints", "rebalancing"),
        ("profiling",),
        ("recording", "standins", "tap", "validation"),
        ("planning", "sinks", "sources"),
        ("log", "traits"),
        ("components",),
        ("specs",),
        ("controllers", "instantiate", "windows"),
        (
            *("arguments", "breakpoints", "config", "importing", "lifeline", "prints"),
            *("programs", "render", "routing", "sealing", "state", "tables", "tracebacks"),
        ),
        ("observing", "optimizing"),
        ("costs",),
        ("errors",),
        ("columns", "positions", "topology", "units", "version"),
    ),
    "framework.runtime": (
        ("framework.runtime",),
        ("at_once",),
        ("run",),
        ("rebalancing", "watching"),
        ("commanded", "controlling", "handing_over", "looking", "workers"),
        ("limits",),
        ("observer",),
        ("beginning", "checkpointing", "describing", "measured", "report"),
        ("assembly",),
        ("execution",),
        ("tasks",),
        ("control",),
        ("hosts",),
        ("inputs",),
        ("pieces",),
        ("edges",),
        ("recovery", "tracking"),
        ("merging", "positions", "state"),
        ("metrics",),
    ),
    "spark_ingest": (
        ("cli", "spark_ingest"),
        ("backfill",),
        ("preparing", "spout"),
        ("direct",),
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
