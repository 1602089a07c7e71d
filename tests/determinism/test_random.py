"""The guarantee for topologies that nobody thought of, with every kind of worker."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings

from framework import Grouping
from framework.testing.preparing import loaded
from tests.determinism.comparing import SERIAL, first_difference, output_with, watched
from tests.determinism.components import Gather, Keep
from tests.determinism.oracle import Oracle
from tests.determinism.random_shapes import Node, Read, Shape, plans, shapes
from tests.determinism.special_components import Asks
from tests.determinism.variants import Variant, kinds
from tests.portions import at_every_change

EXAMPLES = {"inline": (15, 60), "thread": (10, 40), "process": (4, 8)}
"""The number of topologies that are drawn for each kind of worker: at every change, and in CI."""
CASES = [(kind, EXAMPLES[kind][part]) for part in (0, 1) for kind in kinds()]

STOOD_STILL = Shape(
    spouts=((1, 17, 2, 1), (1, 18, 1, 2), (2, 10, 4, 1)),
    nodes=(
        Node(
            Asks, (), (Read(1, "default", Grouping.LOCAL_OR_SHUFFLE), Read(2, "default", Grouping.GLOBAL)), 1
        ),
        Node(Gather, (2,), (Read(3, "default", Grouping.fields("key")),), 4),
        Node(Keep, (0,), (Read(2, "default", Grouping.LOCAL_OR_SHUFFLE),), 6),
    ),
)
"""Its last emit asked who receives it: nothing was left of which to say that it had gone out."""


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "examples"), at_every_change(CASES, len(kinds())))
def test_the_output_is_what_sorting_makes(kind: str, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(shape=shapes(), plan=plans(kind))
    @example(shape=STOOD_STILL, plan=Variant("random", 0, kind, 1, 1, 2))
    def check(shape: Shape, plan: Variant) -> None:
        difference = difference_of(shape, plan)
        assert difference is None, f"{difference}\n  with {plan}: {plan.form}, {plan.options()}\n  of {shape}"

    check()


def difference_of(shape: Shape, plan: Variant) -> str | None:
    """Describe how a plan's output differs from that of sorting, or why there is none."""
    expected = Oracle(loaded(shape.build(serial=True))).output()
    try:
        found = output_with(shape.build(serial=False), plan)
    except Exception as error:
        return f"the run raised {type(error).__name__}: {error}"
    for name, rows in found.items():
        if rows != expected[name]:
            return f"{name} differs\n{first_difference(expected[name], rows)}"
    return None


@pytest.mark.parametrize("examples", at_every_change([10, 40]))
def test_the_serial_run_is_what_sorting_makes(examples: int) -> None:
    @settings(max_examples=examples)
    @given(shape=shapes())
    def check(shape: Shape) -> None:
        assert watched(shape.build(serial=True), SERIAL) == Oracle(loaded(shape.build(serial=True))).output()

    check()


@pytest.mark.parametrize("examples", at_every_change([10, 40]))
def test_the_drawn_topologies_are_inside_the_guarantee(examples: int) -> None:
    @settings(max_examples=examples)
    @given(shape=shapes())
    def check(shape: Shape) -> None:
        watched(shape.build(serial=False), {}, strict=True)

    check()
