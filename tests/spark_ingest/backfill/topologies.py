"""Topologies of the components here."""

from __future__ import annotations

import random

from framework import Grouping, Topology, TopologyBuilder
from framework.operators.sinks import CountingSink
from tests.spark_ingest.backfill.components import Events, Large, Meet, Names, PerItem, Sums


class Shop(Topology):
    """Three branches with different keys from one spout; one continues by another key, two meet again."""

    events = Events.spec(par=2)
    sums = Sums.spec(inputs={events: Grouping.fields("user")}, par=2)
    large = Large.spec(inputs={events: Grouping.SHUFFLE}, par=2)
    items = PerItem.spec(inputs={large: Grouping.fields("item"), events: Grouping.fields("item")}, par=3)
    names = Names.spec(inputs={events: Grouping.SHUFFLE})
    meet = Meet.spec(inputs={sums["odd"]: Grouping.fields("user"), names: Grouping.fields("name")}, par=2)
    sink = CountingSink.spec(inputs={meet: Grouping.GLOBAL, items: Grouping.ALL}, par=2)


SHOP = ("sums", "sums/odd", "large", "items", "meet")
"""All streams that its bolts emit."""


def seeded(seed: int) -> TopologyBuilder:
    """The shop with rows and parallelism drawn from a seed."""
    drawn = random.Random(seed)

    def par() -> int:
        return drawn.randint(1, 3)

    builder = TopologyBuilder()
    partitions, rows = drawn.randint(1, 4), drawn.randint(0, 120)
    builder.set_spout("events", Events, par(), kwargs={"seed": seed, "partitions": partitions, "rows": rows})
    builder.set_bolt("sums", Sums, par()).fields_grouping("events", "user")
    builder.set_bolt("large", Large, par()).shuffle_grouping("events")
    items = builder.set_bolt("items", PerItem, par()).fields_grouping("large", "item")
    if drawn.random() < 0.7:
        items.fields_grouping("events", "item")
    builder.set_bolt("names", Names, par()).shuffle_grouping("events")
    meet = builder.set_bolt("meet", Meet, par()).fields_grouping("names", "name")
    meet.fields_grouping("sums", "user", stream="odd") if drawn.random() < 0.7 else None
    return builder
