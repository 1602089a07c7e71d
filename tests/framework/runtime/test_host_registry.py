"""The host that drives a component; a front end is imported only if a topology needs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.frontends.builder import shell
from framework.model.topology import ComponentSpec
from framework.runtime.tasks.hosts import registry
from framework.runtime.tasks.hosts.host import Host
from framework.runtime.tasks.hosts.registry import Kind, host_factory, register
from tests.framework.runtime.pieces import listed


class Nothing(Bolt):
    """Receives tuples."""

    def process(self, tup: Any) -> None:
        """Drop it."""


def components() -> tuple[ComponentSpec, ComponentSpec]:
    """A component of ours, and a program."""
    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"]))
    builder.set_bolt("program", shell("cat", outputs=["x"])).shuffle_grouping("source")
    topology = builder.build("t")
    return topology.component("source"), topology.component("program")


def test_a_component_of_ours_needs_no_front_end() -> None:
    ours, program = components()
    assert host_factory(ours) is None
    assert host_factory(program) is not None


def test_a_front_end_may_take_the_place_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_factories", {})
    made: list[tuple[str, Sequence[str]]] = []

    def factory(component: ComponentSpec, folders: Sequence[str]) -> Host:
        made.append((component.id, folders))
        return Host(Spout())

    register(Kind.PROGRAM, factory)
    _, program = components()
    found = host_factory(program)
    assert found is not None
    found(program, ["src"])
    assert made == [("program", ["src"])]


RUN = """
import sys
from framework import TopologyBuilder
from framework.testing import run_topology
from tests.framework.runtime.pieces import listed
from tests.framework.runtime.test_host_registry import Nothing

builder = TopologyBuilder()
builder.set_spout("source", listed(["x"]))
builder.set_bolt("nothing", Nothing).shuffle_grouping("source")
run_topology(builder)
hosts = {"framework.frontends.multilang.host", "framework.frontends.streamparse.ported_host", "pystorm"}
print(*sorted(set(sys.modules) & hosts))
"""


def test_no_front_end_is_imported_without_need() -> None:
    ran = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, []), ran.stderr
