"""The statistics of a run's channels, executors and workers, as values that can be shown and sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from framework.recording import ScaleChange
from framework.runtime.observation import Counts, MeasuredTask
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident


@dataclass(frozen=True, slots=True)
class Written:
    """A checkpoint that a run has written."""

    id: int
    path: str
    elapsed_s: float
    """Seconds from the request until it was on the disk."""
    size: int
    """Bytes of its parts."""
    paused_s: float = 0.0
    """The most seconds for which a task stood still before it continued."""


@dataclass(frozen=True, slots=True)
class SourceStatistics:
    """The output of one task into a channel."""

    task: str
    """``component:task id``, as everywhere here."""
    tuples: int
    """Tuples added, ever."""
    jumbos: int
    """Jumbo tuples that they were added in."""
    payload_bytes: int
    """Bytes that were written for readers in other processes."""
    refused: int
    """Adds that found the channel full."""
    blocked_s: float
    """Seconds for which it had something to add and found no room."""
    encoded: int = 0
    """The tuples that were written as bytes, once for all readers."""


@dataclass(frozen=True, slots=True)
class TakenStatistics:
    """The input of one task from one source of a channel."""

    tuples: int
    """Tuples delivered, ever."""
    runs: int
    """Stretches of one jumbo tuple that they were delivered in."""
    jumbos: int
    """Jumbo tuples that were delivered to their end."""
    decoded: int
    """The tuples that came as bytes, from another process."""


@dataclass(frozen=True, slots=True)
class ReaderStatistics:
    """The input of one task from a channel."""

    task: str
    delivered: int
    """Tuples delivered, ever."""
    runs: int
    """Runs of tuples from one source that they were delivered in: short ones mean that sources interleave."""
    waiting: Mapping[str, int]
    """Tuples that wait in the channel now, by the task that added them."""
    held_by: str | None
    """The task for which the others' tuples have to wait, as it may still add the one that comes next."""
    taken: Mapping[str, TakenStatistics] = field(default_factory=dict)
    """The delivered tuples, by the task that has added them."""
    claims: int = 0
    """The claims in which they were delivered; 0 where tuples are dealt out beforehand."""


@dataclass(frozen=True, slots=True)
class ChannelStatistics:
    """One channel: the tasks that feed it and those that read from it."""

    sources: Sequence[SourceStatistics]
    readers: Sequence[ReaderStatistics]
    capacity: int
    """Tuples that it has room for, from each source."""


@dataclass(frozen=True, slots=True)
class LongCallback:
    """A callback that has been running for a while without having emitted anything."""

    task: str
    callback: str
    """Its name, e.g. ``process``."""
    seconds: float
    """For how long; right to a second."""

    def __str__(self) -> str:
        return f"{self.task} has been in {self.callback} for {self.seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class ExecutorStatistics:
    """One thread of execution."""

    worker: int
    """Number of its worker."""
    tasks: Sequence[str]
    at_s: float
    """The moment of all this, as monotonic time in seconds."""
    busy_s: Sequence[float]
    """For each of its tasks the seconds of its turns."""
    turns: int
    """The number of turns it has given to tasks."""
    rests: int
    """The number of times it had nothing to do."""
    rested_s: float
    """Seconds that it has rested in all."""
    cpu_s: float
    """CPU seconds that its thread has used since its tasks began to run, up to its last reading of the clock.

    They cover the tasks' turns (`RunStatistics.tasks`), rests, and the choice of the next task.
    """
    callback: LongCallback | None = None
    """The callback that it is in, if that has been running for a second or longer."""
    times: Sequence[Counts] = ()
    """For each of its tasks how long its tuples took (`framework.runtime.observation.counters`)."""
    number: int = 0
    """Its number among all executors of the run, from 0."""
    waited_s: Sequence[float] = ()
    """For each of its tasks the seconds of its turns in which it did not compute: it slept, or waited for
    others."""

    def after(self, earlier: ExecutorStatistics) -> ExecutorStatistics:
        """Return these statistics with the turns, rests and CPU time of the executor that it has replaced.

        Figures by task begin again at 0; a comparison of two moments shows that.
        """
        return replace(
            self,
            turns=self.turns + earlier.turns,
            rests=self.rests + earlier.rests,
            rested_s=self.rested_s + earlier.rested_s,
            cpu_s=self.cpu_s + earlier.cpu_s,
        )


@dataclass(frozen=True, slots=True)
class StateStatistics:
    """The size of one declared state, in keys and bytes."""

    component: str
    """Its component; for state by task, ``component:task id``."""
    state: str
    """Its name."""
    per: str
    """``key`` or ``task``."""
    keys: int
    bytes: int
    """Bytes that all state of that component, or task, takes in the memory of state
    (``viper.state.bytes``)."""


