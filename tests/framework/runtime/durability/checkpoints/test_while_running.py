"""Checkpoints are made while a run continues; whatever ends it, another run resumes from the last one."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest

from framework import TopologyBuilder
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions, RunReport
from framework.runtime.coordination.cut_leader import CutLeader, Margin
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from framework.runtime.durability.checkpoints.manifest import Manifest
from framework.runtime.tasks.bolt_cut import BoltCut
from tests.framework.runtime.durability.checkpoints import test_states, test_with_sinks
from tests.framework.runtime.durability.checkpoints.suspended import Awaiting, Suspending, built, suspending
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import at_every_change
from viper.position import LEAST

COUNT = 600
KEEP = {"viper__checkpoint__keep": 1000}
REPOSITORY = Path(__file__).parents[5]


def run_with_checkpoints(
    builder: object,
    folder: Path,
    workers: Workers = INLINE,
    *,
    margin_s: float = 0.001,
    **options: object,
) -> RunReport:
    """Run what was built to its end, with a checkpoint whenever the spout asks for one; `margin_s` as of
    `suspending`."""
    run = Run(*plan_of(builder, **{**workers.options, **KEEP, **options}), RunOptions(checkpoints=folder))
    with suspending(run, goes_on=True, margin_s=margin_s) as refused:
        report = run.execute()
    assert report.reason is StopReason.EXHAUSTED
    assert all(re.search("has come to its end|has begun its end", str(error)) for error in refused), refused
    return report


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(20), 2))
def test_the_output_is_the_same_and_every_checkpoint_can_be_gone_on_from(tmp_path: Path, seed: int) -> None:
    whole = test_states.expected(seed)
    sources, bolts = 1 + seed % 3, 1 + seed % 4
    spout = Awaiting(4, COUNT, seed, os.getpid(), 20 + seed, 90)
    report = run_with_checkpoints(test_states.built(spout, sources, bolts), tmp_path)
    assert report.result("sink") == whole
    ids = CheckpointFolder(tmp_path).ids
    assert ids
    for number in ids:
        builder = test_states.built(Partitions(4, COUNT, seed), 1 + number % 3, 1 + number % 5)
        again = run_built(builder, {"start": tmp_path / f"checkpoint-{number:06}"}).result("sink")
        assert 0 < len(again) < len(whole) and again == whole[-len(again) :], number


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(20), 2))
def test_sources_that_wait_for_room_hold_nobody_up(tmp_path: Path, seed: int) -> None:
    """Room comes of what the others bring, and they wait for the word of each source how far it is."""
    tiny = {"viper__jumbo__size": 1, "viper__channel__jumbos": 2, "viper__channel__tuples": 2}
    whole = test_states.expected(seed)
    spout = Awaiting(4, COUNT, seed, os.getpid(), 20 + seed, 90)
    builder = test_states.built(spout, 3, 2)
    report = run_with_checkpoints(builder, tmp_path, viper__checkpoint__timeout__secs=5, **tiny)
    assert report.result("sink") == whole
    assert CheckpointFolder(tmp_path).ids


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(20), 2))
def test_ticks_and_routing(tmp_path: Path, seed: int) -> None:
    whole = run_built(built(Partitions(4, COUNT, seed), 2, 3)).results
    spout = Awaiting(4, COUNT, seed, os.getpid(), 20 + seed, 90)
    assert run_with_checkpoints(built(spout, 2, 3), tmp_path).results == whole
    for number in CheckpointFolder(tmp_path).ids:
        start = {"start": tmp_path / f"checkpoint-{number:06}"}
        again = run_built(built(Partitions(4, COUNT, seed), 2, 3), start).results
        for sink in ("sink", "tasks"):
            for rows, all_rows in zip(again[sink], whole[sink], strict=True):
                assert rows == all_rows[len(all_rows) - len(rows) :], (number, sink)


class Gated(Suspending):
    """Brings its second half when the file exists."""

    def __init__(self, leader: int, gate: Path) -> None:
        super().__init__(4, COUNT, 1, leader, COUNT // 4, COUNT)
        self._gate = gate

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            while block and block.rows and block.rows[-1][1] > COUNT // 2 and not self._gate.exists():
                yield None
            yield block


def test_all_input_may_end_before_the_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tick is due between its end and the cut: the output is that of a run without checkpoints."""
    times_us, give_up, decide, save = CutLeader._times_us, CutLeader.give_up, CutRecord.decide, BoltCut.passes
    gate, is_saved = tmp_path / "gate", Event()
    (clock,) = plan_of(built(Partitions(4, COUNT, 1), 2, 3))[0].tasks_of("clock")

    def far_ahead(self: CutLeader, margin: Margin) -> dict[Sequence[int], int]:
        return {part: time_us + 1_000_000 for part, time_us in times_us(self, margin).items()}

    def decide_and_tell(self: CutRecord) -> None:
        decide(self)
        gate.touch()

    def save_and_tell(self: BoltCut) -> bool:
        goes_on = save(self)
        if self._task == clock.id:
            is_saved.set()
        return goes_on

    def give_up_late(self: CutLeader) -> None:
        assert is_saved.wait(60)  # else it is chance whether bolts see what was decided
        give_up(self)

    monkeypatch.setattr(CutLeader, "_times_us", far_ahead)
    monkeypatch.setattr(CutLeader, "give_up", give_up_late)
    monkeypatch.setattr(CutRecord, "decide", decide_and_tell)
    monkeypatch.setattr(BoltCut, "passes", save_and_tell)
    whole = run_built(built(Partitions(4, COUNT, 1), 2, 3)).results
    report = run_with_checkpoints(built(Gated(os.getpid(), gate), 2, 3), tmp_path / "folder")
    assert is_saved.is_set() and report.results == whole


