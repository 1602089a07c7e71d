"""The same output, byte for byte, while those bolts get other tasks that can be scaled."""

from __future__ import annotations

import pytest

from framework.testing.preparing import loaded
from tests.determinism.comparing import difference
from tests.determinism.scaling import growing
from tests.determinism.topologies import INSIDE
from tests.determinism.variants import kinds, sample
from tests.portions import at_every_change
from tests.rotation import determinism_seed

DRAWN = 60
"""The number of variants of each topology among which the scaled ones are drawn."""
CASES = [(number, kind) for number in range(3) for kind in kinds()]
NONE_TO_SCALE = {"gathered"}
"""Topologies without a bolt that can be scaled."""


@pytest.mark.few(1)
@pytest.mark.parametrize(("number", "kind"), at_every_change(CASES, len(kinds())))
@pytest.mark.parametrize("topology", sorted(set(INSIDE) - NONE_TO_SCALE))
def test_the_output_is_that_of_the_serial_run(topology: str, number: int, kind: str) -> None:
    variants = sample(topology, kind, DRAWN, determinism_seed())
    scaled = [variant for variant in variants if variant.scaled is not None and not variant.watched]
    found = difference(scaled[number])
    assert found is None, str(found)


@pytest.mark.parametrize("topology", INSIDE)
def test_a_topology_has_a_bolt_that_can_be_scaled(topology: str) -> None:
    scalable = any(
        c.config.get("viper.parallelism.max") for c in growing(loaded(INSIDE[topology](2)), {}).bolts
    )
    assert scalable == (topology not in NONE_TO_SCALE)
