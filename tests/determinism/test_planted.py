"""Mistakes that the sample must see: one that passes with any of them proves nothing."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from framework.routing.router import RoundRobin, Row, Targets
from framework.runtime.edges.output import Output
from framework.runtime.positions.lineage import Lineage
from tests.determinism.comparing import Difference, difference, serial
from tests.determinism.sampling import SAMPLED, sample_seed
from tests.determinism.topologies import FOR_ONE_PARALLELISM, INSIDE, TOPOLOGIES
from tests.determinism.variants import PARALLELISMS, sample
from viper.payload import Rows
from viper.position import LEAST, Position, Positions
from viper.reader import Reader, Run


@pytest.fixture(autouse=True, scope="module")
def _right_references() -> None:
    """The serial runs, made before anything is planted: else they would be wrong in the same way."""
    for topology in TOPOLOGIES:
        for par in (1,) if topology in INSIDE else PARALLELISMS:
            serial(topology, par)


def found_by_the_sample(topologies: Iterable[str]) -> Difference | None:
    """A difference in the sample of some topologies, in this process, where the mistake is planted."""
    variants = (
        variant
        for topology in topologies
        for variant in sample(topology, "inline", SAMPLED["inline"], sample_seed())
    )
    return next((found for found in map(difference, variants) if found is not None), None)


def ties_by_source(self: Reader, limit: int, into: Positions) -> list[Run]:
    """As `Reader.get_ready`, but tuples of the same time come source by source."""
    first = len(into)
    runs = get_ready(self, limit, into)
    single = [(source, payload, at + i, 1) for source, payload, at, count in runs for i in range(count)]
    times = [into[first + index].ts for index in range(len(single))]
    order = sorted(range(len(single)), key=lambda index: (times[index], single[index][0]))
    return [single[index] for index in order]


get_ready = Reader.get_ready


def begins_anew(self: RoundRobin, rows: Sequence[Row]) -> Targets:
    """As `RoundRobin.targets`, but every buffer begins with the first task."""
    return array("H", [index % self._tasks for index in range(len(rows))])


def by_type_too(fields: Sequence[int], place: Callable[[Any], int]) -> Any:
    """As `ByKey`, but 1, 1.0 and True are three keys."""

    class Router:
        def targets(self, rows: Sequence[Row]) -> Targets:
            return array("H", [place(repr([row[field] for field in fields])) for row in rows])

    return Router()


remember = Lineage._remember


def forgets(self: Lineage, marks: memoryview, before: int) -> None:
    """As `Lineage._remember`, but an input that is cut into several stretches counts its outputs anew."""
    remember(self, marks, before)
    self._parent = LEAST


heartbeat = Output.heartbeat


def too_early(self: Output, position: Position) -> None:
    """As `Output.heartbeat`, but it promises that nothing more comes at this time."""
    heartbeat(self, Position(position.ts + 1, 0, 0))


def by_reference(self: Rows) -> Rows:
    """As `Rows.own`, but all consumers get the same objects."""
    return self


PLANTED: dict[str, tuple[str, Any]] = {
    "ties are broken by source": ("viper.reader.Reader.get_ready", ties_by_source),
    "keys are placed by their types": ("framework.routing.router.ByKey", by_type_too),
    "outputs forget their parent": ("framework.runtime.positions.lineage.Lineage._remember", forgets),
    "a heartbeat comes too early": ("framework.runtime.edges.output.Output.heartbeat", too_early),
    "values are shared": ("viper.payload.Rows.own", by_reference),
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_the_sample_sees(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*PLANTED[mistake])
    assert found_by_the_sample(reversed(INSIDE)) is not None


def test_the_sample_sees_a_shuffle_that_begins_anew_with_each_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the guarantee nobody could tell: there, it does not matter where a shuffled tuple goes."""
    monkeypatch.setattr(RoundRobin, "targets", begins_anew)
    assert found_by_the_sample(FOR_ONE_PARALLELISM) is not None
