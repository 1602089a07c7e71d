"""Remains in shared memory are seen, and those of others are not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import shared_memory
from viper import segments

SHM = shared_memory.SHARED_MEMORY
pytestmark = pytest.mark.skipif(not SHM.is_dir(), reason="needs segments that are files")


@pytest.fixture
def name() -> Iterator[str]:
    """A segment as one is called whose maker is dead."""
    name = f"vp-{os.getpid() + 2**22}-1-0"
    yield name
    (SHM / name).unlink(missing_ok=True)


def test_any_name_is_seen(tmp_path: Path) -> None:
    before, left = shared_memory.names(), SHM / f"sem.mp-{tmp_path.name}"
    left.touch()
    try:
        assert shared_memory.left_since(before) == {left.name}
        assert shared_memory.left_since(shared_memory.names()) == set()
    finally:
        left.unlink()


def test_a_segment_of_this_process_is_seen() -> None:
    before, left = shared_memory.names(), SHM / f"vp-{os.getpid()}-1-0"
    left.touch()
    try:
        assert shared_memory.left_since(before) == {left.name}
    finally:
        left.unlink()


def test_one_whose_maker_was_killed_is_seen_by_its_record(name: str) -> None:
    before, record = shared_memory.names(), segments._records() / name
    (SHM / name).touch()
    record.touch()
    assert shared_memory.left_since(before) == {name}
    assert segments.remove_abandoned() == [name]
    assert shared_memory.left_since(before) == set()


def test_one_that_is_recorded_elsewhere_is_another_s(name: str) -> None:
    before = shared_memory.names()
    (SHM / name).touch()
    assert shared_memory.left_since(before) == set()
