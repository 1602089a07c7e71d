"""The bugs that kills must find: each planted one is found in a few runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.kills.planted import PLANTS
from tests.kills.runs import Case, WrongError, check_killed
from tests.portions import at_every_change

SHOWN_BY = {
    "forget_turns": Case("shuffle and partial key", 2, 300, 16),
    "forget_offsets": Case("typed values", 1, 200, 12),
    "forget_ticks": Case("windows", 2, 400, 20),
    "release_at_take": Case("typed values", 2, 200, 12),
    "commit_before_the_flush": Case("bursts", 1, 40, 12),
    "skip_nothing": Case("typed values", 2, 200, 12),
    "keep_staged_rows": Case("words", 2, 300, 16),
    "pass_where_it_stands": Case("words", 1, 600, 12, scaled=True),
}
"""The first seed that is known to find the bug."""


@pytest.mark.parametrize("plant", at_every_change(SHOWN_BY))
def test_a_planted_bug_is_found(plant: str, tmp_path: Path) -> None:
    case = SHOWN_BY[plant]
    for seed in range(case.seed, case.seed + 6):
        planted = replace(case, seed=seed, plant=plant)
        try:
            check_killed(planted, tmp_path / str(seed))
        except WrongError:
            return
    pytest.fail("it changes nothing")


def test_every_bug_is_planted() -> None:
    assert SHOWN_BY.keys() == PLANTS.keys()
