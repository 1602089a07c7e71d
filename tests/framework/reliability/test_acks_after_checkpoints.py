"""With checkpoints a message is acked when one is on disk that covers it, so a broker may forget it then.

All processes of a run are killed at some moment, again and again, and another run resumes from the last
checkpoint. In the end the file of the run's sink has every message.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import SeekableSpout, Spout, TopologyBuilder
from framework.model.errors import CheckpointError, ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.reliability.brokers import FromBroker, Remember, acked
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL, suspending
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, every_kind
from tests.portions import at_every_change

COUNT = 400
REPOSITORY = Path(__file__).parents[3]
PROGRAM = """
    import os
    import random
    import signal
    import sys
    import time
    from pathlib import Path

    import framework
    from framework.runtime.durability.checkpoints.folder import SystemFiles
    from framework.runtime.leading.checkpointing import Checkpointing
    from framework.runtime.coordination.cut_record import CutRecord
    from framework.operators.sinks import JsonLinesSink
    from tests.framework.reliability.brokers import FromBroker, Remember, acked

    folder, worker, workers, seed, plant = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
    points = random.Random(seed).randrange(1, 80) if seed else 0
    covered, parent = set(), os.getppid()


    def passed():
        global points
        points -= 1
        if points == 0:
            os.killpg(0, signal.SIGKILL)


    def watched(owner, name):
        method = getattr(owner, name)

        def call(*args, **options):
            passed()
            try:
                return method(*args, **options)
            finally:
                passed()

        setattr(owner, name, call)


    class Noted(FromBroker):
        def offset(self):
            # The messages that a cut does not cover, as they come behind it, a line a cut.
            emitted, given = super().offset()
            with Path(self._folder, "offsets").open("a") as file:
                print(*given, file=file)
            return emitted, given


    def early_number():
        file = folder / "early"
        return int(file.read_text()) if file.exists() else sys.maxsize


    class Rows(JsonLinesSink):
        def apply(self, part, number, rows):
            # The processes are killed before this sink applies the checkpoint that is not on disk.
            if number < early_number():
                super().apply(part, number, rows)


    def early(self, reports):
        # The checkpoint is told to exist before its manifest is renamed; all processes are killed when a
        # message is acked that no checkpoint on disk covers.
        global covered
        left = {int(line) for line in (folder / "offsets").read_text().splitlines()[-1].split()}
        before, covered = covered, set(range(COUNT)) - left
        if self._number < 3 or covered == before:
            return written(self, reports)
        (folder / "early.part").write_text(str(self._number))
        (folder / "early.part").rename(folder / "early")
        self._record.complete(self._number)
        while before.issuperset(acked(folder)) and os.getppid() == parent:
            self._leader.wake()
            time.sleep(0.001)
        os.killpg(0, signal.SIGKILL)


    if __name__ == "__main__":
        for name in ("rename", "sync_folder", "write"):
            watched(SystemFiles, name)
        watched(CutRecord, "complete")
        if plant:
            written, Checkpointing._written_from = Checkpointing._written_from, early
        builder = framework.TopologyBuilder()
        builder.set_spout("source", Noted, kwargs={"folder": str(folder), "count": COUNT, "window": 40})
        builder.set_bolt("remember", Remember, 2).fields_grouping("source", "message")
        builder.set_bolt("sink", Rows(str(folder / "rows"))).global_grouping("remember")
        kept = folder / "checkpoints"
        start = kept if any(kept.glob("checkpoint-*")) else None
        conf = {"viper.checkpoint.secs": 0.02, "topology.max.spout.pending": 20, "viper.slice.tuples": 8}
        options = {"worker": worker, "workers": workers, "conf": conf}
        framework.run(builder.build("tested"), start=start, checkpoints=kept, **options)
"""


def run(folder: Path, workers: Workers, seed: int = 0, *, plant: bool = False) -> bool:
    """One run, which may be killed; whether it has come to its end."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(PROGRAM).replace("COUNT", str(COUNT)), encoding="utf-8")
    arguments = [folder, workers.kind, workers.number, seed, int(plant)]
    command = [sys.executable, str(program), *map(str, arguments)]
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        command, env=environ, stderr=subprocess.PIPE, text=True, start_new_session=True, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


def written(folder: Path) -> list[int]:
    """The messages that the sink has written, in order."""
    return [json.loads(line)["message"] for line in (folder / "rows").read_text().splitlines()]


