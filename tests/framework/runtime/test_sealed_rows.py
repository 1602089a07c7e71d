"""Rows that a batch bolt emits as they came: taken as they are only where nobody can change their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from framework import BatchBolt, Rows, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink
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
