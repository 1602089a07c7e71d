"""Drawn topologies with checkpoints anywhere: the output is the same, and each holds just what lies before.

What a checkpoint holds is seen by what a run brings that resumes from it, with another parallelism: exactly
the rest of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from framework.model.errors import ComponentError
from framework.runtime.coordination.cut_leader import CutLeader, Margin
from framework.runtime.coordination.cut_record import CutRecord, CutState
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.durability.checkpoints import CheckpointFolder
from framework.runtime.tasks import bolt_cut
from framework.runtime.tasks.bolt_cut import BoltCut
from tests.framework.runtime.durability.checkpoints.drawn import OPTIONS, drawn, leader
from tests.framework.runtime.durability.checkpoints.test_while_running import run_with_checkpoints
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, THREADS, Workers
from tests.portions import at_every_change
from viper.partitions import NO_LIMIT
from viper.position import Position

SEEDS = 60


def differences(seed: int, folder: Path, workers: Workers = INLINE) -> list[str]:
    """List what is wrong with a run that has checkpoints, and with those."""
    chance = Random(seed)
    whole = run_built(drawn(seed, Random(0))).result("sink")
    options = {**OPTIONS[seed % len(OPTIONS)], "viper__poll__pause__max__ms": 1}
    report = run_with_checkpoints(drawn(seed, chance, leader()), folder, workers, **options)
    rows = report.result("sink")
    wrong = [] if rows == whole else [f"the output: {first_difference(rows, whole)}"]
    for number in chance.sample(ids := CheckpointFolder(folder).ids, min(len(ids), 2)):
        start = {"start": folder / f"checkpoint-{number:06}"}
        again = run_built(drawn(seed, chance), start).result("sink")
        if again != whole[len(whole) - len(again) :]:
            wrong.append(f"checkpoint {number}: {first_difference(again[::-1], whole[::-1])} from the end")
    return wrong


def first_difference(rows: Sequence[Any], expected: Sequence[Any]) -> str:
    """Describe the first row that is another one, or missing."""
    pairs = enumerate(zip_longest(rows, expected))
    return next(f"row {n} is {row}, not {other}" for n, (row, other) in pairs if row != other)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(SEEDS), 3))
def test_nothing_differs(tmp_path: Path, seed: int) -> None:
    assert differences(seed, tmp_path) == []


@pytest.mark.parametrize("seed", at_every_change(range(100, 100 + SEEDS), 1))
def test_nothing_differs_where_threads_share_the_work(tmp_path: Path, seed: int) -> None:
    assert differences(seed, tmp_path, THREADS) == []


def behind(times: Callable[..., Any]) -> Callable[..., Any]:
    """Two proposals of three lie after what sources have brought."""
    count = 0

    def proposed(self: CutLeader, margin: Margin) -> dict[Sequence[int], int]:
        nonlocal count
        count += 1
        found = times(self, margin)
        return {part: time_us - (10 if count % 3 else 0) for part, time_us in found.items()}

    return proposed


@pytest.mark.parametrize("seed", at_every_change(range(200, 200 + SEEDS)))
def test_void_proposals_bind_nobody(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    voids = []
    make_void = CutRecord.make_void
    monkeypatch.setattr(CutRecord, "make_void", lambda self: (voids.append(self.state), make_void(self)))
    monkeypatch.setattr(CutLeader, "_times_us", behind(CutLeader._times_us))
    assert differences(seed, tmp_path) == []
    assert CutState.PROPOSED in voids


# -- what each check must catch

look = BoltCut.look


def look_behind_the_input(self: BoltCut, frontier: Position) -> bool:
    """As `BoltCut.has_come_to`, which hears a call late what was decided; and that is the only look."""
    is_due = self.is_due_before(frontier)
    look(self)
    return is_due


def go_beyond_before_the_decision(self: SourceCut) -> int:
    is_decided = self._proposal.state is CutState.DECIDED
    return self._proposal.until_us if self._is_bound and is_decided else NO_LIMIT


def too_late(self: BoltCut, position: Position) -> bool:
    return self._place is not None and position.ts > self._place.ts


class Plant(NamedTuple):
    """A bug, and what catches it."""

    first: int
    """The seed that is tried first, as it has caught it."""
    patches: Sequence[tuple[object, str, object]]
    workers: Workers = INLINE


PLANTS = {
    "a source passes an undecided time": Plant(
        5, [(SourceCut, "until_us", property(go_beyond_before_the_decision))]
    ),
    "a bolt splits its slice too late": Plant(0, [(BoltCut, "is_due_before", too_late)]),
    "a tick behind the cut is due before": Plant(0, [(bolt_cut, "last_us_before", lambda place: place.ts)]),
    # A matter of luck: one seed of three catches it where threads share the work, and one of ten elsewhere.
    "a decision is heard too late": Plant(
        0,
        [(BoltCut, "has_come_to", look_behind_the_input), (BoltCut, "look", lambda self: None)],
        THREADS,
    ),
}


def is_caught(seed: int, folder: Path, workers: Workers) -> bool:
    """True if anything is wrong with a run, or with what resumes from it, which may not even be possible."""
    try:
        return bool(differences(seed, folder, workers))
    except (AssertionError, ComponentError):
        return True


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_bug_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: str) -> None:
    first, patches, workers = PLANTS[plant]
    for patch in patches:
        monkeypatch.setattr(*patch)
    for number, seed in enumerate([first, *range(SEEDS)]):
        if is_caught(seed, tmp_path / str(number), workers):
            return
    pytest.fail("it changes nothing")
