"""A task's checkpoints have what has changed since the one before, and its parts; each is whole in itself."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework.operators.state import StateSpec
from framework.runtime.durability.checkpoints import Checkpoint, CheckpointFolder, read_checkpoint
from framework.runtime.durability.checkpoints.folder import hidden_folder
from framework.runtime.durability.checkpoints.states import rows_of, states_in
from framework.runtime.durability.state import snapshot
from framework.runtime.durability.state.snapshot import OwnState, Snapshot, Snapshots
from tests.viper.stores import Store

GROUPS = 8
KEYS = 4000
SPEC = StateSpec("seen", "value", "int64", "key", ("q",))


class Task:
    """A task with one state, and the leader of its run."""

    def __init__(self, path: Path, keep: int = 100) -> None:
        self.store = Store("q", size_bytes=1 << 24, groups=GROUPS, tracked=True)
        self.table = self.store.table()
        self.folder = CheckpointFolder(path)
        self.keep = keep
        self.number = 0
        self.expected: dict[int, list[tuple[Any, Any]]] = {}
        """The content that each checkpoint is to hold."""
        self.restart()

    def restart(self) -> None:
        """Another process continues with the task."""
        self.store.die()
        self.table = self.store.table()
        self.snapshots = Snapshots()
        self.is_full = True

    def change(self, *keys: int) -> None:
        for key in keys:
            self.table.set(key, (self.number * 10_000 + key,))
        self.store.writer.commit()

    def begin(self) -> Snapshot:
        self.number += 1
        self.folder.begin(self.number)
        own = OwnState(SPEC, [self.table], "count", 3, None, range(GROUPS))
        hidden = hidden_folder(self.folder.path, self.number)
        self.expected[self.number] = [
            (key, values[0]) for group in range(GROUPS) for key, values in self.rows(group)
        ]
        return self.snapshots.begin(self.number, hidden, [own], full=self.is_full)

    def rows(self, group: int) -> list[tuple[Any, Any]]:
        number, found = 0, []
        while (row := self.table.next(group, number)) is not None:
            number = row[0] + 1
            found.append((row[1], row[2]))
        return found

    def complete(self, begun: Snapshot) -> Checkpoint:
        while not begun.write(0):
            pass
        saved = begun.saved
        states = [asdict(state) for state in saved.states]
        made = self.folder.write(lambda: {"states": states}, (), self.keep, self.number - 1, saved.parts)
        self.is_full = False
        return made

    def checkpoint(self) -> Checkpoint:
        return self.complete(self.begin())


def held(checkpoint: Checkpoint) -> list[tuple[Any, Any]]:
    (state,) = states_in(checkpoint.content["states"])
    found = [*rows_of(checkpoint, state)]
    assert len(found) == state.keys
    return found


def new_bytes(checkpoint: Checkpoint) -> int:
    """Of parts that were written for this checkpoint."""
    own = f"state-{checkpoint.id:06}-"
    return sum(length for name, (length, _) in checkpoint.parts.items() if name.startswith(own))


def test_only_what_has_changed_is_written(tmp_path: Path) -> None:
    task = Task(tmp_path)
    task.change(*range(KEYS))
    first = task.checkpoint()
    task.change(1, 2, 3, KEYS + 1)
    task.table.drop(5)
    second = task.checkpoint()
    third = task.checkpoint()
    assert new_bytes(first) == first.size > 30 * KEYS
    assert 0 < new_bytes(second) < first.size / 100
    assert new_bytes(third) == 0 and third.parts == second.parts
    assert second.parts.keys() - first.parts.keys() == {"state-000002-0003-00-000001.part"}
    for number in task.folder.ids:
        assert held(task.folder.open(number)) == task.expected[number]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(3))
def test_every_checkpoint_is_whole_and_what_is_read_is_bounded(tmp_path: Path, seed: int) -> None:
    """Attempts are given up, processes die, and the table changes while it is written."""
    print(f"seed {seed}")
    chance = Random(seed)
    task = Task(tmp_path / "kept")
    task.change(*range(KEYS))
    whole, most = task.checkpoint().size, 0
    for _ in range(25):
        task.change(*(chance.randrange(KEYS) for _ in range(chance.choice((3, 800)))))
        begun = task.begin()
        for _ in range(chance.randrange(4)):
            task.change(*(chance.randrange(KEYS) for _ in range(300)))
            task.table.drop(chance.randrange(KEYS))
            begun.write(0)
        how = chance.randrange(8)
        if how == 0:
            begun.discard()
        elif how == 1:
            task.restart()
        else:
            most = max(most, task.complete(begun).size)
        if how == 2:  # it was written, and others have prevented the checkpoint
            begun.discard()
            shutil.rmtree(task.folder.latest().path)
    assert whole < most < 2.5 * whole
    for number in task.folder.ids:
        assert held(task.folder.open(number)) == task.expected[number], number
    last = task.folder.latest()
    shutil.copytree(last.path, tmp_path / "copied")
    shutil.rmtree(tmp_path / "kept")
    assert held(read_checkpoint(tmp_path / "copied")) == task.expected[last.id]


def test_where_the_checkpoint_before_is_gone_all_is_written(tmp_path: Path) -> None:
    task = Task(tmp_path)
    task.change(*range(100))
    shutil.rmtree(task.checkpoint().path)
    task.change(1)
    assert held(task.checkpoint()) == task.expected[2]


def test_old_checkpoints_go_and_their_parts_stay(tmp_path: Path) -> None:
    task = Task(tmp_path, keep=1)
    task.change(*range(1000))
    for number in range(12):
        task.change(*range(number, 300, 7))
        last = task.checkpoint()
        assert task.folder.ids == [last.id]
        assert held(last) == task.expected[last.id]


def test_chains_of_parts_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MOST_CHANGES", 5)
    task = Task(tmp_path, keep=1)
    task.change(*range(1000))
    lengths = []
    for number in range(14):
        task.change(number)
        last = task.checkpoint()
        lengths.append(len(last.parts))
        assert held(last) == task.expected[last.id]
    assert lengths == [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2]


def test_parts_of_states_of_which_one_is_written_anew(tmp_path: Path) -> None:
    """Each state has its own chain of parts, and each table of it its own marks."""
    store = Store("q", "q", size_bytes=1 << 24, groups=GROUPS, tracked=True)
    tables = [store.table(0), store.table(1)]
    owned = [
        OwnState(StateSpec(name, "value", "int64", "key", ("q",)), [table], "count", 3, None, range(GROUPS))
        for name, table in zip(("often", "seldom"), tables, strict=True)
    ]
    snapshots, chains = Snapshots(), []
    for number in range(1, 8):
        for key in range(3000):
            tables[0].set(key, (number,))
        tables[1].set(number, (number,))
        store.writer.commit()
        (tmp_path / f"checkpoint-{number:06}").mkdir()
        begun = snapshots.begin(number, tmp_path / f"checkpoint-{number:06}", owned, full=number == 1)
        while not begun.write(0):
            pass
        chains.append([len(state.parts) for state in begun.saved.states])
    assert [seldom for _, seldom in chains] == [1, 2, 3, 4, 5, 6, 7]
    assert max(often for often, _ in chains) <= 2
