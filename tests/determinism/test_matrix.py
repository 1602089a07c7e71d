"""The same output, byte for byte, for every plan: a sample of the matrix."""

from __future__ import annotations

import pytest

from tests.determinism.comparing import difference, serial
from tests.determinism.sampling import SAMPLED, sample_seed
from tests.determinism.topologies import INSIDE, TOPOLOGIES
from tests.determinism.variants import kinds, parse, sample

ONCE_WRONG = [
    # A bolt whose output waited for room kept to itself how far it had come.
    "topology=fan par=6 worker=inline workers=1 jumbo=1 seed=0",
    "topology=fan par=6 worker=inline workers=1 jumbo=1 seed=18",
    # What a bolt said at its last tick, behind all event time, was a time to the ticks of the next one.
    "topology=ticked_replicas par=1 worker=inline workers=1 jumbo=64 seed=0",
]
"""Variants that have found a mistake."""


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_output_is_that_of_the_serial_run(topology: str, kind: str) -> None:
    for variant in sample(topology, kind, SAMPLED[kind], sample_seed()):
        found = difference(variant)
        assert found is None, str(found)


@pytest.mark.parametrize("text", ONCE_WRONG)
def test_what_was_wrong_once(text: str) -> None:
    found = difference(parse(text))
    assert found is None, str(found)


@pytest.mark.parametrize("topology", INSIDE)
def test_every_topology_has_something_to_say(topology: str) -> None:
    """Equal outputs mean nothing where hardly a row comes out, or where all rows are alike."""
    rows = serial(topology, 1)["sink"]
    assert len(rows) >= 20
    assert len(set(rows)) >= len(rows) // 4
