"""What a run did: counts while it runs, and the report when it has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework.errors import ComponentError
from framework.planning import Plan
from framework.runtime.control.stop import StopReason
from framework.runtime.execution.executor import Executor
from framework.runtime.hosts.user_errors import user_errors
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.incidents import Incident
from framework.runtime.metrics.statistics import ChannelStatistics, ExecutorStatistics, RunStatistics
from framework.runtime.tasks.task import Task
from framework.sinks import Sink
from framework.topology import Role


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    elapsed_s: float
    """Seconds since the spouts were activated."""
    emitted: int
    """Tuples emitted by the spouts."""
    processed: int
    """Tuples processed by all bolts together."""
    done: bool
    """Whether this is the last one."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What the tasks of one process have done."""

    counters: Mapping[int, TaskCounters]
    """By task."""
    results: Mapping[int, Any]
    """Of the sinks that have a result, by task."""
    executors: Sequence[ExecutorStatistics]
    drained: bool
    """Whether everything that came to its tasks has been processed."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run that has ended."""

    topology: str
    time: str
    """The time it ran by: event, logical or ingest."""
    reason: StopReason
    elapsed_s: float
    """Seconds from activation to the end of the drain."""
    emitted: int
    """Tuples emitted by the spouts."""
    components: Mapping[str, TaskCounters]
    """Counts of each component, all its tasks together, in order of definition."""
    results: Mapping[str, tuple[Any, ...]]
    """For each sink that has a result: what its tasks returned."""
    drained: bool
    """Whether everything that was emitted has been processed."""
    statistics: RunStatistics
    """What went through the channels, and how busy the executors were."""
    incidents: Sequence[Incident] = ()
    """Worker processes that died, in order."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """For each partitioned spout the name of the data that it brought (how far: `TaskCounters.places`)."""

    @property
    def lost(self) -> int:
        """Tuples that nobody tracks and that were not processed to their end: they went down with worker
        processes, or with components that raised."""
        raised = sum(counters.lost for counters in self.components.values())
        return raised + sum(incident.lost for incident in self.incidents)

    @property
    def rate(self) -> float:
        """Tuples processed by all bolts together, per second."""
        total = sum(counters.processed for counters in self.components.values())
        return total / self.elapsed_s if self.elapsed_s else 0.0

    def result(self, component: str) -> Any:
        """The result of a sink with one task.

        Raises:
            KeyError: the component is no sink, or its result is None.
            ValueError: it has several tasks; see `results`.
        """
        (only,) = self.results[component]
        return only


def executor_statistics(
    plan: Plan, numbers: Sequence[int], executors: Sequence[Executor]
) -> list[ExecutorStatistics]:
    """How executors are doing; from any thread.

    Args:
        plan: what is run.
        numbers: their indexes in its placement.
        executors: the executors.
    """
    return [
        ExecutorStatistics(
            worker=plan.placement.executors[number].worker,
            tasks=[running.name for running in executor.tasks],
            turns=executor.turns,
            rests=executor.rests,
            rested_s=executor.rested_s,
            cpu_s=executor.cpu_s,
        )
        for number, executor in zip(numbers, executors, strict=False)
    ]


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
    tasks = [running for executor in executors for running in executor.tasks]
    for running in tasks:
        if (result := _result_of(running)) is not None:
            results[running.context.spec.id] = result
    return WorkerReport(
        counters={running.context.spec.id: running.context.counters for running in tasks},
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


def run_report(
    plan: Plan,
    workers: Iterable[WorkerReport],
    channels: Sequence[ChannelStatistics],
    reason: StopReason,
    elapsed_s: float,
    incidents: Sequence[Incident] = (),
) -> RunReport:
    """The report of a whole run.

    Args:
        plan: what was run.
        workers: what each process did.
        channels: what went through them.
        reason: why it ended.
        elapsed_s: seconds from activation to the end of the drain.
        incidents: the worker processes that died.
    """
    found = list(workers)
    counters = {task: counted for worker in found for task, counted in worker.counters.items()}
    outcomes = {task: result for worker in found for task, result in worker.results.items()}
    components = {component.id: TaskCounters() for component in plan.topology.components}
    results: dict[str, list[object]] = {}
    for task in plan.tasks:
        components[task.component].add(counters.get(task.id, TaskCounters()))
        if task.id in outcomes:
            results.setdefault(task.component, []).append(outcomes[task.id])
    return RunReport(
        topology=plan.topology.name,
        time=str(plan.time),
        reason=reason,
        elapsed_s=elapsed_s,
        emitted=progress_of(plan, [counters], 0.0, done=True).emitted,
        components=components,
        results={component: tuple(values) for component, values in results.items()},
        drained=all(worker.drained for worker in found),
        statistics=RunStatistics(channels, [e for worker in found for e in worker.executors]),
        incidents=tuple(incidents),
    )


def progress_of(
    plan: Plan, counters: Iterable[Mapping[int, TaskCounters]], elapsed_s: float, *, done: bool
) -> Progress:
    """How far a run has come, by the counts of its processes."""
    spouts = {task.id for task in plan.tasks if task.role is Role.SPOUT}
    emitted = processed = 0
    for counted in counters:
        for task, counts in counted.items():
            if task in spouts:
                emitted += counts.emitted
            else:
                processed += counts.processed
    return Progress(elapsed_s, emitted, processed, done)
