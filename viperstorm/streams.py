"""Bolts that call functions, for YAML and builders other than `StreamBuilder`; see `framework.streams`."""

from framework.streams import (
    AggregateByKey,
    Branch,
    CountByKey,
    Filter,
    FlatMap,
    KeyBy,
    KeyedStream,
    Map,
    Peek,
    ReduceByKey,
    Select,
    StreamBuilder,
    TupleStream,
)

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
