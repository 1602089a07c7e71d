"""Topologies made of functions, by the names of Storm's Streams API, and the bolts that call these."""

from framework.streams.bolts import (
    AggregateByKey,
    Branch,
    CountByKey,
    Filter,
    FlatMap,
    KeyBy,
    Map,
    Peek,
    ReduceByKey,
    Select,
)
from framework.streams.builder import StreamBuilder
from framework.streams.streams import KeyedStream, TupleStream

__all__ = [
    "AggregateByKey",
    "Branch",
    "CountByKey",
    "Filter",
    "FlatMap",
    "KeyBy",
    "KeyedStream",
    "Map",
    "Peek",
    "ReduceByKey",
    "Select",
    "StreamBuilder",
    "TupleStream",
]
