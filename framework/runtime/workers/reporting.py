"""Statistics and the report of the executors of one process, as values that can be sent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from framework.model.errors import ComponentError
from framework.operators.sinks import Sink
from framework.planning import Plan
from framework.runtime.execution.executor import Executor
from framework.runtime.observation.statistics import ExecutorStatistics, LongCallback, WorkerReport
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.task import Task


def executor_statistics(
    plan: Plan, executors: Mapping[int, Executor], callbacks: Mapping[Executor, LongCallback]
) -> list[ExecutorStatistics]:
    """The statistics of executors; from any thread.

    Args:
        plan: what is run.
        executors: the executors, by their indexes in its placement.
        callbacks: those of them that have been in a callback for long.
    """
    now = time.monotonic()
    all_s = sum(executor.cpu_s for executor in executors.values())
    return [
        ExecutorStatistics(
            worker=plan.placement.executors[number].worker,
            tasks=[task.name for task in executor.tasks],
            at_s=now,
            busy_s=list(executor.busy.seconds(now).values()),
            waited_s=_waited(executor, now, all_s - executor.cpu_s),
            times=[task.context.times.counts() for task in executor.tasks],
            turns=executor.turns,
            rests=executor.rests.count,
            rested_s=executor.rests.seconds,
            cpu_s=executor.cpu_s,
            callback=callbacks.get(executor),
            number=number,
        )
        for number, executor in executors.items()
    ]


def _waited(executor: Executor, now: float, others_s: float) -> list[float]:
    """For how many seconds each task of an executor has waited; a program's, nobody knows.

    A bolt that is a program is taken to compute, and a spout to wait: nothing shows what the program does.
    """
    waited = executor.busy.waited(now, others_s)
    known = [task.is_source or task.slot.host.computes_here for task in executor.tasks]
    return [seconds if is_known else 0.0 for seconds, is_known in zip(waited.values(), known, strict=True)]


def worker_report(
    executors: Sequence[Executor], statistics: Sequence[ExecutorStatistics], left_behind: bool
) -> WorkerReport:
    """The report of a process's executors.

    Args:
        executors: all of them.
        statistics: how they were doing.
        left_behind: whether a callback was not waited for.

    Raises:
        ComponentError: a sink has raised instead of giving its result.
    """
    results: dict[int, Any] = {}
    tasks = [task for executor in executors for task in executor.tasks]
    for task in tasks:
        if (result := _result_of(task)) is not None:
            results[task.context.spec.id] = result
    return WorkerReport(
        counters={task.context.spec.id: task.context.counters for task in tasks},
        results=results,
        executors=statistics,
        drained=not (left_behind or any(executor.undrained for executor in executors)),
    )


def _result_of(task: Task) -> Any:
    sink, spec = task.slot.host.component, task.context.spec
    try:
        return sink.result() if isinstance(sink, Sink) else None
    except user_errors() as error:
        detail = f"{type(error).__name__}: {error}"
        raise ComponentError(spec.component, spec.id, "result", detail) from error
