"""The progress of Spark: asked now and then by a thread, while the caller's thread waits for the job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

EVERY_S = 0.2
_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


class Progress(NamedTuple):
    """The stage of a job, and its tasks that are done."""

    stage: str
    """``"starting"`` (Spark), ``"counting"`` (doubtful timestamps), ``"writing"`` or ``"finishing"``."""
    done: int = 0
    """Spark's tasks that are done, of those that it knows of now."""
    total: int = 0


OnProgress = Callable[[Progress], object]


@contextmanager
def followed(spark: SparkSession, stage: str, on_progress: OnProgress | None) -> Iterator[None]:
    """Report the jobs that Spark runs for this thread within, and cancel them if the block raises.

    Args:
        spark: the session that works.
        stage: its name for the reports.
        on_progress: called from a thread of its own, some times a second.
    """
    context, group = spark.sparkContext, f"viper-{uuid4().hex}"
    context.setJobGroup(group, f"viper: {stage}")
    tell = on_progress or (lambda progress: None)
    over = threading.Event()
    asking = threading.Thread(target=_ask, args=(context, group, stage, tell, over), daemon=True)
    try:
        tell(Progress(stage))
        asking.start()
        yield
    except BaseException:
        _quietly(lambda: context.cancelJobGroup(group))
        raise
    finally:
        over.set()
        if asking.is_alive():
            asking.join()
        _quietly(lambda: _ungroup(context))


def _ask(context: SparkContext, group: str, stage: str, tell: OnProgress, over: threading.Event) -> None:
    reported: tuple[int, int] | None = None
    while not over.wait(EVERY_S):
        try:
            now = _tasks(context, group)
        except Exception:  # Java is gone; the thread that waits for the job says so.
            return
        if now != reported:
            reported = now
            tell(Progress(stage, *now))


def _tasks(context: SparkContext, group: str) -> tuple[int, int]:
    """Tasks that are done, and all, of the group's stages."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    infos = [info for info in map(tracker.getStageInfo, sorted(stages)) if info is not None]
    return sum(info.numCompletedTasks for info in infos), sum(info.numTasks for info in infos)


def _ungroup(context: SparkContext) -> None:
    for name in _GROUP:
        context.setLocalProperty(name, None)  # type: ignore[arg-type]


def _quietly(call: Callable[[], object]) -> None:
    with suppress(Exception):  # Java is gone, or going; there is nothing left to tidy up.
        call()
