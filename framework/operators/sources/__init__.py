"""Spouts that read files: CSV, JSON lines, Parquet and text, each file a partition.

- `file_source`: the base of all: partitions, times, malformed rows
- `csv_records`: the records of CSV text, as far as it has come
- `listing`: the files of a source, and the facts by which a run recognizes them
- `growing`: a folder to which files are added, or a file to which lines are appended
- `opening`: text of compressed files, in portions; formats by their first bytes
- `reading`: a reader's errors, as errors that name the file
- `times`, `values`: conversion of texts to event times, and to the types of fields

The rows of a file keep their order; see `FileSource` for how several are put together.
"""

from framework.operators.sources.csv_source import CsvSource
from framework.operators.sources.file_source import FileSource
from framework.operators.sources.json_lines import JsonLinesSource
from framework.operators.sources.parquet_source import ParquetSource
from framework.operators.sources.text_source import TextSource

__all__ = ["CsvSource", "FileSource", "JsonLinesSource", "ParquetSource", "TextSource"]
