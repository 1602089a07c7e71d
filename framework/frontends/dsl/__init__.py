"""Topologies as classes: the declarative front end, with streamparse's names."""

from framework.frontends.dsl.foreign import JavaBolt, JavaSpout, ShellBolt, ShellSpout
from framework.frontends.dsl.topology import Topology, topology_of
from framework.model.specs import GlobalStreamId, Spec

__all__ = [
    "GlobalStreamId",
    "JavaBolt",
    "JavaSpout",
    "ShellBolt",
    "ShellSpout",
    "Spec",
    "Topology",
    "topology_of",
]
