"""`.ci/run`: it runs both targets whatever becomes of the first, and takes other samples each day."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).parents[2] / ".ci"
MAKE = """#!/bin/sh
echo "$1 DETERMINISM_SEED=$DETERMINISM_SEED SCHEDULES=$SCHEDULES SLOW_TESTS=$SLOW_TESTS stdin=$(cat)"
test "$1" != "$FAILS"
"""

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing but that script, and stand-ins for the programs that it calls."""
    shutil.copytree(CI, tmp_path / ".ci")
    programs = tmp_path / "programs"
    programs.mkdir()
    nothing = "#!/bin/sh\n"
    date = f"{nothing}echo $(($DAY * 86400 + 77))\n"
    for name, text in {"make": MAKE, "date": date, "spin": nothing}.items():
        (programs / name).write_text(text)
    (tmp_path / "java" / "bin").mkdir(parents=True)
    (tmp_path / "java" / "bin" / "java").write_text(nothing)
    for program in (*programs.iterdir(), tmp_path / "java" / "bin" / "java"):
        program.chmod(0o755)
    return tmp_path


def ran(checkout: Path, day: int, **environ: str) -> tuple[int, list[str]]:
    """The exit code, and the lines that were printed."""
    done = subprocess.run(
        ["bash", checkout / ".ci" / "run"],
        env={
            "PATH": f"{checkout / 'programs'}{os.pathsep}{os.environ['PATH']}",
            "JAVA_HOME": str(checkout / "java"),
            "DAY": str(day),
            **environ,
        },
        capture_output=True,
        text=True,
        input="this is not for what it runs",
    )
    return done.returncode, done.stdout.splitlines()


@needs_bash
def test_samples_are_printed_and_given_to_both(checkout: Path) -> None:
    status, lines = ran(checkout, 20_781)
    samples = "DETERMINISM_SEED=20781 SCHEDULES=200:400 SLOW_TESTS=13/16"
    assert lines[:-1] == [f"samples: {samples}", f"check {samples} stdin=", f"test-ci {samples} stdin="]
    assert status == 0


@pytest.mark.slow(daily=True)
@needs_bash
def test_its_processor_time_is_printed_at_its_end(checkout: Path) -> None:
    burn = "import time\nwhile time.process_time() < 1.5: pass"
    make = checkout / "programs" / "make"
    make.write_text(f"{MAKE}test $1 != check || {sys.executable} -c '{burn}'\n")
    found = re.fullmatch(
        r"processor seconds: (\d+), of which (\d+) are those of make check, .* of make test-ci",
        ran(checkout, 20_781)[1][-1],
    )
    assert found and int(found[1]) >= int(found[2]) >= 1


@pytest.mark.slow
@needs_bash
def test_in_five_days_every_schedule_is_run(checkout: Path) -> None:
    lines = [ran(checkout, day)[1][0] for day in range(20_781, 20_786)]
    windows = [line.partition("SCHEDULES=")[2].split()[0] for line in lines]
    taken = [n for window in windows for n in range(*map(int, window.split(":")))]
    assert sorted(taken) == list(range(1000))


@pytest.mark.slow(daily=True)
@needs_bash
def test_in_sixteen_days_every_slow_test_is_run(checkout: Path) -> None:
    portions = [ran(checkout, day)[1][0].rpartition("SLOW_TESTS=")[2] for day in range(20_782, 20_798)]
    assert sorted(portions) == sorted(f"{number}/16" for number in range(16))


@needs_bash
def test_samples_that_are_asked_for_are_taken(checkout: Path) -> None:
    _, lines = ran(checkout, 20_781, DETERMINISM_SEED="7", SCHEDULES="0:1000", SLOW_TESTS="0/1")
    assert all("DETERMINISM_SEED=7 SCHEDULES=0:1000 SLOW_TESTS=0/1" in line for line in lines[:-1])


@needs_bash
@pytest.mark.parametrize("target", ["check", "test-ci"])
def test_either_target_fails_the_run_and_both_are_made(checkout: Path, target: str) -> None:
    status, lines = ran(checkout, 1, FAILS=target)
    assert status == 1
    assert [line.split()[0] for line in lines[1:-1]] == ["check", "test-ci"]
