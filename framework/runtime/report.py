"""The progress of a run while it goes on, and its report when it has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from framework.planning import Plan
from framework.runtime.control.stop import StopReason
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.incidents import Incident
from framework.runtime.metrics.saved import Written
from framework.runtime.metrics.statistics import (
    ChannelStatistics,
    ExecutorStatistics,
    LongCallback,
    RunStatistics,
    WorkerReport,
)
from framework.runtime.state import SharedMemory, StateMemory
from framework.tap import is_tap
from framework.topology import Role
from framework.topology.graph import downstream


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run at one moment."""

    elapsed_s: float
    """Seconds since the spouts were activated; 0 before."""
    emitted: int
    """Tuples emitted by the spouts."""
    processed: int
    """Tuples processed by all bolts together; taps (`framework.tap`) are left out."""
    done: bool
    """Whether this is the last one."""
    draining: bool = False
    """Whether the run has been asked to end, and what is in flight is being finished."""
    share: float | None = None
    """How much of the run is over, from 0 to 1; None where nobody knows."""
    callbacks: Sequence[LongCallback] = ()
    """Callbacks that have been running for a second or longer, the longest first."""


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
    """Counts of each component, all its tasks together, in order of definition; taps, which only watch a
    topology from outside, are left out."""
    results: Mapping[str, tuple[Any, ...]]
    """For each sink that has a result: what its tasks returned."""
    drained: bool
    """Whether everything that was emitted has been processed."""
    statistics: RunStatistics
    """The statistics of its channels and executors."""
    incidents: Sequence[Incident] = ()
    """Worker processes that died, in order."""
    twice: Sequence[str] = ()
    """Components that may have seen tuples twice, in order of definition: behind spouts that began anew
    (`TaskCounters.anew`), while these components remembered what had been brought, or had put it out."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """For each partitioned spout the name of the data that it brought; `TaskCounters.places` says how far."""
    checkpoint: Written | None = None
    """The last checkpoint that it has written; None for none."""
    checkpoints: int = 0
    """How many it has written."""
    changes: Sequence[str] = ()
    """Differences from the run that it went on from, in sentences: code, arguments of users' own, and
    others that do not keep it from going on."""
    shared: SharedMemory | None = field(default=None, repr=False, compare=False)
    """The shared tables; None where no component remembers anything."""

    @property
    def lost(self) -> int:
        """Untracked tuples that were not processed to their end: they were lost with worker processes, or
        with components that raised."""
        raised = sum(counters.lost for counters in self.components.values())
        return raised + sum(incident.lost for incident in self.incidents)

    @property
    def again(self) -> int:
        """Tuples that nobody tracks, and that spouts had emitted before they began anew."""
        return sum(counters.anew for counters in self.components.values() if not counters.tracked)

    @property
    def rate(self) -> float:
        """Tuples processed by all bolts together, per second."""
        total = sum(counters.processed for counters in self.components.values())
        return total / self.elapsed_s if self.elapsed_s else 0.0

    def of_all(
        self, statistics: RunStatistics, sources: Mapping[str, str], memory: StateMemory | None = None
    ) -> RunReport:
        """The same with what its processes do not know: the statistics of all, what spouts brought, and the
        shared tables."""
        made = statistics.checkpoints
        shared = None if memory is None else memory.shared
        known = replace(self, statistics=statistics, sources=sources, shared=shared)
        return replace(known, checkpoint=made.last, checkpoints=made.count)

    def table(self, name: str) -> tuple[tuple[Any, ...], ...]:
        """All rows of a shared table at the end of the run, sorted: each its key and its values, sets as
        sorted tuples.

        Raises:
            KeyError: no bolt names such a table.
        """
        return (self.shared.rows() if self.shared is not None else {})[name]

    def result(self, component: str) -> Any:
        """The result of a sink with one task.

        Raises:
            KeyError: the component is no sink, or its result is None.
            ValueError: it has several tasks; see `results`.
        """
        (only,) = self.results[component]
        return only


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
    components = {c.id: TaskCounters() for c in plan.topology.components if not is_tap(c.id)}
    results: dict[str, list[object]] = {}
    for task in plan.tasks:
        if task.component in components:
            components[task.component].add(counters.get(task.id, TaskCounters()))
        if task.id in outcomes:
            results.setdefault(task.component, []).append(outcomes[task.id])
    left = any(components[bolt.id].unanswered for bolt in plan.topology.bolts if bolt.id in components)
    return RunReport(
        topology=plan.topology.name,
        time=str(plan.time),
        reason=reason,
        elapsed_s=elapsed_s,
        emitted=progress_of(plan, [counters], 0.0, done=True).emitted,
        components=components,
        results={component: tuple(values) for component, values in results.items()},
        drained=all(worker.drained for worker in found) and not left,
        statistics=RunStatistics(channels, [e for worker in found for e in worker.executors]),
        incidents=tuple(incidents),
        twice=tuple(_twice(plan, components)),
    )


def _twice(plan: Plan, components: Mapping[str, TaskCounters]) -> Iterator[str]:
    """The components behind spouts that began anew."""
    anew = [id for id, counters in components.items() if counters.anew]
    yield from (id for id in downstream(plan.topology, anew) if not is_tap(id))


def expected_of(plan: Plan, counters: Iterable[Mapping[int, TaskCounters]]) -> int:
    """How many tuples the spouts will have emitted at their end; 0 if one of them does not know."""
    counted = {task: counts for of_process in counters for task, counts in of_process.items()}
    by_spout = [
        sum(counted[task.id].expected for task in plan.tasks_of(spout.id) if task.id in counted)
        for spout in plan.topology.spouts
    ]
    return sum(by_spout) if all(by_spout) else 0


def progress_of(
    plan: Plan,
    counters: Iterable[Mapping[int, TaskCounters]],
    elapsed_s: float,
    *,
    done: bool,
    executors: Sequence[ExecutorStatistics] = (),
) -> Progress:
    """The progress of a run, from the counters of its processes."""
    spouts = {task.id for task in plan.tasks if task.role is Role.SPOUT}
    taps = {task.id for task in plan.tasks if is_tap(task.component)}
    emitted = processed = 0
    for counted in counters:
        for task, counts in counted.items():
            if task in spouts:
                emitted += counts.emitted
            elif task not in taps:
                processed += counts.processed
    callbacks = [executor.callback for executor in executors if executor.callback is not None]
    callbacks.sort(key=lambda callback: -callback.seconds)
    return Progress(elapsed_s, emitted, processed, done, callbacks=callbacks)
