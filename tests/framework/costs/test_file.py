"""Profiles as files: what is written is read again, and whatever else is in one is told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.costs import ComponentCost, Profile, StreamCost
from framework.costs.file import ProfileError, load, save
from tests.framework.costs.shapes import COSTS

GOOD = """\
topology: words
run_ns: 52
components:
  lines:
    ns: 1540
    streams:
      default:
        selectivity: 1.0
"""


def test_what_is_written_is_read(tmp_path: Path) -> None:
    whole = Profile(
        {
            **COSTS.components,
            "other": ComponentCost(
                7.25, {"s": StreamCost(0.5, 1, 2, 3, 4)}, {"lines/default": 9.0}, share=0.25
            ),
        },
        run_ns=700.0,
        jumbo_ns=3.0,
        jumbo_tuples=12.0,
        rates={"lines": 100.0},
    )
    save(tmp_path / "p.yaml", "words", whole, {"plans": 8})
    assert load(tmp_path / "p.yaml") == whole


def test_what_is_left_out_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(GOOD)
    assert load(tmp_path / "p.yaml") == Profile(
        {"lines": ComponentCost(1540.0, {"default": StreamCost(1.0)})}, run_ns=52.0
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            "run_ns: 52",
            "run_nss: 52",
            2,
            "a profile has 'run_nss': expected one of topology, measured, run_ns",
        ),
        ("run_ns: 52", "run_ns: fast", 2, "run_ns is 'fast': expected a number, 0 or more"),
        ("run_ns: 52", "run_ns: -1", 2, "run_ns is '-1': expected a number, 0 or more"),
        ("run_ns: 52", "run_ns: .nan", 2, "run_ns is '.nan': expected a number"),
        ("run_ns: 52", "run_ns: .inf", 2, "run_ns is '.inf': expected a number"),
        ("run_ns: 52", "run_ns: true", 2, "run_ns is 'true': expected a number"),
        ("run_ns: 52", "run_ns: 5\nrun_ns: 6", 3, "a profile has 'run_ns' twice: expected each once"),
        ("run_ns: 52", "jumbo_tuples: 0", 2, "jumbo_tuples is 0: expected more than 0"),
        ("    ns: 1540\n", "", 5, "lines has no ns: expected nanoseconds for each tuple"),
        (
            "        selectivity: 1.0",
            "        size: 1.0",
            8,
            "lines/default has no selectivity: expected a number",
        ),
        ("        selectivity: 1.0", "        selectivty: 1.0", 8, "lines/default has 'selectivty'"),
        ("components:", "components: [1]\nrates:", 3, "components is a list: expected a mapping"),
        ("components:", "rates:", 1, "found no components: expected what each of them costs"),
        (GOOD, "", 1, "found nothing: expected a profile"),
        (GOOD, "3", 1, "a profile is '3': expected a mapping"),
        (GOOD, "a: [", 1, "no YAML"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    file = tmp_path / "p.yaml"
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(ProfileError) as raised:
        load(file)
    assert str(raised.value).startswith(f"{file}:{line}: {message}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read: No such file"):
        load(tmp_path / "none.yaml")
