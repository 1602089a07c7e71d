"""Topologies made of functions, by the names of Storm's Streams API, and the bolts that call these."""

from framework.streams.bolts import Branch, Filter, FlatMap, KeyBy, Map, Peek, Select
from framework.streams.builder import StreamBuilder
from framework.streams.forms import CountWindow, Session, Sliding, SlidingWindows, Tumbling, TumblingWindows
from framework.streams.keyed import AggregateByKey, CountByKey, ReduceByKey
from framework.streams.streams import KeyedStream, TupleStream
from framework.streams.windowed import AggregateWindow, ProcessWindow, ReduceWindow
from framework.streams.windowed_stream import WindowedStream

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
