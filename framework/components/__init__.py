"""The base classes that users derive their spouts and bolts from."""

from framework.components.batching import BatchingBolt, TicklessBatchingBolt
from framework.components.bolt import Bolt
from framework.components.component import Component
from framework.components.partitioned import Block, Pace, PartitionedSpout, Watermark
from framework.components.spout import ReliableSpout, Spout
from framework.components.tuple import Tuple

__all__ = [
    "BatchingBolt",
    "Block",
    "Bolt",
    "Component",
    "Pace",
    "PartitionedSpout",
    "ReliableSpout",
    "Spout",
    "TicklessBatchingBolt",
    "Tuple",
    "Watermark",
]
