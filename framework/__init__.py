"""ViperStorm: Storm topologies in Python on one multicore machine, with one output order."""

from framework.builder import TopologyBuilder
from framework.components import (
    BatchBolt,
    BatchingBolt,
    Block,
    Bolt,
    Component,
    Pace,
    PartitionedSpout,
    ReliableSpout,
    RowError,
    Rows,
    SeekableSpout,
    Spout,
    StatefulBolt,
    TicklessBatchingBolt,
    Tuple,
    Watermark,
)
from framework.dsl import GlobalStreamId, JavaBolt, JavaSpout, ShellBolt, ShellSpout, Topology
from framework.running import run, suspend
from framework.state import (
    AggregatingState,
    KeyValueState,
    ListState,
    MapState,
    ReducingState,
    TableState,
    ValueState,
)
from framework.streams import KeyedStream, StreamBuilder, TupleStream
from framework.topology import Grouping, Stream

__all__ = [
    "AggregatingState",
    "BatchBolt",
    "BatchingBolt",
    "Block",
    "Bolt",
    "Component",
    "GlobalStreamId",
    "Grouping",
    "JavaBolt",
    "JavaSpout",
    "KeyValueState",
    "KeyedStream",
    "ListState",
    "MapState",
    "Pace",
    "PartitionedSpout",
    "ReducingState",
    "ReliableSpout",
    "RowError",
    "Rows",
    "SeekableSpout",
    "ShellBolt",
    "ShellSpout",
    "Spout",
    "StatefulBolt",
    "Stream",
    "StreamBuilder",
    "TableState",
    "TicklessBatchingBolt",
    "Topology",
    "TopologyBuilder",
    "Tuple",
    "TupleStream",
    "ValueState",
    "Watermark",
    "run",
    "suspend",
]
