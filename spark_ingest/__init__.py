"""Spark datasets as sources of a topology: jobs that prepare them, and the spouts that replay them.

Importing it imports neither pyspark nor pyarrow, nor anything that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spark_ingest.errors import DatasetError, JobError, RowsRefused, SparkError

if TYPE_CHECKING:
    from spark_ingest.backfill import backfill
    from spark_ingest.datasets.dataset import Dataset
    from spark_ingest.job.source import Source
    from spark_ingest.preparing.prepare import prepare
    from spark_ingest.spout import SparkSpout

__all__ = [
    "Dataset",
    "DatasetError",
    "JobError",
    "RowsRefused",
    "Source",
    "SparkError",
    "SparkSpout",
    "backfill",
    "prepare",
]

_LATE = {
    "Dataset": "spark_ingest.datasets.dataset",
    "Source": "spark_ingest.job.source",
    "SparkSpout": "spark_ingest.spout",
    "backfill": "spark_ingest.backfill",
    "prepare": "spark_ingest.preparing.prepare",
}
"""The modules of names that are imported when somebody asks for them."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_LATE[name]), name)
    globals()[name] = found  # from now on; a module of the same name would stand there otherwise
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
