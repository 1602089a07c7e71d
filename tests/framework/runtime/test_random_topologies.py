"""The guarantee for topologies that nobody thought of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework import Bolt, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import Count, Forward, Keep, Row, Timed, drawn, run_built
from tests.portions import at_every_change


@dataclass(frozen=True)
class Node:
    """A bolt of a random topology."""

    cls: type[Bolt]
    args: tuple[Any, ...]
    sources: tuple[int, ...]
    """Numbers of spouts and of earlier bolts."""
    grouping: str


@dataclass(frozen=True)
class Shape:
    """A random topology: spouts 0 to n, then bolts, each reading from some before it."""

    spouts: tuple[tuple[int, int, int], ...]
    """Tuples, how many have the same time, and how far times are apart."""
    nodes: tuple[Node, ...]

    def build(self, par: Callable[[int], int]) -> TopologyBuilder:
        builder = TopologyBuilder()
        for number, (count, every, gap) in enumerate(self.spouts):
            builder.set_spout(f"c{number}", Timed, 1 + number % 2, args=[count, f"{number}:", every, gap])
        for number, node in enumerate(self.nodes, len(self.spouts)):
            declared = builder.set_bolt(f"c{number}", node.cls, par(number), args=list(node.args))
            for source in node.sources:
                if node.grouping == "fields":
                    declared.fields_grouping(f"c{source}", "number")
                else:
                    declared.shuffle_grouping(f"c{source}")
        read = {source for node in self.nodes for source in node.sources}
        sink = builder.set_bolt("sink", CollectingSink)
        for number in range(len(self.spouts) + len(self.nodes)):
            if number not in read or number % 3 == 0:
                sink.global_grouping(f"c{number}")
        return builder


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    small = st.integers(1, 4)
    spouts = draw(st.lists(st.tuples(st.integers(0, 40), small, small), min_size=1, max_size=3))
    nodes: list[Node] = []
    for number in range(draw(st.integers(1, 5))):
        before = st.integers(0, len(spouts) + number - 1)
        sources = tuple(sorted(draw(st.sets(before, min_size=1, max_size=3))))
        kind = draw(st.sampled_from(["forward", "keep", "count"]))
        if kind == "forward":
            nodes.append(Node(Forward, (draw(st.integers(0, 3)), f".{number}"), sources, "shuffle"))
        elif kind == "keep":
            nodes.append(
                Node(
                    Keep, (draw(st.integers(0, 3)), 3), sources, draw(st.sampled_from(["shuffle", "fields"]))
                )
            )
        else:
            nodes.append(Node(Count, (), sources, "fields"))
    return Shape(tuple(spouts), tuple(nodes))


@pytest.mark.parametrize("examples", at_every_change([15, 60]))
def test_the_output_is_that_of_the_serial_run(examples: int) -> None:
    pars_of_all = st.lists(st.integers(1, 4), min_size=8, max_size=8)

    @settings(max_examples=examples)
    @given(shape=shapes(), pars=pars_of_all, seed=st.integers(0, 10_000))
    def check(shape: Shape, pars: list[int], seed: int) -> None:
        _, options = drawn(seed)
        expected = rows(shape, lambda number: 1)
        assert rows(shape, lambda number: pars[number], **options) == expected

    check()


def rows(shape: Shape, par: Callable[[int], int], **options: Any) -> list[Row]:
    found: list[Row] = run_built(shape.build(par), **options).result("sink")
    return found
