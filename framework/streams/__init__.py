"""Topologies made of functions, by the names of Storm's Streams API, and the bolts that call these."""

from framework.streams.bolts import Branch, Filter, FlatMap, KeyBy, Map, Peek, Select
from framework.streams.builder import StreamBuilder
from framework.streams.keyed import AggregateByKey, CountByKey, ReduceByKey
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
