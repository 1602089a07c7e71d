"""The kinds that tests of hosting run on: workers of every kind, components of both bases."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.hosting import ours, ported
from tests.framework.runtime.workers.running import INLINE, Workers

KINDS = [INLINE, Workers("thread", 2), Workers("process", 2)]
everywhere = pytest.mark.parametrize("workers", KINDS, ids=str)
both = pytest.mark.parametrize("base", [ours, ported], ids=["ours", "streamparses"])


def named(module: ModuleType, name: str) -> Any:
    """A component's class by its name."""
    return getattr(module, name)


def chain(*components: Any) -> TopologyBuilder:
    """``source -> b1 -> b2 ... -> sink``, one task each."""
    builder = TopologyBuilder()
    source, *bolts = components
    builder.set_spout("source", source)
    names = ["source", *(f"b{number}" for number in range(1, len(bolts) + 1))]
    for before, name, cls in zip(names, names[1:], bolts, strict=False):
        builder.set_bolt(name, cls).shuffle_grouping(before)
    builder.set_bolt("sink", CollectingSink).global_grouping(names[-1])
    return builder
