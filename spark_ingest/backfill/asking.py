"""The request for a backfill, refused before Spark starts where that is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_ingest.backfill.jobs import check_jobs, jobs_of
from spark_ingest.backfill.planned import Planned, plan_shards
from spark_ingest.backfill.schemas import check_declared, check_fields
from spark_ingest.backfill.shapes import Output
from spark_ingest.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from spark_ingest.direct.request import Request

_REUSE = "spark.python.worker.reuse"
"""Spark's key for one Python process that serves several shards; ported components expect one per task."""


@dataclass(frozen=True)
class Asked:
    """A backfill that nothing speaks against, as far as that can be seen without Spark."""

    planned: Planned
    outputs: tuple[Output, ...]
    schemas: Mapping[str, str]
    """By the name of the output."""
    rows: Mapping[str, DataFrame]
    """By the id of the spout."""
    jobs: Mapping[str, Request]
    """The jobs of the other spouts that have one."""
    shards: int | None
    spark: SparkSession | None
    """The session that is handed over."""
    master: str | None
    """Of a session that is started; so is `conf`."""
    conf: Mapping[str, Any] | None


def ask(
    topology: object,
    outputs: Sequence[str],
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, Any] | None = None,
    shards: int | None = None,
    schemas: Mapping[str, str] | None = None,
    rows: Mapping[str, DataFrame] | None = None,
    settings: Mapping[str, Any] | None = None,
    environment: str | None = None,
) -> Asked:
    """Look at what is asked for; arguments and errors are those of `backfill`."""
    wanted = [Output.parse(name) for name in dict.fromkeys(outputs)]
    declared, given = dict(schemas or {}), dict(rows or {})
    check_declared(declared, wanted)
    _check_shards(shards)
    planned = plan_shards(
        topology, wanted, options=settings or {}, given=tuple(given), environment=environment
    )
    for output in wanted:
        check_fields(output, planned.fields(output))
    jobs = jobs_of(planned.plan.topology, [spout for spout in planned.spouts if spout not in given])
    check_jobs(jobs)
    if spark is None and master is None and not conf and jobs:
        job = next(iter(jobs.values())).job
        master, conf = job.master, job.conf
    ported = any(planned.plan.traits[stage.component].ported for stage in planned.stages)
    conf = _conf_for(conf, ported, spark)
    return Asked(planned, tuple(wanted), declared, given, jobs, shards, spark, master, conf)


def _check_shards(shards: int | None) -> None:
    if shards is not None and (isinstance(shards, bool) or not isinstance(shards, int) or shards < 1):
        raise JobError(f"shards is {shards!r}: expected a whole number from 1 upwards")


def _conf_for(
    conf: Mapping[str, Any] | None, ported: bool, spark: SparkSession | None
) -> Mapping[str, Any] | None:
    """The configuration of a session to be started, with a process for each shard where that is needed.

    Raises:
        JobError: a session that runs already gives one process to several shards.
    """
    if not ported:
        return conf
    running = spark or _active()
    if running is None:
        return {**(conf or {}), _REUSE: "false"}
    if running.conf.get(_REUSE, "true") != "false":
        raise JobError(
            f"components of streamparse's expect a process for each task, but this session has {_REUSE} "
            "true: set it to false when the session is made"
        )
    return conf


def _active() -> SparkSession | None:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()
