"""Topologies made of functions, by the names of Storm's Streams API, and the bolts that call these."""

from framework.frontends.streams.bolts import Branch, Filter, FlatMap, KeyBy, Map, Peek, Select
from framework.frontends.streams.builder import StreamBuilder
from framework.frontends.streams.forms import (
    CountWindow,
    Session,
    Sliding,
    SlidingWindows,
    Tumbling,
    TumblingWindows,
)
from framework.frontends.streams.keyed import AggregateByKey, CountByKey, ReduceByKey
from framework.frontends.streams.streams import KeyedStream, TupleStream
from framework.frontends.streams.windowed import AggregateWindow, ProcessWindow, ReduceWindow
from framework.frontends.streams.windowed_stream import WindowedStream

__all__ = [
    "AggregateByKey",
    "AggregateWindow",
    "Branch",
    "CountByKey",
    "CountWindow",
    "Filter",
    "FlatMap",
    "KeyBy",
    "KeyedStream",
    "Map",
    "Peek",
    "ProcessWindow",
    "ReduceByKey",
    "ReduceWindow",
    "Select",
    "Session",
    "Sliding",
    "SlidingWindows",
    "StreamBuilder",
    "Tumbling",
    "TumblingWindows",
    "TupleStream",
    "WindowedStream",
]
