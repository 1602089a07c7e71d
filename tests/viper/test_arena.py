"""The arena refuses what it has no room for, and what it did not make."""

from __future__ import annotations

import gc
import os
import pickle
from pathlib import Path

import pytest

from viper.arena import Arena, ArenaHandle, ArenaStatistics
from viper.bell import Bell
from viper.errors import ArenaError
from viper.gate import ScaleGate
from viper.quota import Quota

MAPS = Path("/proc/self/maps")
OPEN_FILES = Path("/proc/self/fd")


def test_channels_take_exactly_what_they_say() -> None:
    sizes = [ScaleGate.size(1, 1, 1, 1, 0), ScaleGate.size(3, 1, 5, 100, 0)]
    arena = Arena.private(sum(sizes))
    ScaleGate.create(arena, 1, slots=1, tuples=1)
    ScaleGate.create(arena, 3, slots=5, tuples=100)
    assert arena.statistics() == ArenaStatistics(capacity_bytes=sum(sizes), used_bytes=sum(sizes))


def test_a_full_arena_names_the_sizes() -> None:
    size = ScaleGate.size(1, 1, 8, 64, 0)
    arena = Arena.private(size + 100)
    ScaleGate.create(arena, 1, slots=8, tuples=64)
    message = f"region of {size} bytes: {size} of the arena's {size + 100} bytes"
    with pytest.raises(ArenaError, match=message):
        ScaleGate.create(arena, 1, slots=8, tuples=64)


def test_an_arena_may_be_empty() -> None:
    assert Arena.private(0).statistics() == ArenaStatistics(0, 0)


def test_more_than_the_system_has() -> None:
    with pytest.raises(ArenaError, match=f"the system has no {2**62} bytes"):
        Arena.private(2**62)


@pytest.mark.parametrize("field", ["magic", "version", "layout"])
def test_another_builds_header_is_refused_with_both_values(field: str) -> None:
    arena = Arena.shared(10_000)
    expected = getattr(arena._header, field)
    found = expected ^ 0xFF
    setattr(arena._header, field, found)
    with pytest.raises(ArenaError, match=f"has {field} {found:#x}, this build expects {expected:#x}"):
        Arena.attach(arena.handle())


def test_what_one_mapping_writes_the_other_reads() -> None:
    arena = Arena.shared(100_000)
    other = Arena.attach(arena.handle())
    assert arena.is_shared and other.is_shared
    quota = Quota.create(arena, 5)
    assert Quota.attach(other, quota.offset).take(3) == 3
    assert quota.left == 2
    assert other.statistics() == arena.statistics()


def test_a_file_that_is_no_arena_is_refused(tmp_path: Path) -> None:
    for content, message in ((b"", "a segment of 0 bytes"), (bytes(4096), "has magic 0x0")):
        path = tmp_path / "file"
        path.write_bytes(content)
        with pytest.raises(ArenaError, match=message):
            Arena.attach(ArenaHandle(os.open(path, os.O_RDWR)))


def test_a_segment_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    arena = Arena.shared(10_000)
    whole = os.pread(arena.handle().segment, 128, 0)
    path = tmp_path / "file"
    path.write_bytes(whole.ljust(4096, b"\0"))
    with pytest.raises(ArenaError, match="a segment of 4096 bytes is no arena: its header tells of 10128"):
        Arena.attach(ArenaHandle(os.open(path, os.O_RDWR)))


@pytest.mark.parametrize(
    ("field", "value"), [("capacity", 0), ("capacity", 2**62), ("capacity", 2**64 - 1), ("used", 10_001)]
)
def test_a_header_that_tells_of_another_size_is_refused(field: str, value: int) -> None:
    arena = Arena.shared(10_000)
    setattr(arena._header, field, value)
    with pytest.raises(ArenaError, match="a segment of 10128 bytes is no arena: its header tells of"):
        Arena.attach(arena.handle())


@pytest.mark.skipif(not MAPS.exists(), reason="needs a system that tells what is mapped")
def test_a_mapping_goes_as_a_whole_whatever_its_header_says() -> None:
    before = mapped()
    arena = Arena.shared(1_000_000)
    other = Arena.attach(arena.handle())
    assert len(mapped() - before) == 2
    arena._header.capacity = 0
    del other
    gc.collect()
    assert len(mapped() - before) == 1
    arena._header.used = 2**62
    with pytest.raises(ArenaError, match="no region of 64 bytes at offset 1000192: the arena is used up to"):
        arena._at(1_000_192, 64)


def mapped() -> set[str]:
    """Read the addresses at which segments are mapped."""
    return {line.split()[0] for line in MAPS.read_text().splitlines() if "memfd:viperstorm" in line}


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs a system that tells what is open")
def test_what_cannot_be_attached_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    arena = Arena.shared(10_000)
    gc.collect()
    before = os.listdir(OPEN_FILES)
    monkeypatch.setattr("viper.arena.ffi", None)
    with pytest.raises(AttributeError):
        Arena.attach(arena.handle())
    gc.collect()
    assert os.listdir(OPEN_FILES) == before


def test_a_private_arena_has_no_handle() -> None:
    arena = Arena.private(1000)
    assert not arena.is_shared
    with pytest.raises(ArenaError, match="make a shared one"):
        arena.handle()


def test_a_handle_is_for_processes_that_are_being_started() -> None:
    with pytest.raises(ArenaError, match="as an argument of the process"):
        pickle.dumps(Arena.shared(1000).handle())


def test_a_shared_arena_must_fit_what_the_system_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viper.arena.available_bytes", lambda: 99_999)
    with pytest.raises(ArenaError, match="an arena needs 100000 bytes, and the system has 99999 left"):
        Arena.shared(100_000)


def test_offsets_that_nothing_was_allocated_at() -> None:
    arena = Arena.private(10_000)
    bell = Bell.create(arena)
    for offset in (0, 8, -128, bell.offset + 1, bell.offset + Bell.size(), 2**63):
        with pytest.raises(ArenaError, match=f"at offset {offset}: the arena is used up to"):
            Bell.attach(arena, offset)
    with pytest.raises(ArenaError, match=f"no gate was made at offset {bell.offset}"):
        ScaleGate.attach(arena, bell.offset)


def test_a_region_has_bytes() -> None:
    with pytest.raises(ArenaError, match=r"0 bytes of an arena: expected 1 to 2\*\*63 - 1"):
        Arena.private(10_000).allocate(0)


def test_memory_that_is_not_touched_is_not_counted() -> None:
    """Or a process with many arenas, which the collector has not looked at yet, could not fork any more."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert Arena.private(2 * physical).statistics().capacity_bytes == 2 * physical
