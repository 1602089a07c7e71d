"""ViperStorm: Storm topologies in Python on one multicore machine, with one output order."""

from framework import aliases
from framework.api import run, scale, suspend
from framework.frontends.builder import TopologyBuilder
from framework.frontends.dsl import GlobalStreamId, JavaBolt, JavaSpout, ShellBolt, ShellSpout, Topology
from framework.frontends.streams import KeyedStream, StreamBuilder, TupleStream
from framework.model.tables import Abort, SharedTable
from framework.model.topology import Grouping, Stream
from framework.operators.components import (
    APlus,
    BatchBolt,
    BatchingBolt,
    Block,
    Bolt,
    Component,
    JoinBolt,
    JPlus,
    OPlus,
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
    WindowedBolt,
)
from framework.operators.state import (
    AggregatingState,
    KeyValueState,
    ListState,
    MapState,
    ReducingState,
    TableState,
    ValueState,
)
from framework.operators.windows import Count, Duration, KeyWindow, SideWindow, TupleWindow
from framework.operators.windows.joins import Band, Equal, SameWindow, Within

__all__ = [
    "APlus",
    "Abort",
    "AggregatingState",
    "Band",
    "BatchBolt",
    "BatchingBolt",
    "Block",
    "Bolt",
    "Component",
    "Count",
    "Duration",
    "Equal",
    "GlobalStreamId",
    "Grouping",
    "JPlus",
    "JavaBolt",
    "JavaSpout",
    "JoinBolt",
    "KeyValueState",
    "KeyWindow",
    "KeyedStream",
    "ListState",
    "MapState",
    "OPlus",
    "Pace",
    "PartitionedSpout",
    "ReducingState",
    "ReliableSpout",
    "RowError",
    "Rows",
    "SameWindow",
    "SeekableSpout",
    "SharedTable",
    "ShellBolt",
    "ShellSpout",
    "SideWindow",
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
    "TupleWindow",
    "ValueState",
    "Watermark",
    "WindowedBolt",
    "Within",
    "run",
    "scale",
    "suspend",
]

aliases.install()
