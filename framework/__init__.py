"""ViperStorm: Storm topologies in Python on one multicore machine, with one output order."""

from framework.components import (
    BatchingBolt,
    Bolt,
    Component,
    ReliableSpout,
    Spout,
    TicklessBatchingBolt,
    Tuple,
)
from framework.topology import Grouping, Stream

__all__ = [
    "BatchingBolt",
    "Bolt",
    "Component",
    "Grouping",
    "ReliableSpout",
    "Spout",
    "Stream",
    "TicklessBatchingBolt",
    "Tuple",
]
