"""Makes snapshots of a run, from the counts of its tasks and channels and the reports of its workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from framework.planning import Plan
from framework.recording.tap import is_tap
from framework.runtime.coordination.measuring import component_of
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.leading.limits import Limits
from framework.runtime.observation import ComponentSnapshot, Counts, RunSnapshot, TaskSnapshot
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import ChannelStatistics, ExecutorStatistics, ReaderStatistics
from framework.runtime.report import expected_of

_MOST_INCIDENTS = 20


@dataclass(slots=True)
class _Queues:
    """The state of a component's channels."""

    waiting: int = 0
    fill: float = 0.0
    blocked_s: float = 0.0
    held_by: set[str] = field(default_factory=set)

    def note_source(self, blocked_s: float) -> None:
        """Count what a task of the component waited for room in a channel."""
        self.blocked_s += blocked_s

    def note_reader(self, reader: ReaderStatistics, capacity: int) -> None:
        """Count what a task of the component has before it; the fullest of its inputs counts."""
        fullest = max(reader.waiting.values(), default=0) / max(1, capacity)
        self.fill = max(self.fill, min(1.0, fullest))
        if reader.held_by is not None and any(reader.waiting.values()):
            self.held_by.add(reader.held_by)

    def note_channel(self, waiting: int) -> None:
        """Count what waits for the component in one channel."""
        self.waiting += waiting


@dataclass(frozen=True, slots=True)
class Moment:
    """The moment of a snapshot, and where the run is then."""

    at_s: float
    """Monotonic time in seconds."""
    elapsed_s: float
    """Seconds since the spouts were activated."""
    active: bool
    """True if the spouts are asked for tuples."""
    draining: bool
    """True if the run was asked to end."""
    limits: Limits
    run: str = ""
    """Names the run among all on this machine."""
    attempt: int = 0
    """The number of times it has gone back."""
    checkpoints: int = 0
    """The number of checkpoints it has written."""

    @classmethod
    def of(
        cls, now_s: float, limits: Limits, stop: StopSignal, run: str, attempt: int, checkpoints: int
    ) -> Moment:
        """The moment of a run that is at a monotonic time in seconds."""
        where = limits.elapsed_s(now_s), stop.active, stop.requested, limits
        return cls(now_s, *where, run, attempt, checkpoints)

    def share(self, emitted: int, expected: int) -> float | None:
        """The share of the run that is over; arguments as of `Limits.share`."""
        return self.limits.share(self.elapsed_s, emitted, expected)


def snapshot_of(
    plan: Plan,
    counters: Sequence[Mapping[int, TaskCounters]],
    executors: Sequence[ExecutorStatistics],
    channels: Sequence[ChannelStatistics],
    incidents: Sequence[Incident],
    *,
    parallelism: Mapping[str, int],
    at: Moment,
) -> RunSnapshot:
    """A run at one moment; taps, which only watch a topology from outside, are left out.

    Args:
        plan: what is run.
        counters: of each process, by task.
        executors: all of the run.
        channels: likewise.
        incidents: the worker processes that have died so far.
        parallelism: of the components that can be scaled, how many tasks get tuples.
        at: the moment.
    """
    at_s = at.at_s
    counted = {task: counts for of_process in counters for task, counts in of_process.items()}
    totals = {c.id: TaskCounters() for c in plan.topology.components if not is_tap(c.id)}
    tasks: dict[str, list[TaskSnapshot]] = {id: [] for id in totals}
    worked, times, waited = _worked(executors), _times(executors), _waited(executors)
    claimed = _claimed(channels)
    for task in plan.tasks:
        if task.component in totals:
            totals[task.component].add(counted.get(task.id, TaskCounters()))
            name, worker = f"{task.component}:{task.id}", _worker_of(plan, task.id)
            busy = worked.get(name, (0.0, at_s))
            told = TaskSnapshot(
                *(task.id, *busy, worker, times.get(name, ()), waited.get(name, 0.0)),
                *claimed.get(name, (0, 0)),
            )
            tasks[task.component].append(told)
    queues, deaths = _queues(channels), _deaths(incidents)
    spouts = {spout.id for spout in plan.topology.spouts}
    return RunSnapshot(
        topology=plan.topology.name,
        run=at.run,
        attempt=at.attempt,
        elapsed_s=at.elapsed_s,
        at_s=at_s,
        active=at.active,
        draining=at.draining,
        share=at.share(sum(totals[spout].emitted for spout in spouts), expected_of(plan, counters)),
        deaths=len(incidents),
        lost=sum(incident.lost for incident in incidents),
        incidents=tuple(map(str, incidents[-_MOST_INCIDENTS:])),
        checkpoints=at.checkpoints,
        components=tuple(
            _component(
                *(id, "spout" if id in spouts else "bolt", total, tuple(tasks[id])),
                *(queues.get(id, _Queues()), deaths.get(id, 0), parallelism.get(id, len(tasks[id]))),
            )
            for id, total in totals.items()
        ),
    )


