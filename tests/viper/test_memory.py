"""The memory that is left, from what the system writes down."""

from __future__ import annotations

from pathlib import Path

import pytest

from viper import segments

MEMINFO = "MemTotal:  1000 kB\nMemAvailable:  700 kB\nSwapFree: 0 kB\n"


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A system that says nothing as yet."""
    monkeypatch.setattr(segments, "PROC", tmp_path / "proc")
    monkeypatch.setattr(segments, "CGROUPS", tmp_path / "cgroup")
    (tmp_path / "proc" / "self").mkdir(parents=True)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_a_system_that_says_nothing(system: Path) -> None:
    assert segments.available_bytes() is None


def test_the_machine(system: Path) -> None:
    write(system / "proc", meminfo=MEMINFO)
    assert segments.available_bytes() == 700 * 1024


def test_the_narrowest_group_counts(system: Path) -> None:
    write(system / "proc", meminfo=MEMINFO)
    write(system / "proc" / "self", cgroup="0::/user/job\n")
    root = system / "cgroup"
    write(root / "user" / "job", memory__max="max\n", memory__current="5000\n")
    write(root / "user", memory__max="9000\n", memory__current="6000\n")
    assert segments.available_bytes() == 3000
    write(root / "user" / "job", memory__max="7000\n", memory__current="5000\n")
    assert segments.available_bytes() == 2000
    write(root / "user" / "job", memory__current="8000\n")
    assert segments.available_bytes() == 0


def test_pages_of_files_that_can_be_taken_back_are_left(system: Path) -> None:
    write(system / "proc" / "self", cgroup="0::/\n")
    stat = "anon 300\nfile 600\ninactive_file 550\nactive_file 50\n"
    write(system / "cgroup", memory__max="1000\n", memory__current="900\n", memory__stat=stat)
    assert segments.available_bytes() == 650
    write(system / "cgroup", memory__current="500\n")  # of another moment than the statistics
    assert segments.available_bytes() == 1000
    write(system / "proc" / "self", cgroup="4:memory:/a\n")
    stat = "inactive_file 7\ntotal_inactive_file 20\n"
    folder = system / "cgroup" / "memory" / "a"
    write(folder, memory__limit_in_bytes="100\n", memory__usage_in_bytes="30\n", memory__stat=stat)
    assert segments.available_bytes() == 90


def test_groups_of_the_first_kind(system: Path) -> None:
    write(system / "proc" / "self", cgroup="5:cpu,cpuacct:/a\n4:memory:/a\n")
    folder = system / "cgroup" / "memory" / "a"
    write(folder, memory__limit_in_bytes="100\n", memory__usage_in_bytes="30\n")
    assert segments.available_bytes() == 70


def test_inside_a_container_the_group_is_at_the_root(system: Path) -> None:
    write(system / "proc" / "self", cgroup="0::/of/the/host\n")
    write(system / "cgroup", memory__max="500\n", memory__current="100\n")
    assert segments.available_bytes() == 400
