"""A bolt's changes to a value that it received are seen by nobody else, wherever the others are."""

from __future__ import annotations

from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.components import Forward, Rows, Spoils
from tests.framework.runtime.workers.running import Workers, every_kind

LISTS = [[[n]] for n in range(100)]
SEEN = [(f"[{n}]",) for n in range(100)]


def topology(grouping: str, par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Rows, args=[LISTS])
    builder.set_bolt("forward", Forward).shuffle_grouping("source")
    for name in ("one", "two"):
        spoils = builder.set_bolt(name, Spoils, par)
        getattr(spoils, f"{grouping}_grouping")("forward")
        builder.set_bolt(f"{name}_sink", CollectingSink).global_grouping(name)
    builder.set_bolt("sink", CollectingSink).global_grouping("forward")
    return builder


@pytest.mark.parametrize("placement", ["round-robin", "component"])
@every_kind
def test_several_components_get_values_of_their_own(workers: Workers, placement: str) -> None:
    report = workers.run(topology("shuffle", 2), viper__placement=placement)
    assert report.result("one_sink") == report.result("two_sink") == SEEN
    assert report.result("sink") == [tuple(row) for row in LISTS]


@pytest.mark.parametrize(
    "placement", [{"one": 1, "two": [1, 2, 3]}, {"one": [2, 3], "two": [3, 3, 1]}], ids=str
)
@every_kind
def test_so_do_all_tasks_that_share_a_gate(workers: Workers, placement: Any) -> None:
    options = {"viper__placement": placement} if workers.number > 1 else {}
    report = workers.run(topology("all", 3), **options)
    assert report.result("one_sink") == report.result("two_sink") == [row for row in SEEN for _ in range(3)]
    assert report.result("sink") == [tuple(row) for row in LISTS]


@every_kind
def test_what_says_that_it_does_not_mutate_gets_the_same_values(workers: Workers) -> None:
    """Here it does, so it can be seen that the copies were saved."""
    report = workers.run(topology("all", 3), viper__mutates=False, topology__workers=1)
    assert any("spoilt by" in text for (text,) in report.result("one_sink"))
