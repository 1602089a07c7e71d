"""The same output, byte for byte, for every plan: a sample of the matrix."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.testing.preparing import loaded
from tests.determinism.comparing import difference, first_difference, serial
from tests.determinism.oracle import Oracle
from tests.determinism.sampling import SAMPLED
from tests.determinism.topologies import INSIDE, TOPOLOGIES
from tests.determinism.variants import kinds, parse, sample
from tests.portions import at_every_change
from tests.rotation import determinism_seed

ONCE_WRONG = [
    # A bolt whose output waited for room kept to itself how far it had come: the run stood still.
    "topology=fan par=6 worker=inline workers=1 jumbo=1 seed=0",
    "topology=fan par=6 worker=thread workers=3 jumbo=1 seed=11",
    "topology=fan par=6 worker=process workers=3 jumbo=1 seed=11",
    # What a bolt said at its last tick, behind all event time, was a time to the ticks of the next one.
    "topology=ticked_replicas par=1 worker=inline workers=1 jumbo=64 seed=0",
]
"""Variants that have found a mistake."""
AGAIN = 4
"""The number of times that they run in CI: threads and processes do something else together each time."""


CASES = sorted((number, kind) for kind in kinds() for number in range(SAMPLED[kind]))
"""Numbers in the sample of a kind of worker."""


@pytest.mark.few(2)
@pytest.mark.parametrize(("number", "kind"), at_every_change(CASES, len(kinds())))
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_output_is_that_of_the_serial_run(topology: str, number: int, kind: str) -> None:
    found = difference(sample(topology, kind, SAMPLED[kind], determinism_seed())[number])
    assert found is None, str(found)


@pytest.mark.parametrize("times", at_every_change([1, AGAIN]))
@pytest.mark.parametrize("text", ONCE_WRONG)
def test_what_was_wrong_once(text: str, times: int) -> None:
    for _ in range(times):
        found = difference(parse(text))
        assert found is None, str(found)


WITHOUT_ORACLE = {"ticks", "tick_batches", "recalled_ticks", "windows_by_key", "uneven_spouts"}


@pytest.mark.parametrize("topology", sorted(set(INSIDE) - WITHOUT_ORACLE))
def test_the_serial_run_is_what_sorting_makes(topology: str) -> None:
    """Not for ticks, windows and polled spouts, of which the oracle knows nothing."""
    expected = Oracle(loaded(INSIDE[topology](1))).output()
    for name, rows in serial(topology, 1).items():
        assert rows == expected[name], f"{name}\n{first_difference(expected[name], rows)}"


TELL = """
from hashlib import sha256
from tests.determinism.comparing import serial
from tests.determinism.topologies import TOPOLOGIES
for name in TOPOLOGIES:
    print(name, sha256(repr(sorted(serial(name, 2).items())).encode()).hexdigest())
"""


@pytest.mark.slow
def test_the_serial_run_is_the_same_in_any_process() -> None:
    """The output does not depend on Python's own hash of a text in another process."""
    told = [in_a_process_with_hashes_from(seed) for seed in ("0", "1", "2")]
    assert told[0] == told[1] == told[2]
    assert len(told[0].splitlines()) == len(TOPOLOGIES)


def in_a_process_with_hashes_from(seed: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", TELL],
        env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


@pytest.mark.parametrize("topology", INSIDE)
def test_every_topology_has_something_to_say(topology: str) -> None:
    """Equal outputs mean nothing where hardly a row comes out, or where all rows are alike."""
    rows = serial(topology, 1)["sink"]
    assert len(rows) >= 20
    assert len(set(rows)) >= len(rows) // 4
