"""Bolts for the end of a topology; see `framework.sinks`."""

from framework.sinks import (
    CollectingSink,
    ConsoleSink,
    CountingSink,
    CsvSink,
    FileSink,
    JsonLinesSink,
    ParquetSink,
    Sink,
    SqlAlchemySink,
    SqliteSink,
    TextSink,
    TransactionalSink,
)

__all__ = [
    "CollectingSink",
    "ConsoleSink",
    "CountingSink",
    "CsvSink",
    "FileSink",
    "JsonLinesSink",
    "ParquetSink",
    "Sink",
    "SqlAlchemySink",
    "SqliteSink",
    "TextSink",
    "TransactionalSink",
]
