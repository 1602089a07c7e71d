"""A word count that loses nothing, whatever is killed on its way."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from framework.runtime import Run, StopReason
from tests.framework.reliability.lines import WORDS_PER_LINE, Numbers, pids, text_lines, word_count
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.background import Background
from tests.framework.runtime.workers.running import PROCESSES
from tests.portions import at_every_change


class Killer(Background):
    """Kills the worker of a component whenever so many more lines have been acked."""

    def __init__(self, draw: random.Random, marks: Path, lines: int, kills: int) -> None:
        super().__init__()
        self.killed: list[tuple[int, str]] = []
        """The number of lines acked at that time, and whose worker it was, by component and task."""
        self._moments = sorted(draw.sample(range(1, lines * 9 // 10), kills))
        self._draw = draw
        self._marks = marks
        self._dead: set[int] = set()

    def work(self) -> None:
        for moment in self._moments:
            while self._acked() < moment:
                if self._over.wait(0.001):
                    return
            task = self._draw.choice(sorted(pids(self._marks)))
            while not self._kill(task):  # its successor has not been initialized yet
                if self._over.wait(0.001):
                    return
            self.killed.append((moment, task))

    def _acked(self) -> int:
        acked = self._marks / "acked"
        return acked.stat().st_size // 4 if acked.exists() else 0

    def _kill(self, task: str) -> bool:
        pid = pids(self._marks)[task]
        if pid in self._dead:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self._dead.add(pid)
        return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "lines", "kills"), at_every_change([(1, 20_000, 5), (2, 200_000, 20)]), ids=str
)
def test_every_word_arrives_and_every_id_is_acked_once(
    seed: int, lines: int, kills: int, tmp_path: Path
) -> None:
    marks = tmp_path
    options = {
        **PROCESSES.options,
        "marks": str(marks),
        "lines": lines,
        "topology__max__spout__pending": 5_000,
        "viper__worker__restart__tries": 10 * kills,
        "viper__worker__restart__window__secs": 600,
    }
    run = Run(*plan_of(word_count(), **options))
    with Killer(random.Random(seed), marks, lines, kills) as killer:
        report = run.execute()
    print(f"seed {seed}: {killer.killed}")
    assert len(killer.killed) == kills
    assert (report.reason, report.drained) == (StopReason.EXHAUSTED, True)
    assert all(incident.how.startswith("was killed by SIGKILL") for incident in report.incidents)
    check_acks(Numbers.read(marks / "acked"), lines)
    check_words(Numbers.read(marks / "arrived"), lines)
    assert report.lost == 0
    counted = report.components["lines"]
    # What was in flight when the spout's own worker was killed is all that it did not hear of.
    died = any(task.startswith("lines:") for incident in report.incidents for task in incident.tasks)
    assert died or counted.unanswered == 0


def check_acks(acked: Sequence[int], lines: int) -> None:
    assert sorted(acked) == list(range(lines))  # each line, and none twice


def check_words(arrived: Sequence[int], lines: int) -> None:
    text = [len(line.split()) for line in text_lines()]
    expected = {n * WORDS_PER_LINE + w for n in range(lines) for w in range(text[n % len(text)])}
    assert set(arrived) == expected
