"""A checkpoint is there as a whole or not at all, and lasts once it was written, whenever the power goes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from framework.checkpoints import CheckpointFolder, found_at, is_locked, locked, read_checkpoint
from framework.checkpoints.folder import MANIFEST
from framework.errors import CheckpointError
from tests.framework.checkpoints.disk import Disk, Folder, PowerLossError, after_power_loss

PLACE = Path("checkpoints")
KEPT = 2
WRITTEN = 4


def content_of(number: int) -> dict[str, object]:
    return {"topology": "tested", "number": number}


def parts_of(number: int) -> list[tuple[str, bytes]]:
    return [("first.part", bytes([number]) * 40), ("second.part", b"%d" % number)]


def write_all(disk: Disk, done: list[int]) -> None:
    """Write some checkpoints, so that old ones are removed; `done` gets the ids of those that are written."""
    folder = CheckpointFolder(PLACE, disk)
    folder.prepare()
    for number in range(1, WRITTEN + 1):
        done.append(folder.write(partial(content_of, number), parts_of(number), KEPT).id)


def check(root: Folder, done: list[int]) -> None:
    """What a folder holds after the power was lost is whole, and nothing that was written is missing."""
    disk = Disk(root)
    try:
        ids = CheckpointFolder(PLACE, disk).ids
    except FileNotFoundError:
        ids = []
    for number in ids:
        checkpoint = CheckpointFolder(PLACE, disk).open(number)
        assert (checkpoint.id, checkpoint.content) == (number, content_of(number))
        assert [(name, checkpoint.part(name)) for name in checkpoint.parts] == parts_of(number)
    last = max(done, default=0)
    assert max(ids, default=0) in (last, last + 1)
    folder = CheckpointFolder(PLACE, disk)
    folder.prepare()
    assert folder.write(lambda: content_of(9), parts_of(9), KEPT).id == max(ids, default=0) + 1
    assert set(disk.names(PLACE)) == {f"checkpoint-{number:06}" for number in folder.ids}


def losses(forgets: int | None = None) -> Iterator[tuple[Folder, list[int]]]:
    """All that may be found on the disk, whichever step the power has gone before."""
    chance = random.Random(13)
    counting = Disk(Folder())
    counting.root.change({PLACE.name: Folder()})
    counting.root.sync()
    write_all(counting, [])
    for step in range(counting.steps + 1):
        root, done = Folder(), []
        root.change({PLACE.name: Folder()})
        root.sync()
        with suppress(PowerLossError):
            write_all(Disk(root, step, forgets), done)
        for survivor in after_power_loss(root, chance):
            yield survivor, done


def test_power_lost_at_every_step() -> None:
    count = 0
    for survivor, done in losses():
        check(survivor, done)
        count += 1
    assert count > 500


@pytest.mark.parametrize("forgotten", range(5))
def test_every_fsync_is_needed(forgotten: int) -> None:
    """Of the first checkpoint: of its parts, its manifest, its own folder, and the folder above it."""
    with pytest.raises((AssertionError, CheckpointError)):
        for survivor, done in losses(forgotten):
            check(survivor, done)


# -- on a real file system


def test_the_last_ones_are_kept(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "new" / "checkpoints")
    folder.prepare()
    for number in range(1, 5):
        assert folder.write(partial(content_of, number), parts_of(number), 3).id == number
    assert folder.ids == [2, 3, 4]
    assert folder.latest().content == content_of(4)
    assert folder.write(lambda: content_of(5), [], 3, above=20).id == 21


def test_a_checkpoint_is_found_by_its_own_path_or_by_its_folder(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    first, second = (folder.write(partial(content_of, n), parts_of(n), 9) for n in (1, 2))
    assert found_at(tmp_path).id == second.id
    assert found_at(first.path).id == first.id
    with pytest.raises(CheckpointError, match="there is no checkpoint in"):
        found_at(tmp_path / "elsewhere")


def test_what_was_changed_is_refused(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    path = folder.write(lambda: content_of(1), parts_of(1), 1).path
    (path / "second.part").write_bytes(b"2")
    assert read_checkpoint(path).part("first.part") == bytes([1]) * 40
    with pytest.raises(CheckpointError, match=r"second.part is damaged: found 1 bytes .* expected 1"):
        read_checkpoint(path).part("second.part")
    manifest = path / MANIFEST
    whole = manifest.read_bytes()
    manifest.write_bytes(whole.replace(b"tested", b"tasted"))
    with pytest.raises(CheckpointError, match="is damaged: its checksum does not fit"):
        read_checkpoint(path)
    manifest.write_bytes(whole.replace(b"checkpoint 1 ", b"checkpoint 2 ", 1))
    with pytest.raises(CheckpointError, match=r"has version 2 of the format: expected 1"):
        read_checkpoint(path)
    manifest.write_bytes(b"{}")
    with pytest.raises(CheckpointError, match="is no manifest of a checkpoint"):
        read_checkpoint(path)
    manifest.unlink()
    with pytest.raises(CheckpointError, match=r"cannot read .*manifest.json: No such file"):
        read_checkpoint(path)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "elsewhere")
    with locked(tmp_path):
        assert is_locked(tmp_path)
        with (
            pytest.raises(CheckpointError, match=r"belongs to a run that is going on \(process \d+ on "),
            locked(tmp_path),
        ):
            pass
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        pass
