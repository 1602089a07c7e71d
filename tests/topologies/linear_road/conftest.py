"""The fixtures that tests of Linear Road share: its modules, its input, and its right output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.framework.runtime.workers.conftest import _ends_and_leaves_nothing
from tests.topologies.linear_road.reference import Reference

__all__ = ["_ends_and_leaves_nothing"]

TOPOLOGIES = Path(__file__).parents[3] / "topologies"
SECONDS = 1200
SEED = 316
TRAFFIC = {
    "vehicles": 2.0,
    "peak_s": 60.0,
    "trip": 8.0,
    "crowd": 50.0,
    "accidents": 1 / 30,
    "balances": 0.2,
}
"""Few vehicles of which, with that seed, many come by some segments, and each rule decides an answer."""
Lines = list[tuple[int, ...]]
Paid = Mapping[tuple[int, int, int], int]
"""By vehicle, day and expressway."""


@pytest.fixture(scope="module", autouse=True)
def application() -> Iterator[Any]:
    """The modules of the application."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        __import__("linear_road_builder")
        __import__("linear_road.generator")
        yield sys.modules["linear_road_builder"]


@pytest.fixture(scope="module")
def generator(application: Any) -> Any:
    return sys.modules["linear_road.generator"]


@pytest.fixture(scope="module")
def lines(generator: Any) -> Lines:
    drawn = generator.Generator(1, SEED, generator.Traffic(**TRAFFIC))
    return [tuple(map(int, line)) for _ in range(SECONDS) for line in drawn.second()]


@pytest.fixture(scope="module")
def paid(generator: Any, lines: Lines) -> Paid:
    """Of every vehicle but some."""
    vehicles = max(line[2] for line in lines) * 9 // 10
    read = (map(int, line.split(",")) for line in generator.history(vehicles, 1, 20))
    return {(vid, day, xway): toll for vid, day, xway, toll in read}


@pytest.fixture
def history(paid: Paid, tmp_path: Path) -> str:
    """The file that says so."""
    path = tmp_path / "history.csv"
    path.write_text("".join(f"{vid},{day},{xway},{toll}\n" for (vid, day, xway), toll in paid.items()))
    return str(path)


@pytest.fixture(scope="module")
def reference(lines: Lines, paid: Paid) -> tuple[Reference, list[str]]:
    """The plain loop once it is done, and its answers."""
    done = Reference(paid)
    return done, list(done.answers(lines))


@pytest.fixture(scope="module")
def expected(reference: tuple[Reference, list[str]]) -> list[str]:
    return reference[1]
