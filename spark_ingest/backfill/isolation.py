"""Ported components expect a process for each task, which Spark gives where it is told to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from framework.errors import LoadError
from framework.importing import importable
from framework.topology import Topology
from framework.traits import class_of, is_ported
from spark_ingest.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REUSE = "spark.python.worker.reuse"


def has_ported(topology: Topology, components: Collection[str]) -> bool:
    """Whether any of these components derives from streamparse's bases."""
    with importable(topology.import_paths):
        return any(_is_ported(topology, component) for component in components)


def _is_ported(topology: Topology, component: str) -> bool:
    try:
        return is_ported(class_of(topology.component(component)))
    except LoadError:
        return False


def conf_for(
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
