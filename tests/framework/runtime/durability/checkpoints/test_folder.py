"""A checkpoint is there as a whole or not at all, and lasts once it was written, whenever the power goes."""

from __future__ import annotations

import errno
import os
import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from framework.model.errors import CheckpointError
from framework.runtime.durability.checkpoints import (
    Checkpoint,
    CheckpointFolder,
    found_at,
    is_locked,
    locked,
    read_checkpoint,
)
from framework.runtime.durability.checkpoints.folder import MANIFEST, hidden_folder
from tests.framework.runtime.durability.checkpoints.disk import Disk, Folder, PowerLossError, after_power_loss

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


def chain_of(number: int) -> list[tuple[str, bytes]]:
    """The parts of a checkpoint: those of the one before, but for every third, and one of its own."""
    first = number - (number - 1) % 3
    return [(f"state-{written}.part", b"%d" % written * 20) for written in range(first, number + 1)]


def write_chains(disk: Disk, done: list[int]) -> None:
    """Likewise checkpoints that share what tasks have written."""
    folder = CheckpointFolder(PLACE, disk)
    folder.prepare()
    for number in range(1, WRITTEN + 1):
        folder.begin(number)
        disk.write_only(hidden_folder(PLACE, number) / chain_of(number)[-1][0], chain_of(number)[-1][1])
        made = {name: (len(part), zlib.crc32(part)) for name, part in chain_of(number)}
        done.append(folder.write(partial(content_of, number), (), KEPT, number - 1, made).id)


Parts = Callable[[int], list[tuple[str, bytes]]]
Write = Callable[[Disk, list[int]], None]
KINDS: list[tuple[Write, Parts]] = [(write_all, parts_of), (write_chains, chain_of)]


def check(root: Folder, done: list[int], parts_of: Parts = parts_of) -> None:
    """Check that a folder is whole after the power was lost, and that nothing that was written is missing."""
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


def losses(write: Write, forgets: int | None = None) -> Iterator[tuple[Folder, list[int]]]:
    """All that may be found on the disk, whichever step the power has gone before."""
    chance = random.Random(13)
    counting = Disk(Folder())
    counting.root.change({PLACE.name: Folder()})
    counting.root.sync()
    write(counting, [])
    for step in range(counting.steps + 1):
        root, done = Folder(), []
        root.change({PLACE.name: Folder()})
        root.sync()
        with suppress(PowerLossError):
            write(Disk(root, step, forgets), done)
        for survivor in after_power_loss(root, chance):
            yield survivor, done


@pytest.mark.parametrize(("write", "parts"), KINDS)
def test_power_lost_at_every_step(write: Write, parts: Parts) -> None:
    count = 0
    for survivor, done in losses(write):
        check(survivor, done, parts)
        count += 1
    assert count > 500


@pytest.mark.parametrize(("write", "parts", "forgotten"), [
    *((*KINDS[0], number) for number in range(5)),
    *((*KINDS[1], number) for number in range(4)),
])
def test_every_fsync_is_needed(write: Write, parts: Parts, forgotten: int) -> None:
    """Of the first checkpoint: of its parts, its manifest, its own folder, and the folder above it."""
    with pytest.raises((AssertionError, CheckpointError)):
        for survivor, done in losses(write, forgotten):
            check(survivor, done, parts)


# -- on a real file system


def test_the_last_ones_are_kept(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "new" / "checkpoints")
    folder.prepare()
    for number in range(1, 5):
        assert folder.write(partial(content_of, number), parts_of(number), 3).id == number
    assert folder.ids == [2, 3, 4]
    assert folder.latest().content == content_of(4)
    assert folder.write(lambda: content_of(5), [], 3, above=20).id == 21


def written(path: Path, count: int, keep: int) -> CheckpointFolder:
    """A folder with checkpoints that share parts."""
    folder = CheckpointFolder(path)
    for number in range(1, count + 1):
        folder.begin(number)
        name, content = chain_of(number)[-1]
        (hidden_folder(path, number) / name).write_bytes(content)
        made = {name: (len(part), zlib.crc32(part)) for name, part in chain_of(number)}
        folder.write(partial(content_of, number), (), keep, number - 1, made)
    return folder


def holds(checkpoint: Checkpoint) -> bool:
    return [(name, checkpoint.part(name)) for name in checkpoint.parts] == chain_of(checkpoint.id)


@pytest.mark.parametrize("keep", [1, 2, 9])
def test_checkpoints_that_share_parts_go_without_the_others(tmp_path: Path, keep: int) -> None:
    folder = written(tmp_path / "kept", 6, keep)
    assert len(folder.ids) == min(keep, 6)
    for number in folder.ids:
        shutil.copytree(folder.open(number).path, tmp_path / "elsewhere" / str(number))
    assert all(holds(folder.open(number)) for number in folder.ids)
    if keep > 1:
        one, other = (folder.open(number).path / "state-4.part" for number in (5, 6))
        assert one.samefile(other)
    for number in folder.ids[:-1]:
        shutil.rmtree(folder.open(number).path)
    assert holds(folder.latest())
    shutil.rmtree(folder.path)
    copies = sorted((tmp_path / "elsewhere").iterdir())
    assert len(copies) == min(keep, 6) and all(holds(read_checkpoint(copy)) for copy in copies)


def test_without_hard_links_parts_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(source: Path, target: Path) -> None:
        raise OSError(errno.EOPNOTSUPP, "no links here")

    monkeypatch.setattr(os, "link", link)
    folder = written(tmp_path, 5, 9)
    one, other = (folder.open(number).path / "state-4.part" for number in (4, 5))
    assert one.read_bytes() == other.read_bytes() and not one.samefile(other)
    assert all(holds(folder.open(number)) for number in folder.ids)


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
    manifest.write_bytes(whole.replace(b"checkpoint 3 ", b"checkpoint 1 ", 1))
    with pytest.raises(CheckpointError, match=r"has version 1 of the format: expected 2 or 3"):
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
