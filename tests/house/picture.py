"""The picture of imports: rooms in their rows, and arrows from who imports to what is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from tests.house.imports import Import, between_rooms
from tests.house.rooms import Rows

_ROW_HEIGHT, _ROOM_HEIGHT = 72, 30
_CHARACTER, _PADDING, _GAP = 8, 24, 28
_MARGIN = 24
_DOWN, _UP = "#667", "#c00"

_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" font-size="13">
<title>{title}</title>
<defs>
<marker id="down" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0,0 L8,4 L0,8 z" fill="{down}"/></marker>
<marker id="up" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0,0 L8,4 L0,8 z" fill="{up}"/></marker>
</defs>
<rect width="100%" height="100%" fill="white"/>"""  # noqa: E501


def to_text(imports: Sequence[Import], house: str, rows: Rows) -> str:
    """A paragraph per room, from top to bottom: which rooms it imports, and in how many places."""
    return "\n".join(_text_lines(imports, house, rows)) + "\n"


def _text_lines(imports: Sequence[Import], house: str, rows: Rows) -> Iterator[str]:
    row_of = {room: number for number, row in enumerate(rows) for room in row}
    edges = between_rooms(imports, house)
    width = max(map(len, row_of))
    for number, row in enumerate(rows):
        for room in row:
            targets = sorted((row_of[target], target) for source, target in edges if source == room)
            down = [f"{t} ({len(edges[room, t])})" for below, t in targets if below > number]
            up = [f"UP TO {t} ({len(edges[room, t])})" for below, t in targets if below <= number]
            yield f"{number + 1:3}  {room:{width}}  {', '.join(up + down) or '-'}"


def to_svg(imports: Sequence[Import], house: str, rows: Rows) -> str:
    """The same as SVG, without the arrows that follow from others: a -> c where a -> b -> c is drawn.

    Imports upwards are red.
    """
    row_of = {room: number for number, row in enumerate(rows) for room in row}
    edges = [pair for pair in between_rooms(imports, house) if set(pair) <= row_of.keys()]
    drawn = {pair: row_of[pair[1]] - row_of[pair[0]] for pair in _necessary(edges, row_of)}
    longest = max(map(abs, drawn.values()), default=0)
    boxes, width = _boxes(rows, _MARGIN + _bow(longest))
    height = 2 * _MARGIN + len(rows) * _ROW_HEIGHT - (_ROW_HEIGHT - _ROOM_HEIGHT)
    lines = [_HEAD.format(width=width, height=height, title=escape(house), down=_DOWN, up=_UP)]
    lines += [_arrow(boxes[source], boxes[target], rows) for (source, target), rows in sorted(drawn.items())]
    for room, (left, top, wide) in boxes.items():
        rectangle = f'x="{left}" y="{top}" width="{wide}" height="{_ROOM_HEIGHT}" rx="4"'
        lines.append(f'<rect {rectangle} fill="#eef" stroke="#446"/>')
        lines.append(
            f'<text x="{left + wide / 2:g}" y="{top + 20}" text-anchor="middle">{escape(room)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


Box = tuple[float, float, float]
"""Left, top and width of a room."""


def _boxes(rows: Rows, margin: float) -> tuple[Mapping[str, Box], float]:
    """Where each room is drawn, rows centred, and the width of the picture."""
    widths = [[len(room) * _CHARACTER + _PADDING for room in row] for row in rows]
    totals = [sum(wide) + _GAP * (len(wide) - 1) for wide in widths]
    whole = max(totals) + 2 * margin
    boxes: dict[str, Box] = {}
    for number, row in enumerate(rows):
        left = (whole - totals[number]) / 2
        for room, wide in zip(row, widths[number], strict=True):
            boxes[room] = (left, _MARGIN + number * _ROW_HEIGHT, wide)
            left += wide + _GAP
    return boxes, whole


def _arrow(source: Box, target: Box, rows: int) -> str:
    """A curve from one room to another one, so many rows further down; upwards if that is negative."""
    down = rows > 0
    x1, y1 = source[0] + source[2] / 2, source[1] + (_ROOM_HEIGHT if down else 0)
    x2, y2 = target[0] + target[2] / 2, target[1] + (0 if down else _ROOM_HEIGHT)
    bow = _bow(abs(rows))
    side = 1 if x2 >= x1 else -1
    middle = (y1 + y2) / 2
    kind, colour = ("down", _DOWN) if down else ("up", _UP)
    curve = f"M{x1:g},{y1:g} C{x1 + side * bow:g},{middle:g} {x2 + side * bow:g},{middle:g} {x2:g},{y2:g}"
    return f'<path d="{curve}" fill="none" stroke="{colour}" marker-end="url(#{kind})"/>'


def _bow(rows: int) -> float:
    """How far an arrow over so many rows bends out to the side, past the rooms in between."""
    return 0 if rows <= 1 else 40 + 22 * rows


def _necessary(edges: Iterable[tuple[str, str]], row_of: Mapping[str, int]) -> set[tuple[str, str]]:
    """The arrows that do not follow from others; one upwards never does."""
    downwards = {(source, target) for source, target in edges if row_of[source] < row_of[target]}
    targets: dict[str, set[str]] = {}
    for source, target in downwards:
        targets.setdefault(source, set()).add(target)
    followed = {
        (source, target)
        for source, target in downwards
        if any(target in _below(via, targets) for via in targets[source] - {target})
    }
    return set(edges) - followed


def _below(room: str, targets: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [room]
    while waiting:
        new = targets.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
