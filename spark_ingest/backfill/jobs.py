"""Spouts that have their rows from a Spark job, which becomes a part of the backfill's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from framework.model.importing import importable
from framework.model.instantiate import Beans
from framework.model.topology import PythonImplementation, Topology
from framework.planning.traits import class_of
from spark_ingest.backfill.frames import Given
from spark_ingest.errors import JobError, RowsRefused
from spark_ingest.spout import SparkSpout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_ingest.direct.request import Request


def jobs_of(topology: Topology, spouts: Iterable[str]) -> dict[str, Request]:
    """The jobs of those spouts that have one, by the spout's id.

    Raises:
        LoadError: a spout's constructor raised.
    """
    found: dict[str, Request] = {}
    with importable(topology.import_paths):
        for spout in spouts:
            request = _job_of(topology, spout)
            if request is not None:
                found[spout] = request
    return found


def _job_of(topology: Topology, spout: str) -> Request | None:
    component = topology.component(spout)
    if not isinstance(component.implementation, PythonImplementation):
        return None
    if not issubclass(class_of(component), SparkSpout):
        return None
    made: SparkSpout = Beans(topology.beans).make(component.implementation.definition)
    return made.request


def check_jobs(jobs: Mapping[str, Request]) -> None:
    """Refuse what can be seen to fail without Spark.

    Raises:
        JobError: a file does not exist, or a source has no end.
    """
    for spout, request in jobs.items():
        if request.stream is not None:
            raise JobError(f"spout {spout!r} reads a stream: a backfill is for data that has an end")
        with _of_spout(spout):
            request.job.source.check()


def rows_of_jobs(spark: SparkSession, jobs: Mapping[str, Request]) -> dict[str, Given]:
    """The rows of jobs, as their streams.

    Raises:
        JobError: a source, a column or a type is not as the job has it; rows are refused; there is no end.
        SparkError: Spark failed.
    """
    return {spout: _rows(spark, spout, request) for spout, request in jobs.items()}


def _rows(spark: SparkSession, spout: str, request: Request) -> Given:
    from spark_ingest.direct.sending import within
    from spark_ingest.job.spec import streams_of

    with _of_spout(spout):
        streams, _ = streams_of(request.job, spark, False, f"the job of spout {spout!r}")
    rows: DataFrame = within(streams, request.span)
    return Given(rows, request.job.streams.unit)


@contextmanager
def _of_spout(spout: str) -> Iterator[None]:
    """Have what refuses a job name the spout."""
    try:
        yield
    except RowsRefused as error:
        raise RowsRefused(f"spout {spout!r}: {error}", error.kind, error.count) from error
    except JobError as error:
        raise JobError(f"spout {spout!r}: {error}") from error
