"""streamparse's topology classes as topologies."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from framework.adapters.streamparse.body import specs_in
from framework.declaration import Declaration, class_declaration, file_of
from framework.topology import Loaded


def is_topology(value: object) -> bool:
    """Whether a value is a topology class of streamparse's, and not the base class itself."""
    dsl = sys.modules.get("streamparse.dsl.topology")
    return dsl is not None and isinstance(value, dsl.TopologyType) and value is not dsl.Topology


def from_streamparse(cls: type, *, environment: str | None = None, name: str | None = None) -> Loaded:
    """The topology that a streamparse ``Topology`` class declares.

    Args:
        environment: chooses from a ``par`` that is given per environment.
        name: name of the topology; by default that of the file, as for ``sparse``.
    """
    return declaration_of(file_of(cls), cls.__qualname__, vars(cls)).topology(name, environment)


def declaration_of(file: str, qualname: str, namespace: Mapping[str, Any]) -> Declaration:
    """What the body of a streamparse topology class in a file declares."""
    return class_declaration(file, qualname, specs_in(namespace), namespace.get("config", {}))