KILLED = [(workers, seed) for seed in (1, 2, 3, 4) for workers in (PROCESSES, THREADS, INLINE)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("workers", "seed"), at_every_change(KILLED, 2), ids=str)
def test_nothing_is_lost(tmp_path: Path, workers: Workers, seed: int) -> None:
    assert not run(tmp_path, workers, seed)
    assert run(tmp_path, workers)
    assert CheckpointFolder(tmp_path / "checkpoints").ids
    assert set(acked(tmp_path)) == set(range(COUNT))
    assert set(written(tmp_path)) == set(range(COUNT))


def test_acks_before_the_manifest_is_renamed_show(tmp_path: Path) -> None:
    """The check above can fail."""
    assert not run(tmp_path, PROCESSES, plant=True)
    (tmp_path / "early").unlink()
    assert run(tmp_path, INLINE)
    assert set(acked(tmp_path)) == set(range(COUNT))
    assert set(written(tmp_path)) < set(range(COUNT))


class Generated(FromBroker):
    """As `FromBroker`; ends after the last message, and hears the acks later."""

    next_tuple = SeekableSpout.next_tuple

    def tuples(self) -> Iterator[None]:
        while self._given:
            FromBroker.next_tuple(self)
            yield None


class Suspended(FromBroker):
    """As `FromBroker`; has the run suspended when it has emitted 30 messages."""

    def next_tuple(self) -> None:
        if len(self._emitted) < 30:
            super().next_tuple()
        else:
            os.kill(os.getpid(), SIGNAL)


class Broken(Generated):
    """As `Generated`; raises when it has heard of all its tuples."""

    def tuples(self) -> Iterator[None]:
        yield from super().tuples()
        for _ in range(100):
            yield None
        raise ValueError("broken")


class TestOneRun:
    """The answers that a spout hears, and when, in a run that nobody kills."""

    def prepared(self, folder: Path, source: type[Spout], count: int, **options: Any) -> Run:
        builder = TopologyBuilder()
        builder.set_spout("source", source, kwargs={"folder": str(folder), "count": count})
        builder.set_bolt("remember", Remember).fields_grouping("source", "message")
        builder.set_bolt("sink", CollectingSink).global_grouping("remember")
        return Run(*plan_of(builder, **options), RunOptions(checkpoints=folder / "checkpoints"))

    @every_kind
    def test_acks_that_wait_are_given_at_the_end(self, tmp_path: Path, workers: Workers) -> None:
        self.prepared(tmp_path, Generated, 50, **workers.options).execute()
        assert sorted(acked(tmp_path)) == list(range(50))
        assert not CheckpointFolder(tmp_path / "checkpoints").ids

    def test_no_ack_is_given_after_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ComponentError, match="broken"):
            self.prepared(tmp_path, Broken, 50).execute()
        assert not acked(tmp_path)

    def test_acks_behind_a_commit_wait_for_nothing_else(self, tmp_path: Path) -> None:
        with pytest.raises(ComponentError, match="broken"):
            self.prepared(tmp_path, Broken, 50, viper__ack__after="commit").execute()
        assert acked(tmp_path)

    def test_many_that_wait_bring_a_checkpoint_about(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Nobody else makes one, and there is room for no more than these."""
        self.prepared(tmp_path, Generated, 60, viper__tracked__max=20).execute()
        assert sorted(acked(tmp_path)) == list(range(60))
        assert CheckpointFolder(tmp_path / "checkpoints").ids
        assert "acks of 'source' wait for checkpoints" in caplog.text

    def test_a_suspended_run_acks_what_its_checkpoint_has(self, tmp_path: Path) -> None:
        run = self.prepared(tmp_path, Suspended, 60)
        with suspending(run) as refused:
            report = run.execute()
        assert not refused and report.reason is StopReason.SUSPENDED
        processed = [message for message, _ in report.result("sink")]
        assert len(processed) >= 30 and sorted(acked(tmp_path)) == processed

    def test_a_run_without_checkpoints_is_refused(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("source", FromBroker, kwargs={"folder": "", "count": 1})
        builder.set_bolt("remember", Remember).fields_grouping("source", "message")
        with pytest.raises(CheckpointError, match="acks of 'source' wait for checkpoints"):
            Run(*plan_of(builder, viper__ack__after="checkpoint"))
