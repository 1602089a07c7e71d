"""The base classes that users derive their spouts and bolts from."""

from framework.components.aplus import APlus
from framework.components.batch_bolt import BatchBolt, RowError
from framework.components.batching import BatchingBolt, TicklessBatchingBolt
from framework.components.bolt import Bolt
from framework.components.component import Component
from framework.components.join_bolt import JoinBolt
from framework.components.jplus import JPlus
from framework.components.oplus import OPlus
from framework.components.partitioned import Block, Pace, PartitionedSpout, Watermark
from framework.components.rows import Rows
from framework.components.spout import ReliableSpout, SeekableSpout, Spout
from framework.components.stateful_bolt import StatefulBolt
from framework.components.tuple import Tuple
from framework.components.windowed_bolt import WindowedBolt

__all__ = [
    "APlus",
    "BatchBolt",
    "BatchingBolt",
    "Block",
    "Bolt",
    "Component",
    "JPlus",
    "JoinBolt",
    "OPlus",
    "Pace",
    "PartitionedSpout",
    "ReliableSpout",
    "RowError",
    "Rows",
    "SeekableSpout",
    "Spout",
    "StatefulBolt",
    "TicklessBatchingBolt",
    "Tuple",
    "Watermark",
    "WindowedBolt",
]
