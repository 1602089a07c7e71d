"""Walks over the topology's graph."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from framework.model.topology import (
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
)
from framework.model.topology.graph import depths, edges, feedback_edges, reachable, rings


def topology(**sources: str) -> Topology:
    """A topology from ``target="source source:stream"``; what has no source is a spout."""
    return Topology("t", tuple(_component(name, inputs.split()) for name, inputs in sources.items()))


def _component(name: str, sources: list[str]) -> ComponentSpec:
    inputs = []
    for source in sources:
        component, _, stream = source.partition(":")
        inputs.append(Input(component, Grouping.SHUFFLE, stream or "default"))
    role = Role.BOLT if sources else Role.SPOUT
    return ComponentSpec(name, role, PythonImplementation(ObjectDef("m.C")), inputs=tuple(inputs))


def test_a_chain_has_growing_depths_and_no_feedback() -> None:
    chain = topology(lines="", words="lines", counts="words")
    assert depths(chain) == {"lines": 0, "words": 1, "counts": 2}
    assert feedback_edges(chain) == frozenset()


def test_depth_is_the_longest_way() -> None:
    fork = topology(source="", long="source", longer="long", join="source longer")
    assert depths(fork)["join"] == 3


def test_the_edge_that_closes_a_cycle_is_the_one_that_leads_back_towards_the_spout() -> None:
    loop = topology(source="", first="source second:again", second="first")
    assert feedback_edges(loop) == {("second", "again", "first")}
    assert depths(loop) == {"source": 0, "first": 1, "second": 2}


def test_a_component_may_feed_itself() -> None:
    loop = topology(source="", bolt="source bolt")
    assert feedback_edges(loop) == {("bolt", "default", "bolt")}


def test_both_streams_of_a_pair_go_back() -> None:
    loop = topology(source="", first="source second:a second:b", second="first")
    assert feedback_edges(loop) == {("second", "a", "first"), ("second", "b", "first")}


def test_components_of_one_cycle_share_a_ring() -> None:
    loops = topology(source="", first="source second", second="first", third="second third", last="third")
    found = rings(loops)
    assert found["first"] == found["second"]
    assert len({found[name] for name in ("source", "first", "third", "last")}) == 4


def test_the_first_spout_decides_which_edge_goes_back() -> None:
    entered_at_a = topology(one="", two="", a="one b", b="two a")
    entered_at_b = topology(two="", one="", a="one b", b="two a")
    assert feedback_edges(entered_at_a) == {("b", "default", "a")}
    assert feedback_edges(entered_at_b) == {("a", "default", "b")}


def test_a_spout_defined_last_is_still_where_the_walk_begins() -> None:
    loop = topology(a="source b", b="a", source="")
    assert feedback_edges(loop) == {("b", "default", "a")}


def test_an_island_is_not_reachable_and_is_opened_where_it_is_defined_first() -> None:
    island = topology(source="", a="b", b="a")
    assert reachable(island) == {"source"}
    assert feedback_edges(island) == {("b", "default", "a")}
    assert depths(island) == {"source": 0, "a": 0, "b": 1}


def test_ticks_reach_a_component() -> None:
    clocked = topology(source="", clock="__system:__tick", after="clock")
    assert reachable(clocked) == {"source", "clock", "after"}


def test_unknown_sources_are_no_edges() -> None:
    assert edges(topology(source="", bolt="source nobody")) == (("source", "default", "bolt"),)


def test_a_long_chain_needs_no_recursion() -> None:
    names = [f"c{n}" for n in range(5000)]
    chain = topology(c0="", **{name: source for source, name in pairwise(names)})
    assert depths(chain)["c4999"] == 4999


@given(st.lists(st.lists(st.integers(0, 7), max_size=4), min_size=1, max_size=8))
def test_without_its_feedback_edges_every_graph_can_be_sorted(sources: list[list[int]]) -> None:
    graph = topology(**{f"c{n}": " ".join(f"c{s}" for s in inputs) for n, inputs in enumerate(sources)})
    forward = set(edges(graph)) - feedback_edges(graph)
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for source, _, target in forward:
        sorter.add(target, source)
    sorter.prepare()
    depth = depths(graph)
    assert all(depth[source] < depth[target] for source, _, target in forward)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24))
def test_a_ring_is_who_reaches_each_other(pairs: list[tuple[int, int]]) -> None:
    sources = {f"c{n}": " ".join(f"c{a}" for a, b in pairs if b == n) for n in range(8)}
    found = rings(topology(**sources))
    ways = {n: {b for a, b in pairs if a == n} for n in range(8)}
    for _ in range(8):
        ways = {n: near.union(*(ways[m] for m in near)) for n, near in ways.items()}
    for a in range(8):
        for b in range(8):
            assert (found[f"c{a}"] == found[f"c{b}"]) == (a == b or (b in ways[a] and a in ways[b]))
