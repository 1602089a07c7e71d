"""Components of streamparse's that share an interpreter are named; nobody else is."""

from __future__ import annotations

import pytest

from framework.model.config import Settings, resolve
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
    class_path,
)
from framework.operators.sinks import CountingSink
from framework.planning.validation import check_isolation


def topology_of(*classes: type) -> Topology:
    return Topology(
        "some",
        tuple(
            ComponentSpec(cls.__name__, Role.BOLT, PythonImplementation(ObjectDef(class_path(cls), cls=cls)))
            for cls in classes
        ),
    )


def settings(worker: str | None) -> Settings:
    found, _ = resolve(None, options={"viper.worker": worker})
    return found


@pytest.mark.parametrize("worker", ["inline", "thread"])
def test_a_ported_component_is_named(worker: str) -> None:
    from streamparse import Bolt

    (warning,) = check_isolation(topology_of(CountingSink, Bolt), settings(worker))
    assert warning.warning
    assert warning.message.endswith("of their sources: Bolt")


@pytest.mark.parametrize("worker", ["process", None])
def test_processes_isolate(worker: str | None) -> None:
    from streamparse import Bolt

    assert check_isolation(topology_of(CountingSink, Bolt), settings(worker)) == []


def test_components_of_ours_share_by_design() -> None:
    assert check_isolation(topology_of(CountingSink), settings("inline")) == []
