"""Topologies made of functions, by the names of Storm's Streams API."""

from framework.streams.builder import KeyedStream, StreamBuilder, TupleStream

__all__ = ["KeyedStream", "StreamBuilder", "TupleStream"]
