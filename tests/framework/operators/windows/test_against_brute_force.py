"""Windows of any form are those that a search over all ends finds, whatever the plan and the schedule."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from framework.operators.windows import OpenWindows, WindowContents
from framework.operators.windows.due import Due
from framework.runtime import RunReport
from framework.runtime.tasks.bolt_agenda import WindowEnds
from tests.framework.operators.windows.test_places import (
    test_windows_stand_beside_those_that_they_are_made_of,
)
from tests.framework.operators.windows.windowed import Window, drawn, drawn_config, expected, topology
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change

PLANS: tuple[dict[str, Any], ...] = (
    {},
    {"viper__chains": False},
    {"viper__slice__tuples": 1},
    {"viper__slice__tuples": 3, "viper__scheduling": "random", "viper__seed": 7},
    {"viper__jumbo__size": 1},
    {"viper__jumbo__size": 5, "viper__channel__jumbos": 1, "viper__channel__tuples": 8},
)


def told(report: RunReport) -> list[Window]:
    return [(start, end, *map(tuple, parts)) for start, end, *parts in report.result("sink")]


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(600), 40))
def test_windows_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        rows, config = drawn(random, random.randrange(1, 60)), drawn_config(random)
        par, plan = random.randrange(1, 4), random.choice(PLANS)
        found = told(run_built(topology(rows, config, par), **plan))
        assert found == expected(rows, config), f"seed {seed}: {config}, {par} tasks, {plan}"


@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(9000, 9040), 3))
def test_on_several_workers(workers: Workers, seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        rows, config = drawn(random, 200), drawn_config(random)
        found = told(workers.run(topology(rows, config, 3), viper__jumbo__size=random.choice((1, 16, 1024))))
        assert found == expected(rows, config), f"seed {seed}: {config}"


def _positions_stay_at_ends() -> None:
    """A consumer of windows, and of windows of these, has both in their order."""
    test_windows_stand_beside_those_that_they_are_made_of(INLINE)


@pytest.mark.parametrize("plant", ["closed at its end", "stale bound", "trimmed early", "not held"])
def test_a_planted_mistake_is_found(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if plant == "closed at its end":
        in_time = OpenWindows.next_due

        def early(windows: OpenWindows, time_us: int | None) -> Due | None:
            return in_time(windows, None if time_us is None else time_us + 1)

        monkeypatch.setattr(OpenWindows, "next_due", early)
    elif plant == "stale bound":
        monkeypatch.setattr(WindowContents, "first_end_behind", lambda self, time_us: time_us + 1_000_000)
    elif plant == "trimmed early":
        first = WindowContents._next_first
        monkeypatch.setattr(WindowContents, "_first_needed", lambda self: first(self) + 1)
    else:
        monkeypatch.setattr(WindowEnds, "held", lambda self, position: position)
    with pytest.raises(AssertionError):
        _positions_stay_at_ends() if plant == "not held" else test_windows_are_those_of_a_search(range(40))
