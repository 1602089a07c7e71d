"""Spark datasets as sources of a topology; see `spark_ingest`.

Importing it imports neither pyspark nor pyarrow: a name that needs one of them is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import spark_ingest

if TYPE_CHECKING:
    from spark_ingest import (
        Dataset,
        DatasetError,
        JobError,
        RowsRefused,
        Source,
        SparkError,
        SparkSpout,
        backfill,
        prepare,
    )

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(spark_ingest, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
