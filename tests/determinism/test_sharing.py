"""The guarantee where tasks claim their input: the output is what sorting makes, whoever claims what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from framework import Grouping
from framework.testing.preparing import loaded, planned
from tests.determinism.comparing import first_difference, unwatched
from tests.determinism.components import Gather, History, Settle
from tests.determinism.oracle import Oracle
from tests.determinism.random_shapes import STATEFUL, Node, Shape, plans, shapes
from tests.determinism.special_components import Asks
from tests.determinism.variants import Variant, kinds
from tests.portions import at_every_change

EXAMPLES = {"inline": (20, 100), "thread": (20, 100), "process": (6, 20)}
"""The number of topologies that are drawn for each kind of worker: at every change, and in CI."""
BY_TASK = (History, Gather, Settle, *STATEFUL)
"""Bolts whose tuples go by key, or to all tasks."""
CASES = [(kind, EXAMPLES[kind][part]) for part in (0, 1) for kind in kinds()]


def claiming(shape: Shape) -> Shape:
    """The same with a shuffle in the place of each grouping of a bolt that keeps no state."""

    def shuffled(node: Node) -> Node:
        if node.cls in BY_TASK:
            return node
        return replace(node, reads=tuple(replace(read, grouping=Grouping.SHUFFLE) for read in node.reads))

    return replace(shape, nodes=tuple(shuffled(node) for node in shape.nodes))


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "examples"), at_every_change(CASES, len(kinds())))
def test_claims_show_in_no_output(kind: str, examples: int) -> None:
    gates = 0

    @settings(
        max_examples=examples, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
    )
    @given(shape=shapes(), plan=plans(kind), scaled=st.none() | st.integers(0, 1000))
    def check(shape: Shape, plan: Variant, scaled: int | None) -> None:
        nonlocal gates
        assume(not any(node.cls is Asks for node in shape.nodes))
        shape = claiming(shape)
        options = {**plan.options(), "viper.sharing": "claims", "viper.merge.layer": "communication"}
        made, _ = planned(loaded(shape.build(serial=False)), options)
        gates += sum(channel.claims for channel in made.channels)
        expected = Oracle(loaded(shape.build(serial=True))).output()["sink"]
        found = unwatched(shape.build(serial=False), options, scaled)["sink"]
        assert found == expected, (
            f"{first_difference(expected, found)}\n  with {plan}, {options}, scaled by {scaled}\n  of {shape}"
        )

    check()
    assert gates > examples / 4, "hardly any bolt has claimed anything"
