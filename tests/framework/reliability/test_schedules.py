"""Storm's promise under random faults: every tuple is acked once, and not before all of its tree was."""

from __future__ import annotations

import logging

import pytest

from tests.framework.reliability.schedules import drawn_schedule, run_schedule
from tests.framework.runtime.pieces import FakeClock


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def check(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        schedule = drawn_schedule(seed)
        try:
            problems = run_schedule(schedule, FakeClock(monkeypatch)).problems()
        except Exception as error:
            raise AssertionError(str(schedule)) from error
        assert not problems, f"{schedule}\n" + "\n".join(problems)


@pytest.mark.parametrize("part", range(5))
def test_every_tuple_is_acked_in_the_end(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(range(40 * part, 40 * part + 40), monkeypatch)
