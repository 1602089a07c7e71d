"""Windows by the wall clock end although the spouts bring nothing more for now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, OPlus, Spout, TopologyBuilder, WindowedBolt
from framework.operators.windows.spec import LENGTH_MS, SLIDE_MS
from framework.runtime import StopReason
from tests.framework.runtime.workers.running import Workers, every_kind

WINDOW_MS = 50
TOO_LONG_S = 20.0


class OneUntilSeen(Spout):
    """Brings a tuple, and no other one; ends when a window with that has been processed."""

    outputs = ["number"]

    def __init__(self, seen: str) -> None:
        super().__init__()
        self._seen = seen

    def tuples(self) -> Iterator[list[Any] | None]:
        yield [7]
        while not os.path.exists(self._seen):
            yield None


class Windows(WindowedBolt):
    outputs = ["number"]
    config = {LENGTH_MS: WINDOW_MS, SLIDE_MS: WINDOW_MS}

    def process_window(self, window: Any) -> None:
        for tup in window.tuples:
            self.emit([tup.values.number])


class KeyWindows(OPlus):
    outputs = ["number"]
    size = f"{WINDOW_MS}ms"

    def create(self) -> list[int]:
        return []

    def update(self, window: Any, tup: Any, side: int = 0) -> None:
        window.state.append(tup.values.number)

    def output(self, window: Any) -> Iterator[tuple[Any, ...]]:
        yield from ([number] for number in window.state)


class Marks(Bolt):
    """Says in a file that it has seen a tuple."""

    def __init__(self, seen: str) -> None:
        super().__init__()
        self._seen = seen

    def process(self, tup: Any) -> None:
        Path(self._seen).touch()


@every_kind
@pytest.mark.parametrize("windows", [Windows, KeyWindows])
def test_a_window_ends_with_its_time(windows: type[Bolt], workers: Workers, tmp_path: Path) -> None:
    seen = str(tmp_path / "seen")
    builder = TopologyBuilder()
    builder.set_spout("one", OneUntilSeen, args=[seen])
    builder.set_bolt("windows", windows, 2).fields_grouping("one", "number")
    builder.set_bolt("marks", Marks, args=[seen]).shuffle_grouping("windows")
    report = workers.run(builder, {"duration_s": TOO_LONG_S})
    assert report.reason is StopReason.EXHAUSTED
    assert report.components["marks"].processed == 1
