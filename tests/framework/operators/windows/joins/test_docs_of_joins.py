"""The examples of docs/joins.md run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framework import JoinBolt, Spout, StreamBuilder, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import run_built

TEXT = (Path(__file__).parents[5] / "docs" / "joins.md").read_text(encoding="utf-8")


class Orders(Spout):
    """Emits two orders, an hour apart."""

    outputs = ["order", "item", "at"]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "s"}
    rows = [[1, "pen", 0], [2, "ink", 3600]]

    def tuples(self) -> Iterator[list[Any]]:
        yield from self.rows


class Payments(Orders):
    """Emits a payment before its order, one in time, and one too late."""

    outputs = ["order", "amount", "at"]
    rows = [[2, 5, 3599], [1, 7, 3600], [1, 8, 3601]]


def test_the_examples_join() -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL):
        exec(block, names)
    builder = TopologyBuilder()
    builder.set_spout("orders", Orders)
    builder.set_spout("payments", Payments)
    fields = "order", "item", "at", "order2", "amount", "at2"
    names["JoinBolt"] = lambda *args, **given: JoinBolt(*args[:3], fields, **given)
    names["declare"](builder)
    builder.set_bolt("sink", CollectingSink).global_grouping("paid")
    assert run_built(builder).result("sink") == [(1, "pen", 0, 1, 7, 3600)]
    streams = StreamBuilder()
    names["declare_streams"](streams, Orders, Payments)
    assert "join" in {component.id for component in streams.build("paid").components}
