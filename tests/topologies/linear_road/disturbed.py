"""Cars that have bolts of their run change their numbers of tasks at certain seconds of the input.

One injector asks for a change, by the folder of the run, as another process would. The others bring nothing
after that second before it has, and all bring a second at a time until the change is carried out. So nobody
waits for a moment, every change is carried out, and rows stand on both sides of its cut, however many
sources there are. What has been asked for is marked by files, for those who take the place of the dead.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from linear_road.records import SECOND_US
from linear_road.spouts import Generated

from framework.operators.components.partitioned import Block, Watermark
from framework.runtime.coordination.commands import ask
from tests.kills import deaths

__all__ = ["MOST", "Change", "Disturbed", "deaths", "drawn"]
"""Whichever worker process imports deaths dies, as far as that is planned."""

MOST = 5
"""Tasks that a bolt may grow to."""


class Change(NamedTuple):
    """From a second of the input on, or one soon after it, bolts are to continue with so many tasks."""

    second: int
    tasks: Mapping[str, int]


def drawn(seed: int, names: Sequence[str], tasks: int, changes: int, seconds: int) -> list[Change]:
    """So many changes, at seconds that a seed draws: of all bolts at first, and then of some of them.

    Each is far from the next one and from the end, so that rows are left behind its cut.

    Args:
        seed: what they are drawn from.
        names: of the bolts.
        tasks: that each of them has at first.
        changes: how many there are.
        seconds: of the input.
    """
    draw, spacing = random.Random(seed), seconds // (changes + 1)
    now, found = dict.fromkeys(names, tasks), []
    for nth in range(changes):
        chosen = names if nth == 0 else draw.sample(names, draw.randint(1, len(names)))
        others = {name: [count for count in range(1, MOST + 1) if count != now[name]] for name in chosen}
        wanted = {name: draw.choice(counts) for name, counts in others.items()}
        now |= wanted
        found.append(Change(spacing * nth + draw.randrange(spacing // 2), wanted))
    return found


class Disturbed(Generated):
    """As `Generated`; asks for changes.

    Args:
        changes: in the order of their seconds.
        folder: of the run's control, with an empty folder ``asked`` in it.
    """

    def __init__(self, changes: Sequence[Change], folder: str, *generated: Any) -> None:
        super().__init__(*generated)
        self._changes = changes
        self._folder = Path(folder)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        asked, is_under_way = 0, False
        for block in by_second(super().blocks(partition, start_us)):
            second = block.times[0] // SECOND_US
            while asked < len(self._changes) and self._changes[asked].second <= second:
                mark = self._folder / "asked" / str(asked)
                if mark.exists():
                    asked, is_under_way = asked + 1, True
                elif not self._is_done():
                    break  # its cut may lie ahead, so the input must go on
                elif partition == 0:
                    ask(self._folder, "scale", tasks=dict(self._changes[asked].tasks))
                    mark.touch()
                else:  # without keeping from the merge what another one has before that
                    yield Watermark(block.times[0])
                    yield None
            if is_under_way:
                is_under_way = not self._is_done()
                yield None
            yield block

    def _is_done(self) -> bool:
        """True if all that was asked for has been carried out."""
        told = ask(self._folder, "scale", tasks={})
        return bool(told["tasks"] == told["now"])


def by_second(blocks: Iterator[Block]) -> Iterator[Block]:
    """The rows of some blocks, each of which has rows of one second now."""
    for block in blocks:
        rows = zip(block.times, block.rows, strict=True)
        for _, found in groupby(rows, lambda row: row[0] // SECOND_US):
            times, values = zip(*found, strict=True)
            yield Block(array("q", times), list(values))
