"""Components that may be killed amid a checkpoint, or while a sink applies, and what they write."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from framework import TopologyBuilder
from framework.operators.sinks import JsonLinesSink, Sink, SqliteSink, TransactionalSink
from framework.operators.sinks.staging import Stage
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.durability.recovery import Commits
from framework.runtime.durability.state import Snapshot
from framework.runtime.tasks.bolt_cut import BoltCut
from framework.runtime.tasks.checkpoints import TaskCheckpoints
from tests.framework.runtime.durability.checkpoints import test_states
from tests.framework.runtime.durability.checkpoints.suspended import Suspending
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.killed import POINTS, Mortal, Written, plan_death
from viper._backend import lib
from viper.reader import ClaimingReader, Reader
from viper.state import Writer

COUNT = 400
SPREAD = {"source": [1, 2], "remember": [2, 3], "total": 3, "written": 1, "table": 1, "file": 2}
"""Every component has a neighbour in another process."""
OF_CHECKPOINTS: tuple[tuple[type, str], ...] = (
    (CutRecord, "answer"),
    (CutRecord, "pass_at"),
    (TaskCheckpoints, "cut"),
    (Snapshot, "write"),
    (TaskCheckpoints, "finish"),
    (TransactionalSink, "cut"),
    (TransactionalSink, "complete"),
    (SqliteSink, "apply"),
    (JsonLinesSink, "apply"),
    (JsonLinesSink, "finish"),
)
"""The calls that happen only at checkpoints, or when a sink applies."""
OF_SINKS: tuple[tuple[type, str], ...] = (
    *OF_CHECKPOINTS,
    (Stage, "append"),
    (Stage, "remove"),
    (Commits, "commit"),
    (Writer, "commit"),
)
"""The calls that handle what a sink has taken."""
OF_CUTS: tuple[tuple[type, str], ...] = (
    (Reader, "put_back"),
    (BoltCut, "come"),
    (BoltCut, "passes"),
    (TaskCheckpoints, "cut"),
    (CutRecord, "pass_at"),
)
"""The calls right before, at and after a cut."""
OF_STAGES: tuple[tuple[type, str], ...] = ((Stage, "append"),)
"""The calls right before and after a row is staged, and so before the task commits it."""
AMONG = {
    "all": POINTS,
    "checkpoints": OF_CHECKPOINTS,
    "cuts": OF_CUTS,
    "sinks": OF_SINKS,
    "stages": OF_STAGES,
}
PLANT = "MORTAL_PLANT"
"""The environment variable that names a bug for worker processes to have."""
STAGED_STAYS = "what is staged does not go back with a task's commits"
CUT_BEFORE_COMMIT = "what is to be done at a cut is done before all below is committed"
_checked: list[str] = []
"""The name of this process's check, if it checks commits at cuts."""


def _taken(commits: Commits) -> bool:
    """True if tuples were taken behind the last commit; what claimants leave out is no such tuple."""
    page, reader = commits._page, commits._reader
    if isinstance(reader, ClaimingReader):
        return reader._is_open
    return any(lib.vp_page_taken(page._page, number) for number in range(page._inputs))


def check_cuts() -> None:
    """Have the process fail if a task comes to be saved with anything that it has not committed."""
    passes, come = BoltCut.passes, BoltCut.come

    def looking(self: BoltCut) -> bool:
        task = self._at_cut.__self__.task  # type: ignore[attr-defined]
        commits = task.commits
        assert commits is None or (task.emitter.is_clear and not _taken(commits)), "not committed"
        return passes(self)

    def early(self: BoltCut) -> None:
        come(self)
        self.passes()

    BoltCut.passes = looking  # type: ignore[method-assign]
    if os.environ.get(PLANT) == CUT_BEFORE_COMMIT:
        BoltCut.come = early  # type: ignore[method-assign]


class Dying(Mortal):
    """Its process may be killed at points of the kind that the run names."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        if os.environ.get(PLANT) == STAGED_STAYS:
            TransactionalSink.unstage = lambda self, *noted: None  # type: ignore[method-assign]
        if not _checked:
            _checked.append("cuts")
            check_cuts()
        if isinstance(self, TransactionalSink):
            super(Mortal, self).initialize(storm_conf, context)  # type: ignore[misc]
        plan_death(self, AMONG[storm_conf["kill.among"]])


class Source(Dying, Suspending):
    """Has the leader make a checkpoint, or suspend the run, when a row comes."""


class Remember(Dying, test_states.Remember):
    """Emits what it remembers of a key."""


class Total(Dying, test_states.Total):
    """Emits a number at every tick."""


class Table(Dying, SqliteSink):
    """A table."""


class Lines(Dying, JsonLinesSink):
    """A file."""


class File(Written):
    """A file that is cut off where its declared state says."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        storm_conf = {**storm_conf, "kills": 0}
        super().initialize(storm_conf, context)


def built(
    folder: Path, spout: Suspending, sources: int = 2, bolts: int = 2, *, staged: bool = False
) -> TopologyBuilder:
    """Build bolts that remember each key and count, written to a file; or, staged before, to two places."""
    (folder / "marks").mkdir(parents=True, exist_ok=True)
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("remember", Remember, bolts).fields_grouping("source", "key")
    builder.set_bolt("total", Total).global_grouping("source")
    sinks: dict[str, Sink] = {"written": File()}
    if staged:
        table = Table(str(folder / "told.db"), "told", ["key", "told"])
        sinks = {"table": table, "file": Lines(str(folder / "told.jsonl"))}
    for name, sink in sinks.items():
        setting = builder.set_bolt(name, sink)
        setting.global_grouping("remember")
        setting.global_grouping("total")
    return builder


def planned(builder: TopologyBuilder, folder: Path, seed: int, **options: Any) -> Any:
    """The plan, and its settings, of a run on three processes of which some are killed."""
    for mark in (folder / "marks").iterdir():
        mark.unlink()
    chosen = {
        "viper__worker": "process",
        "topology__workers": 3,
        "viper__placement": {found.id: SPREAD[found.id] for found in builder.build("tested").components},
        "viper__worker__restart__tries": 20,
        "viper__recovery": "exact",
        "topology__acker__executors": 0,
        "viper__slice__tuples": 32,
        "viper__checkpoint__keep": 1000,
        "marks": str(folder / "marks"),
        "written": str(folder / "written"),
        "kills": 4,
        "kill__seed": seed,
        "kill__among": "all",
    }
    return plan_of(builder, **{**chosen, **options})


def rows(folder: Path) -> tuple[list[Any], bytes]:
    """The rows of the table, and what the file of lines holds."""
    with sqlite3.connect(folder / "told.db") as database:
        found = list(database.execute("select * from told order by rowid"))
    database.close()
    return found, (folder / "told.jsonl").read_bytes()
