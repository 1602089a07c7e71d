"""The base classes that users derive their spouts and bolts from."""

from framework.operators.components.aplus import APlus
from framework.operators.components.batch_bolt import BatchBolt, RowError
from framework.operators.components.batching import BatchingBolt, TicklessBatchingBolt
from framework.operators.components.bolt import Bolt
from framework.operators.components.component import Component
from framework.operators.components.join_bolt import JoinBolt
from framework.operators.components.jplus import JPlus
from framework.operators.components.later import HasFileno, Later, after, at, descriptor_of, when_readable
from framework.operators.components.oplus import OPlus
from framework.operators.components.partitioned import Block, Pace, PartitionedSpout, Watermark
from framework.operators.components.rows import Rows
from framework.operators.components.spout import ReliableSpout, SeekableSpout, Spout
from framework.operators.components.stateful_bolt import StatefulBolt
from framework.operators.components.tuple import Tuple
from framework.operators.components.windowed_bolt import WindowedBolt

__all__ = [
    "APlus",
    "BatchBolt",
    "BatchingBolt",
    "Block",
    "Bolt",
    "Component",
    "HasFileno",
    "JPlus",
    "JoinBolt",
    "Later",
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
    "after",
    "at",
    "descriptor_of",
    "when_readable",
]
