"""Applications whose input does not end while they are measured, as targets of ``viper run``.

Each function is an application of ``topologies/``, tuple by tuple or, with ``_columns`` after its name, on
columns; components are named as there. Their sinks count the tuples that they get.

    viper profile benchmarks/planner/targets.py:linear_road --seconds 3
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from framework.model.topology import Topology
from framework.operators.sinks import CountingSink

TOPOLOGIES = str(Path(__file__).parents[2] / "topologies")
sys.path.insert(0, TOPOLOGIES)

LINES = 1_000_000_000
"""Of BriskStream's applications: they are drawn as they are needed, so that it does not matter how many."""
ROAD_S = 1_000_000
"""Seconds of Linear Road, likewise."""
XWAYS = 4
"""Expressways. With more of them fewer seconds of traffic pass while a run is measured, in which most
vehicles would report for the first time. With fewer, drawing a second takes longer for each line."""
INJECTORS = 2


def _brisk(name: str, spout: str, *, on_columns: bool) -> Topology:
    bring = importlib.import_module("brisk.columns" if on_columns else "brisk.spouts")
    lines = getattr(bring, spout)(rows=LINES, injectors=INJECTORS)
    return _built(getattr(importlib.import_module("brisk_builder"), name)(lines, batches=on_columns), name)


def _road(*, on_columns: bool) -> Topology:
    traffic = vars(importlib.import_module("linear_road.generator").ORIGINAL) | {"peak_s": 1.0}
    bring = importlib.import_module("linear_road.batches" if on_columns else "linear_road.spouts")
    cars = bring.Generated(ROAD_S, XWAYS, 1, INJECTORS, traffic)
    name = "linear_road_batches" if on_columns else "linear_road"
    module = importlib.import_module(name if on_columns else "linear_road_builder")
    return _built(getattr(module, name)(cars, CountingSink), "linear_road")


def _built(builder: Any, name: str) -> Topology:
    """The topology; worker processes find its classes where this one did."""
    topology: Topology = builder.build(name.replace("_", "-"))
    return replace(topology, import_paths=(TOPOLOGIES,))


def word_count() -> Topology:
    """BriskStream's word count."""
    return _brisk("word_count", "Sentences", on_columns=False)


def word_count_columns() -> Topology:
    """The same on columns."""
    return _brisk("word_count", "Sentences", on_columns=True)


def fraud_detection() -> Topology:
    """BriskStream's fraud detection."""
    return _brisk("fraud_detection", "Transactions", on_columns=False)


def fraud_detection_columns() -> Topology:
    """The same on columns."""
    return _brisk("fraud_detection", "Transactions", on_columns=True)


def spike_detection() -> Topology:
    """BriskStream's spike detection."""
    return _brisk("spike_detection", "Readings", on_columns=False)


def spike_detection_columns() -> Topology:
    """The same on columns."""
    return _brisk("spike_detection", "Readings", on_columns=True)


def log_processing() -> Topology:
    """DSPBench's log processing."""
    return _brisk("log_processing", "Requests", on_columns=False)


def log_processing_columns() -> Topology:
    """The same on columns."""
    return _brisk("log_processing", "Requests", on_columns=True)


def linear_road() -> Topology:
    """Linear Road, at the original's traffic."""
    return _road(on_columns=False)


def linear_road_columns() -> Topology:
    """The same on columns."""
    return _road(on_columns=True)