@dataclass(frozen=True, slots=True)
class EvaluatorStatistics:
    """The evaluator of the transactions of a group."""

    evaluator: str
    """As planned: ``auto``, ``serial`` or a scheme."""
    threads: int
    """The number of threads of one process that may evaluate."""
    serial: int
    """Evaluations by one thread."""
    parallel: int
    """Evaluations by several."""
    serial_ns: float | None
    """The least time of an instruction on one thread, of the last few; None if that is not known."""
    parallel_ns: float | None
    """Likewise, all threads together."""
    why: str
    """Why it is done so, in one sentence."""


@dataclass(frozen=True, slots=True)
class TransactionStatistics:
    """The transactions of one group of shared tables."""

    tables: Mapping[str, int]
    """The number of keys for which each table has taken room, with rows or without."""
    members: Sequence[str]
    """The bolts whose transactions they are, in order of definition."""
    transactions: int
    """The number of evaluated transactions, aborted ones included."""
    aborted: int
    evaluations: int
    """The number of evaluations of gathered transactions."""
    late: int
    """Transactions that came when others behind their place had been evaluated."""
    held_by: str
    """``component:task id`` of the member that has come least far, and so holds the others."""
    evaluators: EvaluatorStatistics


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """One key group of a component, of those that are used most."""

    component: str
    group: int
    """Its number."""
    task: str
    """``component:task id`` of the task that owns it."""
    accesses: int
    """The number of requests for its keys, to be read or changed: once for each tuple and state."""
    share: float
    """The part of all accesses of the component, from 0 to 1; 0 if there were none."""
    keys: int
    """Keys in all states of the component together."""
    bytes: int
    """Their share of the memory of state."""


@dataclass(frozen=True, slots=True)
class CheckpointStatistics:
    """The checkpoints that a run has written."""

    count: int = 0
    elapsed_s: float = 0.0
    """Seconds from the requests until they were on the disk, of all together."""
    bytes: int = 0
    """Bytes of the parts of all together."""
    paused_s: float = 0.0
    """Seconds for which the task stood still that did so longest, of all together."""
    longest_pause_s: float = 0.0
    last: Written | None = None

    def also(self, written: Written) -> CheckpointStatistics:
        """The same with one more checkpoint."""
        return CheckpointStatistics(
            count=self.count + 1,
            elapsed_s=self.elapsed_s + written.elapsed_s,
            bytes=self.bytes + written.size,
            paused_s=self.paused_s + written.paused_s,
            longest_pause_s=max(self.longest_pause_s, written.paused_s),
            last=written,
        )


@dataclass(frozen=True, slots=True)
class RepeatStatistics:
    """The work that was repeated, as worker processes had died in the middle of it."""

    deaths: int = 0
    """Processes that have died and were restarted."""
    slices: int = 0
    """Slices that were cut off, and that successors have repeated (``viper.recovery: exact``)."""
    tuples: int = 0
    """Tuples of their input, which were processed again."""
    left_out: int = 0
    """Tuples of their output that consumers had already, and that successors have left out."""
    went_back: int = 0
    """The number of times the run has gone back to a checkpoint, or to its beginning, as values had died
    with their process (``durable="checkpoint"``)."""

    @classmethod
    def of(cls, incidents: Iterable[Incident], went_back: int = 0) -> RepeatStatistics:
        """The repeats of the processes that have died, in a run that has gone back so often."""
        found = [incident for incident in incidents if incident.restarted]
        return cls(
            deaths=len(found),
            slices=sum(incident.slices for incident in found),
            tuples=sum(incident.repeated for incident in found),
            left_out=sum(incident.left_out for incident in found),
            went_back=went_back,
        )


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The counts of the tasks of one process."""

    counters: Mapping[int, TaskCounters]
    """By task."""
    results: Mapping[int, Any]
    """Of the sinks that have a result, by task."""
    executors: Sequence[ExecutorStatistics]
    drained: bool
    """True if everything that came to its tasks has been processed."""


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """A whole run."""

    channels: Sequence[ChannelStatistics]
    executors: Sequence[ExecutorStatistics]
    """All executors of this process, and those of other processes as they were when they last reported."""
    states: Sequence[StateStatistics] = ()
    """Declared state, by component."""
    groups: Sequence[GroupStatistics] = ()
    """The key groups of each component with state by key that are used most, the hottest first."""
    checkpoints: CheckpointStatistics = CheckpointStatistics()
    """The checkpoints that it has written."""
    repeats: RepeatStatistics = RepeatStatistics()
    """The work that was repeated after deaths."""
    scaled: Sequence[ScaleChange] = ()
    """The changes of numbers of tasks, in their order."""
    transactions: Sequence[TransactionStatistics] = ()
    """The statistics of each group of shared tables."""
    tasks: Sequence[MeasuredTask] = ()
    """The measurements of each task, by id."""

    def as_object(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        return asdict(self)

    def holding(self) -> Mapping[str, str]:
        """By each task that waits for another one to get further, the task that it waits for."""
        return {
            reader.task: reader.held_by
            for channel in self.channels
            for reader in channel.readers
            if reader.held_by is not None
        }
