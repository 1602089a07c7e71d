"""One Spark for all tests: to start it takes seconds."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_ingest.engine.java import find_java
from spark_ingest.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "3",
    # A table's worth of rows is never enough to be worth waiting for another task's to finish.
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
}

# The jobs of the tests are over before code that Java optimizes would pay: this halves their CPU time.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def without_spark() -> str | None:
    """Why no Spark can be started here, or None."""
    for module in ("pyspark", "pyarrow"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    import pyspark

    try:
        find_java(pyspark.__version__)
    except SparkError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Before 4.2, pyspark leaves it to Python to close the sockets of `collect`, which warns of each."""
    if importlib.util.find_spec("pyspark") is None:
        return
    if tuple(map(int, metadata.version("pyspark").split(".")[:2])) >= (4, 2):
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session for all tests that need one; none of them may stop it or leave something changed in it."""
    reason = without_spark()
    if reason is not None:
        pytest.skip(reason)
    from spark_ingest.engine.session import make_session

    with make_session("local[2]", SMALL, "viper tests") as session:
        yield session


@pytest.fixture
def java() -> None:
    """For tests that start a Spark of their own, in another process."""
    reason = without_spark()
    if reason is not None:
        pytest.skip(reason)
