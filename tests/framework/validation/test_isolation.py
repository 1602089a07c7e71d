"""Components of streamparse's that share an interpreter are named; nobody else is."""

from __future__ import annotations

from framework.sinks import CountingSink
from framework.topology import ComponentSpec, ObjectDef, PythonImplementation, Role, Topology, class_path
from framework.validation import check_isolation


def topology_of(*classes: type) -> Topology:
    return Topology(
        "some",
        tuple(
            ComponentSpec(cls.__name__, Role.BOLT, PythonImplementation(ObjectDef(class_path(cls), cls=cls)))
            for cls in classes
        ),
    )


def test_a_ported_component_is_named() -> None:
    from streamparse import Bolt

    (warning,) = check_isolation(topology_of(CountingSink, Bolt))
    assert warning.warning
    assert warning.message.endswith("modules: Bolt")


def test_components_of_ours_share_by_design() -> None:
    assert check_isolation(topology_of(CountingSink)) == []
