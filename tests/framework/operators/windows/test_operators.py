"""Windows by key are those that a search finds, in the same order however many tasks share the keys."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from framework import OPlus, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.windows.key_state import OpenKeyWindows
from framework.runtime.tasks.group_outputs import GroupOutputs
from tests.framework.operators.windows.operators import (
    GROUPS,
    Keyed,
    Row,
    TellKeys,
    TellKeysSliding,
    TellSliding,
    TellWindow,
    drawn,
    expected,
)
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.operators.windows.windowed import Both
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change
from viper.errors import OrderError


class Passed(Both):
    """Emits each tuple again; it keeps nothing."""

    outputs = ["number", "keys", "key", "time"]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))


def topology(rows: list[Row], operator: OPlus, par: int, before: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Keyed, args=[rows])
    builder.set_bolt("passed", Passed, before).shuffle_grouping("source")
    windows = builder.set_bolt("windows", operator, par)
    if operator.derives_keys:
        windows.all_grouping("passed")
    else:
        windows.fields_grouping("passed", ["key"])
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return builder


def _is_as_expected(seed: int, most: int, workers: Workers, options: dict[str, Any]) -> None:
    random = Random(seed)
    rows = drawn(random, random.randrange(1, most))
    cls = random.choice((TellWindow, TellSliding, TellKeys, TellKeysSliding))
    advance = random.choice((1000, 3000, 7000, 10_000))
    size = random.choice((advance, 2 * advance, 3 * advance, 5 * advance // 2, 1 + 2 * advance, advance // 2))
    par, before = random.randrange(1, 7), random.randrange(1, 4)
    several, single = cls.derives_keys, cls.windows == "single"
    built = topology(rows, cls(size, advance), par, before)
    found = workers.run(built, viper__key__groups=GROUPS, **options).result("sink")
    told = expected(rows, size, advance, several=several, single=single)
    assert found == told, f"seed {seed}: {cls.__name__}({size}, {advance}), {par} tasks, {options}"


@pytest.mark.parametrize("seeds", seeds_at_every_change(range(600), 40))
def test_windows_are_those_of_a_search(seeds: range) -> None:
    for seed in seeds:
        _is_as_expected(seed, 60, INLINE, Random(seed).choice(PLANS))


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(9000, 9040), 3))
def test_on_several_workers(workers: Workers, seeds: range) -> None:
    for seed in seeds:
        options = {"viper__jumbo__size": Random(seed).choice((1, 16, 1024))}
        _is_as_expected(seed, 200, workers, options)


@pytest.mark.parametrize("plant", ["stale bound", "no order", "other groups"])
def test_a_planted_mistake_is_found(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if plant == "stale bound":
        monkeypatch.setattr(OpenKeyWindows, "first_end_behind", lambda self, time_us: time_us + 10**7)
    elif plant == "no order":
        take = OpenKeyWindows.take
        monkeypatch.setattr(OpenKeyWindows, "take", lambda self, *due: take(self, *due)[::-1])
    else:
        begin = GroupOutputs.begin
        monkeypatch.setattr(GroupOutputs, "begin", lambda self, group: begin(self, GROUPS - 1 - group))
    with pytest.raises((AssertionError, OrderError)):
        test_windows_are_those_of_a_search(range(40))
