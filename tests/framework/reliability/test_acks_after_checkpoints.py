"""With checkpoints a message is acked when one is on disk that covers it, so a broker may forget it then.

All processes of a run are killed at some moment, again and again, and another run goes on from the last
checkpoint. In the end the file of the run's sink has every message.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from framework.checkpoints import CheckpointFolder
from tests.framework.reliability.brokers import acked
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
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
    from framework.checkpoints.files import SystemFiles
    from framework.runtime.checkpointing import Checkpointing
    from framework.runtime.control.alignment import Alignment
    from framework.sinks import JsonLinesSink
    from tests.framework.reliability.brokers import FromBroker, Remember

    folder, worker, workers, seed, plant = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
    points = random.Random(seed).randrange(1, 80) if seed else 0


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


    def early(self, reports):
        # The checkpoint is told to exist before its manifest is renamed; then all processes are killed.
        if self._number < 3:
            return written(self, reports)
        began_s, acked = time.monotonic(), folder / "acked"
        before = acked.stat().st_size
        self._alignment.complete(self._number)
        while acked.stat().st_size == before and time.monotonic() < began_s + 5:
            self._wake()
        os.killpg(0, signal.SIGKILL)


    if __name__ == "__main__":
        for name in ("rename", "sync_folder", "write"):
            watched(SystemFiles, name)
        watched(Alignment, "complete")
        if plant:
            written, Checkpointing._written_from = Checkpointing._written_from, early
        builder = framework.TopologyBuilder()
        builder.set_spout("source", FromBroker, kwargs={"folder": str(folder), "count": COUNT, "window": 40})
        builder.set_bolt("remember", Remember, 2).fields_grouping("source", "message")
        builder.set_bolt("sink", JsonLinesSink(str(folder / "rows"))).global_grouping("remember")
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
    assert run(tmp_path, INLINE)
    assert set(acked(tmp_path)) == set(range(COUNT))
    assert set(written(tmp_path)) < set(range(COUNT))
