"""Mistakes that the sample must see: one that passes with any of them proves nothing."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from framework.operators.state.pickled import PickledValue
from framework.planning.routing.router import Row, Shuffle, Targets
from framework.planning.traits import Traits
from framework.runtime.durability.state import TaskState
from framework.runtime.exchange.output import Output
from framework.runtime.order.positions.lineage import Lineage
from tests.determinism.comparing import Difference, difference, serial
from tests.determinism.sampling import SAMPLED
from tests.determinism.topologies import FOR_ONE_PARALLELISM, INSIDE, TOPOLOGIES
from tests.determinism.variants import PARALLELISMS, parse, sample
from viper.columns.payload import Columns
from viper.hashing import groups_of_task
from viper.link import Link
from viper.payload import Payload, Rows
from viper.position import LEAST, Position, Positions
from viper.reader import Reader, Run


@pytest.fixture(autouse=True, scope="module")
def _right_references() -> None:
    """The serial runs, made before anything is planted: else they would be wrong in the same way."""
    for topology in TOPOLOGIES:
        for par in (1,) if topology in INSIDE else PARALLELISMS:
            serial(topology, par)


SEED = 1
"""The seed of the sample here, whichever is taken elsewhere."""


def found_by_the_sample(remembered: str, topologies: Iterable[str]) -> Difference | None:
    """A difference in the sample of some topologies, in this process, where the mistake is planted.

    The variant that is remembered to have found it comes first; the rest is there for when it no longer does.
    """
    sampled = (v for name in topologies for v in sample(name, "inline", SAMPLED["inline"], SEED))
    differences = map(difference, itertools.chain([parse(remembered)], sampled))
    return next((found for found in differences if found is not None), None)


def ties_by_source(self: Reader, limit: int, into: Positions, *, borrows: bool) -> tuple[list[Run], None]:
    """As `Reader.get_interleaved`, but tuples of the same time come source by source."""
    first = len(into)
    runs = self.get_ready(limit, into)
    single = [(source, payload, at + i, 1) for source, payload, at, count in runs for i in range(count)]
    times = [into[first + index].ts for index in range(len(single))]
    order = sorted(range(len(single)), key=lambda index: (times[index], single[index][0]))
    return [single[index] for index in order], None


def begins_anew(self: Shuffle, rows: Sequence[Row]) -> Targets:
    """As `Shuffle.targets`, but every buffer begins with the first task."""
    return array("H", [index % self._tasks for index in range(len(rows))])


def by_type_too(fields: Sequence[int], place: Callable[[Any], int]) -> Any:
    """As `ByKey`, but 1, 1.0 and True are three keys."""

    class Router:
        def targets(self, rows: Sequence[Row]) -> Targets:
            return array("H", [place(repr([row[field] for field in fields])) for row in rows])

    return Router()


place = Lineage.place


def forgets(self: Lineage, *arguments: Any) -> None:
    """As `Lineage.place`, but an input that is cut into stretches counts its outputs from the start."""
    place(self, *arguments)
    self._descent.go_below(LEAST, 0)


heartbeat = Output.heartbeat


def too_early(self: Output, position: Position) -> None:
    """As `Output.heartbeat`, but it promises that nothing more comes at this time."""
    heartbeat(self, Position(position.ts + 1, 0, 0))


def by_reference(self: Rows) -> Rows:
    """As `Rows.own`, but all consumers get the same objects."""
    return self


partition = Columns.partition


def backwards(self: Columns, targets: Any, parts: int) -> list[Columns]:
    """As `Columns.partition`, but each part has its tuples backwards."""
    made = partition(self, targets, parts)
    return [part.ordered(array("I", range(len(part)))[::-1]) for part in made]


joined = Columns.joined


def in_front(self: Columns, *others: Payload) -> Payload:
    """As `Columns.joined`, but columns come before those that wait."""
    return (
        joined(others[0], self)
        if len(others) == 1 and isinstance(others[0], Columns)
        else joined(self, *others)
    )


cut = Link._cut


def from_its_start(self: Link, count: int) -> Iterator[Run]:
    """As `Link._cut`, but a jumbo tuple of which some was taken begins from the start."""
    for source, jumbo, _, size in cut(self, count):
        yield source, jumbo, 0, size


def beyond(self: Link) -> Position:
    """As `Link.watermark`, but it does not look at the tuples that wait."""
    return self.floor()


def of_the_next_task(index: int, tasks: int, groups: int) -> range:
    """As `groups_of_task`, but the first group of each task but the first is taken to be the one's before."""
    owned = groups_of_task(index, tasks, groups)
    return range(owned.start + (index > 0), owned.stop + (index < tasks - 1))


def first_field(kind: Any, names: Sequence[str], traits: Traits) -> tuple[str, ...]:
    """As `_key_fields`, but the first field alone is the key of the state."""
    return tuple(names[:1]) or traits.state_key


