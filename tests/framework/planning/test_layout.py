"""The division of the bits of a path among the hops."""

from __future__ import annotations

import itertools

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.planning import ComponentLevel, Layout, make_layout
from framework.planning.layout import PATH_BITS
from tests.framework.runtime.pieces import Forward, Numbers, run_built


def chain(hops: int, width: int = 1, par: int = 1) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[5])
    before = ["source"]
    for hop in range(1, hops + 1):
        names = [f"hop{hop}.{n}" for n in range(width)]
        for name in names:
            declared = builder.set_bolt(name, Forward, par)
            for source in before:
                declared.shuffle_grouping(source)
        before = names[:1]
    builder.set_bolt("sink", CollectingSink).global_grouping(before[0])
    return builder


def layout(builder: TopologyBuilder) -> Layout:
    return make_layout(builder.build("laid"))


def bits(level: ComponentLevel) -> range:
    return range(level.offset, level.offset + level.ordinal_bits + level.tag_bits)


@pytest.mark.parametrize(("hops", "width"), [(1, 1), (1, 300), (4, 3), (20, 2), (46, 1), (100, 2)])
def test_levels_do_not_overlap_and_fit(hops: int, width: int) -> None:
    levels = layout(chain(hops, width)).components.values()
    by_depth = {level.depth: bits(level) for level in levels}
    used = [bit for field in by_depth.values() for bit in field]
    assert len(used) == len(set(used))
    assert set(used) <= set(range(PATH_BITS))
    assert all(bits(level) == by_depth[level.depth] for level in levels)


def test_deeper_levels_have_lower_bits() -> None:
    levels = sorted(layout(chain(10, 3)).components.values(), key=lambda level: level.depth)
    for upper, lower in itertools.pairwise(levels):
        assert lower.depth == upper.depth or lower.offset < upper.offset


def test_components_of_one_depth_are_told_apart_in_order_of_definition() -> None:
    found = layout(chain(1, 5)).components
    assert [found[f"hop1.{n}"].tag for n in range(5)] == list(range(5))


def test_the_layout_does_not_depend_on_parallelism() -> None:
    assert layout(chain(4, 3, par=1)) == layout(chain(4, 3, par=7))


def test_partitions_and_replicas_have_levels_of_their_own() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("copied", Forward, 4).all_grouping("source")
    builder.set_bolt("other", Forward).shuffle_grouping("source")
    found = layout(builder).components
    tags = [found[name].level(copy).tag for name in ("copied", "other") for copy in range(4)]
    assert len(set(tags)) == 8
    assert len({found["source"].level(copy).tag for copy in range(4096)}) == 4096


def test_a_chain_of_one_output_per_input_has_room_for_forty_hops() -> None:
    report = run_built(chain(40))
    assert all(counters.saturated == 0 for counters in report.components.values())


def test_a_chain_that_is_too_deep_keeps_the_order_and_counts() -> None:
    report = run_built(chain(120), viper__jumbo__size=2)
    assert [row[0] for row in report.result("sink")] == ["0" * 121] * 5
    assert [row[1] for row in report.result("sink")] == [n * 3**120 % 100 for n in range(5)]
    assert report.components["hop40.0"].saturated == 0
    assert report.components["hop119.0"].saturated == 5
