"""TPCx-BB's queries: what the pipelines answer is what Spark's SQL answers to the same files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.framework.runtime.workers.running import INLINE, Workers
from tests.topologies.tpcx_bb.cases import (
    QUERIES,
    TABLES,
    TOPOLOGIES,
    Files,
    answered,
    comparable,
    dimensions,
    files_in,
    source_of,
)
from tests.topologies.tpcx_bb.reference import RULES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module", autouse=True)
def path() -> Iterator[None]:
    """Add the folder of the queries to the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        yield


@pytest.fixture(scope="module")
def files(path: None, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files_in(tmp_path_factory.mktemp("tpcx"))


@pytest.mark.parametrize("query", QUERIES)
def test_the_answers_are_those_of_spark(spark: SparkSession, files: Files, query: str) -> None:
    tables = {TABLES[query]: spark.read.parquet(str(files[query]))}
    tables |= {name: spark.createDataFrame(rows, columns) for name, (columns, rows) in dimensions().items()}
    for name, frame in tables.items():
        frame.createOrReplaceTempView(name)
    try:
        expected = [tuple(row) for row in spark.sql(RULES[query]().sql()).collect()]
    finally:
        for name in tables:
            spark.catalog.dropTempView(name)
    assert expected
    for workers, tasks in ((INLINE, 1), (Workers("process", 2), 3)):
        found = answered(query, source_of(query, files[query]), workers, tasks, bolts={})
        assert comparable(query, found) == expected
