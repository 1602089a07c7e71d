"""Spouts that read files; see `framework.sources`."""

from framework.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource, TextSource

__all__ = ["CsvSource", "FileSource", "JsonLinesSource", "ParquetSource", "TextSource"]
