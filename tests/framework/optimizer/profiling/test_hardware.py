"""The description of the machine, read from made-up files and from this one's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framework.optimizer.costs.hardware import Cache
from framework.optimizer.profiling.hardware import crossings, hardware, numbers_of


@pytest.mark.parametrize(
    ("listed", "numbers"), [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("0-1,8,10-11", (0, 1, 8, 10, 11)), ("", ())]
)
def test_lists_of_processors(listed: str, numbers: tuple[int, ...]) -> None:
    assert numbers_of(listed) == numbers


def test_caches_that_are_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 5})
    for cpu in (4, 5):
        for index, level, size, shared in ((0, 1, "48K", str(cpu)), (1, 2, "2M", "4-5"), (2, 3, "99", "4-7")):
            folder = tmp_path / f"cpu{cpu}" / "cache" / f"index{index}"
            folder.mkdir(parents=True)
            for name, text in (("level", level), ("size", size), ("shared_cpu_list", shared)):
                (folder / name).write_text(f"{text}\n")
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Some CPU @ 1 GHz\nflags\t: a\n")
    found = hardware(system=tmp_path, info=tmp_path / "cpuinfo", with_crossings=False)
    assert found.model == "Some CPU @ 1 GHz" and found.cpus == (4, 5) and found.crossings == ()
    assert found.caches == (Cache(2, 2 << 20, (4, 5)), Cache(3, 99, (4, 5, 6, 7)))


def test_nothing_is_told_of_the_machine(tmp_path: Path) -> None:
    found = hardware(system=tmp_path, info=tmp_path / "missing", with_crossings=False)
    assert found.model == "" and found.caches == ()


def test_one_processor_has_no_crossings() -> None:
    assert crossings([0]) == ()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_the_way_between_two_processors_is_measured() -> None:
    first, second = sorted(os.sched_getaffinity(0))[:2]
    (found,) = crossings([first, second])
    assert (found.first, found.second) == (first, second) and found.ns >= 0
