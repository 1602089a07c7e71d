"""The guarantee for topologies that nobody thought of, with every kind of worker."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from framework.testing.preparing import loaded
from tests.determinism.comparing import SERIAL, first_difference, output_with, watched
from tests.determinism.oracle import Oracle
from tests.determinism.random_shapes import Shape, plans, shapes
from tests.determinism.variants import Variant, kinds

EXAMPLES = {"inline": 60, "thread": 40, "process": 8}


@pytest.mark.parametrize("kind", kinds())
def test_the_output_is_what_sorting_makes(kind: str) -> None:
    @settings(max_examples=EXAMPLES[kind], suppress_health_check=[HealthCheck.too_slow])
    @given(shape=shapes(), plan=plans(kind))
    def check(shape: Shape, plan: Variant) -> None:
        expected = Oracle(loaded(shape.build(serial=True))).output()
        for name, rows in output_with(shape.build(serial=False), plan).items():
            difference = rows != expected[name] and first_difference(expected[name], rows)
            assert not difference, f"{name} differs\n{difference}\n  with {plan.options()}"

    check()


def test_the_serial_run_is_what_sorting_makes() -> None:
    @settings(max_examples=40)
    @given(shape=shapes())
    def check(shape: Shape) -> None:
        assert watched(shape.build(serial=True), SERIAL) == Oracle(loaded(shape.build(serial=True))).output()

    check()


def test_the_drawn_topologies_are_inside_the_guarantee() -> None:
    @settings(max_examples=40)
    @given(shape=shapes())
    def check(shape: Shape) -> None:
        watched(shape.build(serial=False), {}, strict=True)

    check()
