"""A disk that loses power: what was not fsynced is dropped, kept or torn, each thing by itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random


class PowerLossError(Exception):
    """The power is gone."""


@dataclass(eq=False)
class File:
    """Its content is on the disk once it was synced."""

    content: bytes
    synced: bool = False


@dataclass(eq=False)
class Folder:
    """Its names as a program sees them, those on the disk, and the changes in between, in order."""

    names: dict[str, File | Folder] = field(default_factory=dict)
    durable: dict[str, File | Folder] = field(default_factory=dict)
    pending: list[Mapping[str, File | Folder | None]] = field(default_factory=list)

    def change(self, changes: Mapping[str, File | Folder | None]) -> None:
        _apply(self.names, changes)
        self.pending.append(changes)

    def sync(self) -> None:
        for changes in self.pending:
            _apply(self.durable, changes)
        self.pending.clear()


class Disk:
    """`Files` in memory. The power goes before its step `dies_at`; a write takes two steps, for its fsync.

    Args:
        root: what is on it.
        dies_at: None for never.
        forgets: index of a call of `sync_folder`, or of the fsync of a write, that does nothing.
    """

    def __init__(self, root: Folder, dies_at: int | None = None, forgets: int | None = None) -> None:
        self.root = root
        self.steps = 0
        self.syncs = 0
        self._dies_at = dies_at
        self._forgets = forgets

    def make_folder(self, path: Path) -> None:
        parent = self._folder(path.parent)
        if path.name and path.name not in parent.names:
            self._step()
            parent.change({path.name: Folder()})

    def write(self, path: Path, content: bytes) -> None:
        self._step()
        file = File(content)
        self._folder(path.parent).change({path.name: file})
        self._step()
        file.synced = self._syncs()

    def sync(self, path: Path) -> None:
        self._step()
        file = self._folder(path.parent).names[path.name]
        assert isinstance(file, File)
        file.synced = self._syncs()

    def write_only(self, path: Path, content: bytes) -> None:
        """As a task writes a part, which others have last."""
        self._step()
        self._folder(path.parent).change({path.name: File(content)})

    def link(self, path: Path, target: Path) -> None:
        self._step()
        self._folder(target.parent).change({target.name: self._folder(path.parent).names[path.name]})

    def sync_folder(self, path: Path) -> None:
        self._step()
        if self._syncs():
            self._folder(path).sync()

    def rename(self, path: Path, target: Path) -> None:
        self._step()
        parent = self._folder(path.parent)
        assert target.name not in parent.names
        parent.change({path.name: None, target.name: parent.names[path.name]})

    def remove(self, path: Path) -> None:
        folder = self._folder(path)
        for name in list(folder.names):
            self._step()
            folder.change({name: None})
        self._step()
        self._folder(path.parent).change({path.name: None})

    def read(self, path: Path) -> bytes:
        found = self._folder(path.parent).names.get(path.name)
        if not isinstance(found, File):
            raise FileNotFoundError(2, "No such file", str(path))
        return found.content

    def view(self, path: Path) -> memoryview:
        return memoryview(self.read(path))

    def names(self, path: Path) -> Sequence[str]:
        return sorted(self._folder(path).names)

    def _folder(self, path: Path) -> Folder:
        folder = self.root
        for name in path.parts:
            inner = folder.names.get(name)
            if not isinstance(inner, Folder):
                raise FileNotFoundError(2, "No such folder", str(path))
            folder = inner
        return folder

    def _step(self) -> None:
        if self.steps == self._dies_at:
            raise PowerLossError
        self.steps += 1

    def _syncs(self) -> bool:
        self.syncs += 1
        return self.syncs - 1 != self._forgets


MOST_SUBSETS = 64


def after_power_loss(root: Folder, chance: Random) -> Iterator[Folder]:
    """Yield the contents that may be found when the power is back.

    All combinations of the pending changes are tried where these are few; of many some are drawn, the one
    with none and the one with all among them.
    """
    pending = sum(1 for _ in _pending(root))
    whole = 1 << pending
    chosen = (
        range(whole)
        if whole <= MOST_SUBSETS
        else [0, whole - 1, *(chance.randrange(whole) for _ in range(MOST_SUBSETS))]
    )
    for subset in chosen:
        bits = iter([bool(subset >> index & 1) for index in range(pending)])
        yield _survivor(root, bits, chance)


def _pending(folder: Folder) -> Iterator[Mapping[str, File | Folder | None]]:
    yield from folder.pending
    for inner in _reachable(folder):
        yield from _pending(inner)


def _reachable(folder: Folder) -> Iterator[Folder]:
    """Every folder that may be found in a folder, by whichever name."""
    found = [*folder.durable.values(), *itertools.chain(*(c.values() for c in folder.pending))]
    yield from dict.fromkeys(inner for inner in found if isinstance(inner, Folder))


def _survivor(folder: Folder, bits: Iterator[bool], chance: Random) -> Folder:
    names = dict(folder.durable)
    for changes in folder.pending:
        if next(bits):
            _apply(names, changes)
    inner = {id(found): _survivor(found, bits, chance) for found in _reachable(folder)}
    survived: dict[str, File | Folder] = {
        name: inner[id(found)] if isinstance(found, Folder) else _torn(found, chance)
        for name, found in names.items()
    }
    return Folder(dict(survived), survived)


def _torn(file: File, chance: Random) -> File:
    if file.synced:
        return File(file.content, True)
    kept = file.content[: chance.randrange(len(file.content) + 1)]
    return File(kept + bytes(chance.choice((0, len(file.content) - len(kept)))), True)


def _apply(names: dict[str, File | Folder], changes: Mapping[str, File | Folder | None]) -> None:
    for name, found in changes.items():
        if found is None:
            names.pop(name, None)
        else:
            names[name] = found
