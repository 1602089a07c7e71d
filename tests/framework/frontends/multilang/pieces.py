"""Topologies around programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from framework import Spout, TopologyBuilder
from framework.frontends.builder import shell
from framework.model.config import resolve
from framework.model.topology import Topology
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.runtime import RunReport, run
from tests.framework.runtime.pieces import listed, run_built

STOP = {"viper__on__error": "stop"}


def around(
    command: Sequence[str],
    source: type[Spout],
    outputs: Sequence[Any] = ("value",),
    par: int = 1,
    **config: Any,
) -> TopologyBuilder:
    """``source -> bolt -> sink``, where the bolt is a program; its config has its dots written as ``__``."""
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    own = {key.replace("__", "."): value for key, value in config.items()}
    bolt = builder.set_bolt("bolt", shell(*command, outputs=outputs), par, config=own)
    bolt.shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    return builder


def behind(command: Sequence[str], outputs: Sequence[Any] = ("value",), par: int = 1) -> TopologyBuilder:
    """``spout -> sink``, where the spout is a program."""
    builder = TopologyBuilder()
    builder.set_spout("spout", shell(*command, outputs=outputs), par)
    builder.set_bolt("sink", CollectingSink).global_grouping("spout")
    return builder


def run_bolt(command: Sequence[str], *rows: Any, **options: Any) -> RunReport:
    """Run a program over some rows; options have their dots written as ``__``. An error stops it."""
    return run_built(around(command, listed(*rows)), **{**STOP, **options})


def run_spout(command: Sequence[str], limits: dict[str, Any] | None = None, **options: Any) -> RunReport:
    """Run a program that is a spout, till it says that it has ended if there are no limits."""
    return run_built(behind(command), limits, **{**STOP, **options})


def run_topology(topology: Topology, limits: dict[str, Any] | None = None, **options: Any) -> RunReport:
    """Run a topology; options have their dots written as ``__``."""
    named = {key.replace("__", "."): value for key, value in {**STOP, **options}.items()}
    settings, problems = resolve(topology, options={"viper.worker": "inline", **named})
    assert not problems, problems
    return run(make_plan(topology, settings), settings, **(limits or {}))