@pytest.mark.few(1)
@every_kind
def test_on_every_kind_of_worker(tmp_path: Path, workers: Workers) -> None:
    whole = test_states.expected(3, 2000)
    spout = Awaiting(4, 2000, 3, os.getpid(), 200, 300)
    report = run_with_checkpoints(test_states.built(spout, 2, 3), tmp_path, workers)
    assert report.result("sink") == whole
    number = CheckpointFolder(tmp_path).ids[0]
    again = workers.run(
        test_states.built(Partitions(4, 2000, 3), 3, 2), {"start": tmp_path / f"checkpoint-{number:06}"}
    ).result("sink")
    assert 0 < len(again) < len(whole) and again == whole[-len(again) :]


def test_a_bolt_that_does_not_wait_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above can fail: here bolts are saved before all has come to them."""

    whole = test_states.expected(1)
    monkeypatch.setattr(BoltCut, "is_due_before", lambda self, position: self._place is not None)
    monkeypatch.setattr(BoltCut, "promised", lambda self, reached: LEAST)  # else it fails at once
    spout = Awaiting(4, COUNT, 1, os.getpid(), 20, 90)
    slow = {"viper__slice__tuples": 1, "viper__scheduling": "random", "viper__seed": 3}
    run_with_checkpoints(test_states.built(spout, 2, 3), tmp_path, **slow)
    wrong = 0
    for number in CheckpointFolder(tmp_path).ids:
        start = {"start": tmp_path / f"checkpoint-{number:06}"}
        again = run_built(test_states.built(Partitions(4, COUNT, 1), 1, 1), start).result("sink")
        wrong += again != whole[len(whole) - len(again) :]
    assert wrong


class Halting(Suspending):
    """Its partition 0 brings nothing after row 10, unless the file exists."""

    def __init__(self, count: int, seed: int, leader: int, at: int, gate: str) -> None:
        super().__init__(4, count, seed, leader, at, count)
        self._gate = gate

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            while partition == 0 and block and len(block.rows) and block.rows[0][1] > 10:
                if os.path.exists(self._gate):
                    break
                yield None
            yield block


def test_a_source_that_stands_still_before_the_cut_is_named(tmp_path: Path) -> None:
    """And the run continues; the hidden folder of what was given up is removed with the next checkpoint."""
    whole = run_built(built(Suspending(4, COUNT, 2), 1, 1)).result("sink")
    gate = tmp_path / "gate"
    builder = built(Halting(COUNT, 2, os.getpid(), 100, str(gate)), 2, 1)
    run = Run(
        *plan_of(builder, viper__checkpoint__timeout__secs=0.3), RunOptions(checkpoints=tmp_path / "folder")
    )
    with suspending(run, goes_on=True) as refused:
        opener = Thread(target=_open_when_refused, args=(refused, gate))
        opener.start()
        report = run.execute()
        tmp_path.joinpath("over").touch()
        opener.join()
    assert report.result("sink") == whole
    assert "no checkpoint: source:" in str(refused[0]) and "the run goes on" in str(refused[0])
    folder = CheckpointFolder(tmp_path / "folder")
    folder.begin(7)
    assert [path.name for path in folder.path.glob(".checkpoint-*")] == [".checkpoint-000007.partial"]


def _open_when_refused(refused: list[object], gate: Path) -> None:
    while not refused and not gate.parent.joinpath("over").exists():
        pass
    gate.touch()


class Idle(Partitions):
    """Has its rows, and then nothing for now."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        rows = [] if start_us is not None else list(range(3))
        yield Block(array("q", rows), [("idle", row, 0) for row in rows])
        while True:
            yield None


