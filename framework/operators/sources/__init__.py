"""Spouts that read files: CSV, JSON lines, Parquet and text, each file a partition.

file_source     what they have in common: partitions, times, malformed rows
csv_records     the records of CSV text, as far as it has come
listing         which files there are, and by what a run knows them again
growing         a folder to which files are added; growing_file: a file to which lines are appended
opening         text of compressed files, in portions
reading         what a reader raises, as errors that name the file
signatures      what else a file is, by its first bytes
times, values   what texts become: event times, and the types of fields

The rows of a file are as they stand there, in order; see `FileSource` for how several are put together.
"""

from framework.operators.sources.csv_source import CsvSource
from framework.operators.sources.file_source import FileSource
from framework.operators.sources.json_lines import JsonLinesSource
from framework.operators.sources.parquet_source import ParquetSource
from framework.operators.sources.text_source import TextSource

__all__ = ["CsvSource", "FileSource", "JsonLinesSource", "ParquetSource", "TextSource"]
