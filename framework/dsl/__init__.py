"""Topologies as classes: the declarative front end, with streamparse's names."""

from framework.declaration import GlobalStreamId, Spec
from framework.dsl.foreign import JavaBolt, JavaSpout, ShellBolt, ShellSpout
from framework.dsl.specs import bolt_spec, spout_spec
from framework.dsl.topology import Topology, topology_of

__all__ = [
    "GlobalStreamId",
    "JavaBolt",
    "JavaSpout",
    "ShellBolt",
    "ShellSpout",
    "Spec",
    "Topology",
    "bolt_spec",
    "spout_spec",
    "topology_of",
]
