"""Rows that a bolt emits as they came: taken as they are only where nobody can change their values."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from framework import BatchBolt, Rows, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import bolt, built, listed, run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from viper.payload import Rows as Payload

COUNT = 200


class Brings(Spout):
    """Emits numbers with a list, or with a text."""

    outputs = ["number", "value"]

    def __init__(self, holds_lists: bool) -> None:
        super().__init__()
        self._holds_lists = holds_lists

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(COUNT):
            yield [number, [number] if self._holds_lists else str(number)]


class EmitsAndChanges(BatchBolt):
    """Emits every other tuple as it came, and changes the lists that it keeps."""

    outputs = ["number", "value"]
    config = {"viper.mutates": True}

    def process_rows(self, rows: Rows) -> None:
        of = [index for index, row in enumerate(rows) if row[0] % 2]
        self.emit_rows([rows[index] for index in of], of)
        for _, value in rows:
            if isinstance(value, list):
                value.append("changed")


@every_kind
@pytest.mark.parametrize("holds_lists", [True, False])
def test_what_was_emitted_stays_as_it_was(workers: Workers, holds_lists: bool) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Brings, args=[holds_lists])
    builder.set_bolt("keep", EmitsAndChanges).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("keep")
    report = workers.run(builder)
    expected = [(number, [number] if holds_lists else str(number)) for number in range(1, COUNT, 2)]
    assert list(map(tuple, report.result("sink"))) == expected


@pytest.mark.parametrize("sealed", [True, False])
def test_parts_of_sealed_rows_are_sealed(sealed: bool) -> None:
    whole = Payload([(1,), (2,), (3,)], sealed=sealed)
    assert whole.slice(1, 2).sealed is sealed
    assert not whole.joined(Payload([(4, [])], mutable=True)).sealed  # type: ignore[attr-defined]


class Number(int):
    """May carry attributes."""


DRAWN: Final[tuple[Callable[[random.Random], Any], ...]] = (
    lambda draw: draw.choice((True, None, float("nan"), 2**70, "x", b"x", (1, ("y",)))),
    lambda draw: datetime.date(2020, 1, draw.randint(1, 31)),
    lambda draw: [draw.random(), [1]],
    lambda draw: (1, [draw.random()]),
    lambda draw: Number(draw.randint(0, 9)),
)
"""Plain values, immutable ones that are not plain, and three kinds that can be changed."""


@pytest.mark.parametrize("seed", range(8))
def test_values_that_go_on_as_they_are_arrive_as_copies_of_them_do(seed: int) -> None:
    """Some seeds draw rows that are all sealed, others some that are not."""
    draw = random.Random(seed)
    kinds = DRAWN[: 1 + seed % len(DRAWN)]
    rows = [[draw.choice(kinds)(draw) for _ in range(3)] for _ in range(50)]

    def passing_on(copies: bool) -> Any:
        def process(self: Any, tup: Any) -> None:
            self.emit(list(tup.values) if copies else tup.values)
            for value in tup.values:
                if isinstance(value, list):
                    value.append("changed")
            self.emit(list(tup.values) if copies else tup.values)

        return bolt(process, ("a", "b", "c"))

    def arrived(copies: bool) -> str:
        source = listed(*rows, outputs=("a", "b", "c"))
        return repr(run_built(built(source, passing_on(copies), passing_on(copies))).result("sink"))

    found = arrived(copies=False)
    assert found == arrived(copies=True)
    assert ("changed" in found) == any(isinstance(value, list) for row in rows for value in row)
