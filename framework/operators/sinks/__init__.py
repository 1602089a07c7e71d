"""Sinks that ship with the framework: bolts at the end of a topology, which take rows and emit nothing.

- `sink`: the base of all: takes rows, many at a time
- `plain`: sinks that keep nothing beyond the run
- `transactional`: the base of sinks whose rows stay: stages rows, and applies them in transactions
- `staging`: the files for staged rows
- `file_sink`: files that appear whole or grow
- `line_sinks`, `parquet_sink`: the formats of these files
- `table_sink`: tables of databases
- `sqlite_sink`, `sqlalchemy_sink`: the databases of these tables
- `columns`: the choice of the values of a row that are written, and of their names
"""

from framework.operators.sinks.file_sink import FileSink
from framework.operators.sinks.line_sinks import CsvSink, JsonLinesSink, TextSink
from framework.operators.sinks.parquet_sink import ParquetSink
from framework.operators.sinks.plain import CollectingSink, ConsoleSink, CountingSink
from framework.operators.sinks.sink import Row, Sink
from framework.operators.sinks.sqlalchemy_sink import SqlAlchemySink
from framework.operators.sinks.sqlite_sink import SqliteSink
from framework.operators.sinks.transactional import TransactionalSink

__all__ = [
    "CollectingSink",
    "ConsoleSink",
    "CountingSink",
    "CsvSink",
    "FileSink",
    "JsonLinesSink",
    "ParquetSink",
    "Row",
    "Sink",
    "SqlAlchemySink",
    "SqliteSink",
    "TextSink",
    "TransactionalSink",
]
