"""Topologies made of functions, by the names of Storm's Streams API."""

from framework.streams.builder import StreamBuilder
from framework.streams.streams import KeyedStream, TupleStream

__all__ = ["KeyedStream", "StreamBuilder", "TupleStream"]
