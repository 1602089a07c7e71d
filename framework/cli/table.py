"""Tables for people."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of columns two spaces apart; numbers stand to the right, with thousands set apart."""
    cells = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    to_the_right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(header))]
    return [_line(line, widths, to_the_right) for line in (header, *cells)]


def _line(cells: Sequence[str], widths: Sequence[int], to_the_right: Sequence[bool]) -> str:
    aligned = (
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, to_the_right, strict=True)
    )
    return "  ".join(aligned).rstrip()


def _text(value: object) -> str:
    return f"{value:,}" if _is_number(value) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
