"""No workload takes more instructions per tuple than was recorded, beyond what is allowed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import instructed, instructions

DUMP = """\
version: 1
events: Ir
fl=(1) /usr/src/Python/ceval.c
fn=(1) eval'2
10 700
cfi=(2) /usr/src/rows.c
cfn=(2) emit
calls=3 40
11 900
+2 50
fl=(2)
fn=(2)
40 900

totals: 1650
"""


@pytest.mark.slow(daily=True)
def test_no_workload_takes_more_than_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("needs valgrind: instructions per tuple were NOT compared with those recorded")
    status = instructions.main(["--check"])

    said = capsys.readouterr()
    with capsys.disabled():  # so that it is seen where nothing was recorded for this build
        print(f"\n{said.out}")
    assert status == 0, said.err


def test_what_a_function_calls_is_not_counted_as_its_own(tmp_path: Path) -> None:
    dump = tmp_path / "counted"
    dump.write_text(DUMP, encoding="utf-8")

    assert instructions.functions_in(dump) == {"eval (ceval.c)": 750, "emit (rows.c)": 900}
    assert instructions.total_of(dump) == 1650


def test_three_percent_more_is_allowed_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "build", lambda: "this one")
    monkeypatch.setattr(instructions, "recorded", lambda: {"this one": {"words by tuples": 1000.0}})

    def found(count: float) -> list[str]:
        return list(instructions.problems([instructions.Measured("words by tuples", count, {})], "python"))

    assert found(1029.0) == found(500.0) == []
    assert found(1031.0) == [
        "words by tuples: 1,031.0 instructions, 3.1% more than the 1,000.0 recorded; at most 3% are allowed"
    ]


def test_a_build_without_a_record_is_told_of_and_measured_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = instructions.Measured("words by tuples", 1000.0, {})
    monkeypatch.setattr(instructions, "build", lambda: "another one")
    monkeypatch.setattr(instructions, "recorded", dict)
    monkeypatch.setattr(
        instructions, "measured", lambda name, python: instructions.Measured(name, 1030.0, {})
    )

    assert list(instructions.problems([measured], "python")) == [
        "words by tuples: 1,000.0 instructions, and 1,030.0 when measured again"
    ]
    assert "nothing was recorded for another one" in capsys.readouterr().out


def test_the_workloads_are_those_that_run() -> None:
    assert tuple(instructed.WORKLOADS) == instructions.NAMES
    (figures,) = instructions.recorded().values()
    assert tuple(figures) == instructions.NAMES
