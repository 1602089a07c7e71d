"""Topologies as classes: the declarative front end, with streamparse's names."""

from framework.dsl.foreign import JavaBolt, JavaSpout, ShellBolt, ShellSpout
from framework.dsl.spec import Spec
from framework.dsl.specs import bolt_spec, spout_spec
from framework.dsl.stream_id import GlobalStreamId
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