def nothing_goes_back(self: TaskState) -> None:
    """As `TaskState.back`, but all stays as the tuple that raised has left it."""


def only_tables_go_back(self: TaskState) -> None:
    """As `TaskState.back`, but Python's values stay as the tuple that raised has left them."""
    self.scope.back()


look = PickledValue._look


def last_changed(self: PickledValue) -> Any:
    """As `PickledValue._look`, but it stays at the key that was changed last in this slice."""
    dirty = self._values._dirty
    return next(reversed(dirty.values())) if dirty else look(self)


def not_behind_the_slice(self: PickledValue) -> None:
    """As `PickledValue.flush`, but what it holds back is given up in the place of being written."""
    for _ in self._values.flush():
        pass
    self._values._kept.clear()


PLANTED: dict[str, tuple[str, Any, str]] = {
    "ties are broken by source": (
        "viper.reader.Reader.get_interleaved",
        ties_by_source,
        "topology=filtered_1 par=2 worker=inline workers=1 jumbo=2 seed=7",
    ),
    "keys are placed by their types": (
        "framework.planning.routing.router.ByKey",
        by_type_too,
        "topology=keyed par=4 worker=inline workers=1 jumbo=2 seed=16",
    ),
    "outputs forget their parent": (
        "framework.runtime.order.positions.lineage.Lineage.place",
        forgets,
        "topology=groupings par=2 worker=inline workers=1 jumbo=1 seed=16",
    ),
    "a heartbeat comes too early": (
        "framework.runtime.exchange.output.Output.heartbeat",
        too_early,
        "topology=filtered_1 par=3 worker=inline workers=1 jumbo=2 seed=19",
    ),
    "columns are divided backwards": (
        "viper.columns.payload.Columns.partition",
        backwards,
        "topology=streams par=2 worker=inline workers=1 jumbo=4096 seed=3",
    ),
    "columns come before those that wait": (
        "viper.columns.payload.Columns.joined",
        in_front,
        "topology=bursts par=6 worker=inline workers=1 jumbo=7 seed=6",
    ),
    "a link forgets how much was taken": (
        "viper.link.Link._cut",
        from_its_start,
        "topology=chain par=1 worker=inline workers=1 jumbo=64 seed=1",
    ),
    "a link is ahead of its tuples": (
        "viper.link.Link.watermark",
        beyond,
        "topology=diamond par=1 worker=inline workers=1 jumbo=64 seed=1",
    ),
    "a key group is taken for the next task's": (
        "framework.runtime.coordination.ownership.groups_of_task",
        of_the_next_task,
        "topology=recalled par=4 worker=inline workers=1 jumbo=7 seed=3",
    ),
    "the first field alone is the key of the state": (
        "framework.planning.keys._key_fields",
        first_field,
        "topology=recalled par=1 worker=inline workers=1 jumbo=7 seed=3",
    ),
    "what a tuple has changed that raised is left": (
        "framework.runtime.durability.state.TaskState.back",
        nothing_goes_back,
        "topology=recalled par=2 worker=inline workers=1 jumbo=7 seed=3",
    ),
    "Python's values are left as a tuple made them that raised": (
        "framework.runtime.durability.state.TaskState.back",
        only_tables_go_back,
        "topology=recalled par=2 worker=inline workers=1 jumbo=7 seed=3",
    ),
    "state stays at the key of the tuple before": (
        "framework.operators.state.pickled.PickledValue._look",
        last_changed,
        "topology=recalled par=2 worker=inline workers=1 jumbo=7 seed=3",
    ),
    "Python's values are not written behind a slice": (
        "framework.operators.state.pickled.PickledValue.flush",
        not_behind_the_slice,
        "topology=recalled par=2 worker=inline workers=1 jumbo=7 seed=3",
    ),
    "values are shared": (
        "viper.payload.Rows.own",
        by_reference,
        "topology=by_value par=1 worker=inline workers=1 jumbo=1 seed=12",
    ),
}
"""Each mistake: what is replaced, by what, and a variant of the sample that was seen to find it quickly."""
SHUFFLE = "topology=where par=3 worker=inline workers=1 jumbo=2 seed=13"


@pytest.mark.parametrize("mistake", PLANTED)
def test_the_sample_sees(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced, by, remembered = PLANTED[mistake]
    monkeypatch.setattr(replaced, by)
    assert found_by_the_sample(remembered, reversed(INSIDE)) is not None


def test_the_sample_sees_a_shuffle_that_begins_anew_with_each_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the guarantee nobody could tell: there, it does not matter where a shuffled tuple goes."""
    monkeypatch.setattr(Shuffle, "targets", begins_anew)
    assert found_by_the_sample(SHUFFLE, FOR_ONE_PARALLELISM) is not None
