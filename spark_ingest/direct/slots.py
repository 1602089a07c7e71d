"""All streams of a job must run at once, as a merge needs the head of each: is there room for them?"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from spark_ingest.engine.session import LOCAL
from spark_ingest.errors import JobError
from spark_ingest.job.spec import JobSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_THREADS = re.compile(r"local(?:\[(\d+)(?:,\s*\d+)?\])?")
DYNAMIC = "spark.dynamicAllocation.enabled"
WAIT_S = 30.0
"""Seconds that a cluster has to bring its executors."""
LOOK_S = 0.25


def check_master(job: JobSpec) -> None:
    """Refuse what can be seen without Spark.

    Raises:
        JobError: a local master with fewer threads than streams, or executors that come and go.
    """
    found = LOCAL_THREADS.fullmatch(job.master)
    if found is not None and int(found[1] or 1) < job.streams.streams:
        raise _too_few(job.streams.streams, job.master, int(found[1] or 1))
    if str(job.conf.get(DYNAMIC, "false")).lower() == "true" and not job.master.startswith("local"):
        raise JobError(
            f"{DYNAMIC} is true, but the streams of a job that feeds a spout must all run at once, "
            f"which Spark refuses with dynamic allocation: set it to false in conf, "
            f"or prepare a dataset and replay that"
        )


def roomy(master: str, streams: int, cores: int) -> str:
    """The default master, with a thread for every stream at least; any other as it is."""
    return f"local[{max(streams, cores)}]" if master == LOCAL else master


def check_slots(spark: SparkSession, streams: int, wait_s: float = WAIT_S) -> None:
    """Wait until there are enough slots.

    Args:
        spark: the session.
        streams: how many must run at once.
        wait_s: how many seconds executors may take to come.

    Raises:
        JobError: there are too few.
    """
    deadline = time.monotonic() + wait_s
    master = spark.sparkContext.master or ""
    while (found := _slots(spark)) < streams:
        if time.monotonic() > deadline or master.startswith("local["):
            raise _too_few(streams, master, found)
        time.sleep(LOOK_S)


def _slots(spark: SparkSession) -> int:
    """Count the tasks that the executors that have come can run at once."""
    context = spark.sparkContext._jsc.sc()
    return int(context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile()))


def _too_few(streams: int, master: str, slots: int) -> JobError:
    if master.startswith("local"):
        more = f"or master: local[{streams}]"
    else:
        more = "or give it more executors or cores (spark.cores.max, spark.executor.instances)"
    return JobError(
        f"the job has {streams} streams, which must all run at once, but {master} has room for {slots} "
        f"task{'s' * (slots != 1)}: say streams: {max(1, slots)}, {more}, or prepare a dataset to replay"
    )
