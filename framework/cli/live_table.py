"""The components of a run as a table for a terminal, with what they do now."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from framework.cli.table import table

if TYPE_CHECKING:
    from framework.runtime.observation import ComponentRates, ComponentSnapshot, RunSnapshot

PERIOD_S = 0.5
"""Seconds between two tables: numbers that change faster cannot be read."""

_LONGEST_NAME = 30
_UNKNOWN = "-"
_FIRST_TO_GO = (
    *("idle", "waiting", "held by", "µs each", "per claim", "p50 ms", "failed", "blocked", "restarts"),
    *("p99 ms", "/s", "lost", "errors", "busy"),
)
"""Columns in the order in which they leave a narrow terminal; the others follow, from the right."""
_IF_ANY = {"waiting", "errors", "restarts", "lost", "failed", "held by", "p50 ms", "p99 ms", "per claim"}
"""Columns that are left out as long as nothing of the kind has happened."""
_NOTHING = (0, "", _UNKNOWN, "0%")
_NAMES = {"component", "held by"}


class LiveTable:
    """The table of a run, made again now and then.

    Args:
        look: makes a snapshot of the run.
    """

    def __init__(self, look: Callable[[], RunSnapshot]) -> None:
        from framework.runtime.observation import Recent

        self._look = look
        self._recent = Recent()
        self._lines: Sequence[str] = ()
        self._due_s = 0.0

    def lines(self, now_s: float) -> Sequence[str]:
        """The lines of the table, which fit on the terminal.

        Args:
            now_s: seconds of any clock, which says when the table is made again.
        """
        if now_s >= self._due_s:
            self._due_s = now_s + PERIOD_S
            snapshot = self._look()
            size = shutil.get_terminal_size()
            self._lines = live_lines(snapshot, self._recent.add(snapshot), size.columns - 1, size.lines - 2)
        return self._lines


def live_lines(
    snapshot: RunSnapshot, rates: Mapping[str, ComponentRates], width: int, height: int
) -> Sequence[str]:
    """The table of a snapshot.

    Args:
        snapshot: of the run.
        rates: of its components, by id; what they are unknown of has a dash.
        width: columns of text that there is room for; columns of the table that do not fit are left out.
        height: lines that there is room for; the components at the end are only counted.
    """
    from framework.runtime.observation import bottleneck

    components = list(snapshot.components)
    held = bottleneck(snapshot, rates)
    below = [held.told[:width]] if held is not None and height > len(components) + 1 else []
    room = max(1, height - 1 - len(below))
    shown = components if len(components) <= room else components[: max(0, room - 1)]
    rows = [_row(component, rates.get(component.id)) for component in shown]
    lines = _fitting(rows, width)
    if len(shown) < len(components):
        lines.append(f"... and {len(components) - len(shown):,} more"[:width])
    return [*lines, *below]


def _fitting(rows: Sequence[Mapping[str, object]], width: int) -> list[str]:
    """The widest table that fits."""
    if not rows:
        return []
    header = list(rows[0])
    header = [n for n in header if n not in _IF_ANY or any(row[n] not in _NOTHING for row in rows)]
    columns = {name: _column(name, [row[name] for row in rows]) for name in header}
    while True:
        chosen = [columns[name] for name in header]
        lines = table([head for head, *_ in chosen], [*zip(*(cells for _, *cells in chosen), strict=True)])
        if len(header) <= 1 or max(map(len, lines)) <= width:
            return [line[:width] for line in lines]
        header.remove(next((name for name in _FIRST_TO_GO if name in header), header[-1]))


def _column(name: str, values: Sequence[object]) -> Sequence[str]:
    """The head and the cells of a column; all but names stand to the right."""
    texts = [name, *(f"{value:,}" if isinstance(value, int) else str(value) for value in values)]
    width = 0 if name in _NAMES else max(map(len, texts))
    return [text.rjust(width) for text in texts]


def _row(component: ComponentSnapshot, rates: ComponentRates | None) -> Mapping[str, object]:
    """The cells of a component, by column."""
    is_spout = component.role == "spout"
    each = _UNKNOWN if rates is None or rates.execute_s is None else f"{rates.execute_s * 1e6:,.1f}"
    return {
        "component": _shortened(component.id),
        "/s": _UNKNOWN if rates is None else round(rates.rate),
        "total": component.handled,
        "busy": _percent(None if rates is None else rates.busy),
        "waiting": _percent(None if rates is None else rates.waiting),
        "blocked": _percent(None if rates is None else rates.blocked),
        "idle": _percent(None if rates is None else rates.idle),
        "capacity": _UNKNOWN if rates is None else f"{rates.capacity:.2f}",
        "µs each": each,
        "p50 ms": _milliseconds(None if rates is None else rates.p50_s),
        "p99 ms": _milliseconds(None if rates is None else rates.p99_s),
        "queue": _UNKNOWN if is_spout else _percent(component.fill),
        "per claim": _UNKNOWN if component.tuples_a_claim is None else f"{component.tuples_a_claim:,.1f}",
        "failed": component.failed,
        "errors": component.errors,
        "restarts": component.restarts,
        "lost": component.lost,
        "held by": _held_by(component.held_by),
    }


def _milliseconds(seconds: float | None) -> str:
    return _UNKNOWN if seconds is None else f"{seconds * 1e3:,.{1 if seconds < 0.1 else 0}f}"


def _percent(share: float | None) -> str:
    return _UNKNOWN if share is None else f"{share:.0%}"


def _held_by(tasks: Sequence[str]) -> str:
    if not tasks:
        return ""
    more = f" +{len(tasks) - 1}" if len(tasks) > 1 else ""
    return _shortened(tasks[0]) + more


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