def _component(
    id: str,
    role: str,
    total: TaskCounters,
    tasks: Sequence[TaskSnapshot],
    queues: _Queues,
    deaths: int,
    parallelism: int,
) -> ComponentSnapshot:
    return ComponentSnapshot(
        id=id,
        role=role,
        tasks=tasks,
        parallelism=parallelism,
        emitted=total.emitted,
        processed=total.processed,
        acked=total.acked,
        failed=total.failed,
        errors=total.errors,
        error_sites=tuple(sorted(total.error_sites.values(), key=lambda site: -site.last_s)),
        restarts=total.restarts + deaths,
        lost=total.lost,
        late=total.late,
        waiting=queues.waiting,
        fill=queues.fill,
        blocked_s=queues.blocked_s,
        held_by=tuple(sorted(queues.held_by)),
    )


def _worked(executors: Sequence[ExecutorStatistics]) -> Mapping[str, tuple[float, float]]:
    """By task, ``component:task id``, for how many seconds it had worked at which monotonic time."""
    return {
        task: (seconds, executor.at_s)
        for executor in executors
        for task, seconds in zip(executor.tasks, executor.busy_s, strict=True)
    }


def _waited(executors: Sequence[ExecutorStatistics]) -> Mapping[str, float]:
    """By task for how many seconds of these it had waited."""
    return {
        task: seconds
        for executor in executors
        for task, seconds in zip(executor.tasks, executor.waited_s, strict=False)
    }


def _times(executors: Sequence[ExecutorStatistics]) -> Mapping[str, Counts]:
    """By task how long its tuples took."""
    return {
        task: counts
        for executor in executors
        for task, counts in zip(executor.tasks, executor.times, strict=False)
    }


def _claimed(channels: Sequence[ChannelStatistics]) -> Mapping[str, tuple[int, int]]:
    """By task in how many claims it got how many tuples, of those that claim."""
    return {
        reader.task: (reader.claims, reader.delivered)
        for channel in channels
        for reader in channel.readers
        if reader.claims
    }


def _worker_of(plan: Plan, task: int) -> int:
    return plan.placement.executors[plan.placement.executor_of(task)].worker


def _deaths(incidents: Sequence[Incident]) -> Mapping[str, int]:
    """By component how many of its tasks were restarted with their process."""
    deaths: dict[str, int] = {}
    for incident in incidents:
        for task in incident.tasks if incident.restarted else ():
            deaths[component_of(task)] = deaths.get(component_of(task), 0) + 1
    return deaths


def _queues(channels: Sequence[ChannelStatistics]) -> Mapping[str, _Queues]:
    """By component what the channels say; where several of its tasks read one, the fullest counts."""
    queues: defaultdict[str, _Queues] = defaultdict(_Queues)
    for channel in channels:
        for source in channel.sources:
            queues[component_of(source.task)].note_source(source.blocked_s)
        waiting: dict[str, int] = {}
        for reader in channel.readers:
            component = component_of(reader.task)
            queues[component].note_reader(reader, channel.capacity)
            waiting[component] = max(waiting.get(component, 0), sum(reader.waiting.values()))
        for component, count in waiting.items():
            queues[component].note_channel(count)
    return queues
