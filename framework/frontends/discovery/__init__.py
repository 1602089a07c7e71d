"""Topologies in Python modules: importing a module, choosing one of its values, and what that stands for."""

from framework.frontends.discovery.failures import problems_of
from framework.frontends.discovery.modules import import_file, import_named, own_modules
from framework.frontends.discovery.topologies import (
    EXPECTED,
    first,
    is_topology,
    named,
    renamed,
    topology_from,
)

__all__ = [
    "EXPECTED",
    "first",
    "import_file",
    "import_named",
    "is_topology",
    "named",
    "own_modules",
    "problems_of",
    "renamed",
    "topology_from",
]