@every_kind
def test_a_source_that_stands_still_and_meets_no_other_has_checkpoints(
    tmp_path: Path, workers: Workers
) -> None:
    """All that it has brought belongs to them; it need not come to the time that was proposed."""
    builder = TopologyBuilder()
    builder.set_spout("source", Idle(1))
    builder.set_bolt("rows", CollectingSink).global_grouping("source")
    run = Run(*plan_of(builder, **workers.options), RunOptions(checkpoints=tmp_path))
    made = []

    def take() -> None:
        while not _has_rows(run):
            pass
        made.extend(run.checkpoint() for _ in range(3))
        run.suspend()

    thread = Thread(target=take)
    thread.start()
    report = run.execute()
    thread.join()
    assert [written.id for written in made] == [1, 2, 3] and report.checkpoints == 4
    assert len(report.result("rows")) == 3
    manifest = Manifest.read(CheckpointFolder(tmp_path).open(3).content)
    assert manifest.places("source") == {0: (2, 1)} and manifest.times_us == {"source": 2}


def _has_rows(run: Run) -> bool:
    workers = run._workers
    return workers is not None and any(
        counted.emitted == 3 for counters in workers.counters() for counted in counters.values()
    )


def test_sinks_apply_with_each_checkpoint(tmp_path: Path) -> None:
    run_built(
        test_with_sinks.built(Partitions(4, COUNT, 1), tmp_path / "whole"), {"checkpoints": tmp_path / "w"}
    )
    spout = Suspending(4, COUNT, 1, os.getpid(), 50, 90)
    run_with_checkpoints(test_with_sinks.built(spout, tmp_path / "out"), tmp_path / "checkpoints")
    assert test_with_sinks.written(tmp_path / "out") == test_with_sinks.written(tmp_path / "whole")


# -- the whole group is killed

PROGRAM = """
    import sys
    from pathlib import Path

    import framework
    from tests.framework.runtime.durability.checkpoints import test_with_sinks
    from tests.framework.runtime.partitioned import Partitions

    if __name__ == "__main__":
        folder, count, workers = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
        builder = test_with_sinks.built(Partitions(4, count, 1), folder / "out", 2, 3)
        kept = folder / "checkpoints"
        start = kept if any(kept.glob("checkpoint-*")) else None
        conf = {"viper.checkpoint.secs": 0.02, "viper.slice.tuples": 16}
        options = {"worker": "process", "workers": workers, "conf": conf}
        framework.run(builder.build("tested"), start=start, checkpoints=kept, **options)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "most"), at_every_change([(0, 2), (1, 7), (2, 7), (3, 6)]))
def test_killed_as_a_whole(tmp_path: Path, seed: int, most: int) -> None:
    """Its sinks have the rows of an undisturbed run in the end, each once and in order."""
    chance, count = Random(seed), 1500 * most
    run_built(
        test_with_sinks.built(Partitions(4, count, 1), tmp_path / "whole", 1, 1),
        {"checkpoints": tmp_path / "none"},
    )
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    kills = 0
    while True:
        command = [sys.executable, str(program), str(tmp_path), str(count), str(1 + seed % 2)]
        environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        running = subprocess.Popen(
            command, env=environ, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        with running:
            try:
                _, told = running.communicate(timeout=None if kills == most else 1.0 + chance.random() * 0.5)
                assert running.returncode == 0, told
                break
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                kills += 1
    assert kills and len(CheckpointFolder(tmp_path / "checkpoints").ids) > 1
    assert test_with_sinks.written(tmp_path / "out") == test_with_sinks.written(tmp_path / "whole")
    with sqlite3.connect(tmp_path / "out" / "told.db") as database:
        assert database.execute("select count(*) from told").fetchone() == (4 * count,)
    database.close()
