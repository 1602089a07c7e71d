"""Topologies for command lines; the source is on worker 1, the bolt ``middle`` on worker 2, the rest on 3."""

from __future__ import annotations

from framework import Bolt, Spout, TopologyBuilder
from framework.operators.sinks import ConsoleSink
from tests.framework.runtime.workers.components import Endless, Numbers
from tests.framework.runtime.workers.dying import StuckWhenRestarted
from tests.framework.runtime.workers.orphaned import Pausing
from tests.framework.runtime.workers.trouble import Broken, Kills, Stuck, Whole


def broken() -> TopologyBuilder:
    return _chain(Numbers, Broken)


def broken_twice() -> TopologyBuilder:
    """The bolt ``middle`` raises in ``process``, and both tasks of ``last`` in ``close``."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("middle", Broken, config={"broken.in": "process"}).shuffle_grouping("source")
    builder.set_bolt("last", Broken, 2, config={"broken.in": "close"}).shuffle_grouping("middle")
    return builder


def stuck() -> TopologyBuilder:
    return _chain(Endless, Stuck)


def dying() -> TopologyBuilder:
    return _chain(Endless, Kills)


def stuck_when_restarted() -> TopologyBuilder:
    return _chain(Endless, StuckWhenRestarted)


def pausing() -> TopologyBuilder:
    return _chain(Endless, Pausing)


def endless() -> TopologyBuilder:
    return _chain(Endless, Whole)


def _chain(source: type[Spout], middle: type[Bolt]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    builder.set_bolt("middle", middle).shuffle_grouping("source")
    builder.set_bolt("console", ConsoleSink).global_grouping("middle")
    return builder
