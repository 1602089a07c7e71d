"""From files into every kind of sink, with checkpoints: each row once, although runs fail again and again."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder, ValueState
from framework.model.errors import ComponentError
from framework.operators.sources import CsvSource
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.operators.sinks.driven import SINKS, held
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers
from tests.portions import at_every_change

FILES, COUNT = 3, 1500
FAILURES = (700, 1900, 3100)
KINDS = ["json that grows", "sqlite", "parquet", "json", "csv", "sqlite by key", "sqlalchemy"]
CASES = [("sqlite", PROCESSES)] + [(kind, INLINE) for kind in KINDS]
CASES += [(kind, PROCESSES) for kind in KINDS if kind != "sqlite"]


class Count(Bolt):
    """Counts each word, in declared state."""

    outputs = ["word", "n"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.seen.value += 1
        self.emit([tup.values.word, self.seen.value])


class Fails(Bolt):
    """Raises at each of some numbers of tuples, once, but for the first time only when there is a checkpoint.

    Until that is there, it is slow, and slower still once half of the tuples have come.
    """

    outputs = ["word", "n"]
    total = ValueState("int64", default=0, per="task")

    def __init__(self, folder: str, kept: str, at: Sequence[int]) -> None:
        super().__init__()
        self._folder = Path(folder)
        self._kept = Path(kept)
        self._at = list(at)

    def process(self, tup: Any) -> None:
        total = self.total.add(1)
        markers = [self._folder / f"failed at {number}" for number in self._at if number <= total]
        due = [marker for marker in markers if not marker.exists()]
        if due and CheckpointFolder(self._kept).ids:
            for marker in due:
                marker.touch()
            raise OSError("the power is gone")
        if due:
            time.sleep(0.001 if total < FILES * COUNT / 2 else 0.03)
        self.emit(tup.values)


def written(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        rows = (f"{at * 2 + number % 2},w{at * (number + 3) % 11}\n" for at in range(COUNT))
        (folder / f"{number}.csv").write_text("at,word\n" + "".join(rows))


def counting(
    data: Path, out: Path, kept: Path, kind: str, par: int, failures: Sequence[int] = ()
) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("rows", CsvSource(str(data), timestamp="at", unit="ms"), par)
    builder.set_bolt("count", Count, par).fields_grouping("rows", "word")
    builder.set_bolt("fails", Fails(str(out), str(kept), failures)).global_grouping("count")
    builder.set_bolt("sink", SINKS[kind](out)).global_grouping("fails")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "workers"), at_every_change(CASES, 4), ids=str)
def test_each_row_is_there_once(kind: str, workers: Workers, tmp_path: Path) -> None:
    data, whole, out, kept = (tmp_path / name for name in ("data", "whole", "out", "kept"))
    written(data)
    whole.mkdir()
    out.mkdir()
    INLINE.run(counting(data, whole, kept, kind, 1), {"checkpoints": tmp_path / "none"})
    options = {"viper__checkpoint__secs": 0.01, "viper__slice__tuples": 32, "viper__jumbo__size": 16}
    options["viper__channel__tuples"] = 64  # so that sources have rows left when a checkpoint is there
    start: dict[str, Any] = {"checkpoints": kept}
    for par in itertools.cycle((1, 2, 3)):
        builder = counting(data, out, kept, kind, par, FAILURES)
        if len(list(out.glob("failed at *"))) == len(FAILURES):
            assert workers.run(builder, start, **options).drained
            break
        with pytest.raises(ComponentError, match="the power is gone"):
            workers.run(builder, start, **options)
        start = {"start": kept}
    assert held(out, kind) == held(whole, kind)
    if kind == "json":
        rows = [json.loads(line) for line in held(out, kind).splitlines()]
        assert len(rows) == FILES * COUNT
