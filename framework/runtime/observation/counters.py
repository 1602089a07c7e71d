"""The counters of a task, which grow while a topology runs, and histograms of times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import ceil, log2
from typing import Any

from framework.runtime.observation.incidents import Sites, added_sites, raised_once_more


@dataclass(slots=True)
class StreamCounters:
    """Counts of one output stream of a task."""

    tuples: int = 0
    """Tuples emitted."""
    sent: dict[int, int] = field(default_factory=dict)
    """The tuples sent, by id of the receiving task, for tasks that get several streams from this one.

    For all others, the channel counts them.
    """

    def emitted(self, count: int) -> None:
        """Count so many tuples."""
        self.tuples += count

    def add(self, other: StreamCounters) -> None:
        """Add the counts of another task, or of another process of the same one."""
        self.tuples += other.tuples
        for task, count in other.sent.items():
            self.sent[task] = self.sent.get(task, 0) + count


@dataclass(slots=True)
class CostCounters:
    """The resources that a task has used, and their uses. Its executor's thread alone adds to it."""

    cpu_s: float = 0.0
    """CPU seconds of its turns."""
    turns: int = 0
    """Turns in which tuples have moved."""
    idle_turns: int = 0
    """Turns in which none have."""
    streams: dict[str, StreamCounters] = field(default_factory=dict)
    """By name the output streams that somebody receives."""

    def used(self, cpu_s: float) -> None:
        """Count so many CPU seconds."""
        self.cpu_s += cpu_s

    def had_turn(self, moved: int) -> None:
        """Count a turn in which so many tuples have moved."""
        if moved:
            self.turns += 1
        else:
            self.idle_turns += 1

    def add(self, other: CostCounters) -> None:
        """Add the counts of another task, or of another process of the same one."""
        self.cpu_s += other.cpu_s
        self.turns += other.turns
        self.idle_turns += other.idle_turns
        for stream, counts in other.streams.items():
            self.streams.setdefault(stream, StreamCounters()).add(counts)


@dataclass(slots=True, repr=False)
class TaskCounters:
    """Counts of one task. Its thread alone adds to them; other threads may read them.

    Its `repr` has what counted something, without the costs.
    """

    emitted: int = 0
    """Tuples emitted, whether or not anybody subscribes to their stream."""
    processed: int = 0
    """Tuples processed, ticks not included."""
    ticks: int = 0
    """Ticks processed."""
    tracked: int = 0
    """For a spout: tuples emitted with an id and tracked."""
    acked: int = 0
    """For a bolt: tuples that were acked, by the bolt itself or for it when `process` had returned, whether
    or not anybody tracks them.

    For a spout: tracked tuples whose ack it has heard of.
    """
    failed: int = 0
    """For a bolt: tuples that failed here.

    For a spout: tracked tuples whose fail it has heard of.
    """
    unanswered: int = 0
    """For a spout: tracked tuples that were neither acked nor failed when the run ended or the spout died.
    For a bolt that answers itself: untracked ones that it had received, likewise."""
    second_answers: int = 0
    """For a bolt: acks and fails of tuples that had been acked or failed before; they had no effect."""
    closed_anchors: int = 0
    """For a bolt: anchors that named a tuple which had been answered before, or was never received; what was
    emitted is not anchored to it."""
    errors: int = 0
    """Exceptions that did not end the run."""
    error_sites: Sites = field(default_factory=dict)
    """The same by the line of user code that has raised them."""
    expected: int = 0
    """For a spout that knows it: tuples that it will have emitted at its end; 0 where that is not known."""
    restarts: int = 0
    """Times that the component was made again after an exception."""
    lost: int = 0
    """Untracked tuples that were not processed to their end because of an exception."""
    undeclared: int = 0
    """Tuples dropped because their stream is not declared."""
    saturated: int = 0
    """Tuples whose position had no room left for their number among their siblings."""
    raised: int = 0
    """For a spout that was restarted: tuples whose time lay before what it had promised, and was raised."""
    anew: int = 0
    """For a spout that began again, after an exception or in another process: tuples that it had emitted
    until then, which may have come again."""
    late: int = 0
    """For a spout: tuples later than its slack allows; they were dropped, or went to the stream for them."""
    unplanned: int = 0
    """Tuples emitted outside the processing of an input: in `initialize`, by a timer, by a thread."""
    reasons: dict[str, int] = field(default_factory=dict)
    """For a spout: the number of tracked tuples that have failed, by the reason in words."""
    places: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The progress of each partition of a partitioned spout that has ended.

    It is the time of the last row in microseconds, the number of rows of that time, and the mark of its
    offset if rows have offsets. A time of 2**63 - 1 stands for the whole partition.
    """
    metrics: dict[str, Any] = field(default_factory=dict)
    """Last value of each metric that the component reported."""
    costs: CostCounters = field(default_factory=CostCounters, compare=False)
    """The resources it has used, which differ from run to run."""

    def __repr__(self) -> str:
        counted = {one.name: getattr(self, one.name) for one in fields(self) if one.compare}
        told = ", ".join(f"{name}={value!r}" for name, value in counted.items() if value)
        return f"{type(self).__name__}({told})"

    def failed_for(self, reason: str) -> None:
        """Count a tracked tuple that has failed."""
        self.failed += 1
        # A new dictionary, as another thread may be going through the old one.
        self.reasons = {**self.reasons, reason: self.reasons.get(reason, 0) + 1}

    def error_raised(self, error: BaseException, place: str, now_s: float) -> None:
        """Count an exception that does not end the run, raised at this place so many seconds after 1970."""
        self.errors += 1
        self.error_sites = raised_once_more(self.error_sites, place, error, now_s)

    def add_process(self, other: TaskCounters) -> None:
        """Add the counts of another process of the same task."""
        late = max(self.late, other.late)  # which a process goes on counting from where the one before was
        self.add(other)
        self.late = late

    def add(self, other: TaskCounters) -> None:
        """Add the counts of another task of the same component; its metrics win."""
        for name in self.__slots__:
            if name in ("metrics", "places"):
                getattr(self, name).update(getattr(other, name))
            elif name == "error_sites":
                self.error_sites = added_sites([self.error_sites, other.error_sites])
            elif name == "costs":
                self.costs.add(other.costs)
            elif name == "expected":  # one task knows it, and maybe the process before as well
                self.expected = max(self.expected, other.expected)
            elif name == "reasons":
                for reason, count in other.reasons.items():
                    self.reasons[reason] = self.reasons.get(reason, 0) + count
            else:
                setattr(self, name, getattr(self, name) + getattr(other, name))


PER_DOUBLING = 4
"""Buckets from one time to its double, so that what is read is at most 19 % above what was counted."""
_SMALLEST_S = 1e-6
_LAST = 27 * PER_DOUBLING
"""The last bucket, which has all that takes longer than 134 seconds as well."""

Counts = Sequence[tuple[int, int]]
"""A histogram as a value: the buckets that are not empty, by their numbers, and what was counted in each."""


class TimeHistogram:
    """Counts how often something took how long, in buckets whose bounds grow by a constant factor.

    One thread adds; others may read at any time, and see at most a single addition less.
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts = [0] * (_LAST + 1)

    def add(self, seconds: float, times: int = 1) -> None:
        """Count a time in seconds, so many times."""
        scaled = seconds / _SMALLEST_S
        bucket = 0 if scaled <= 1.0 else min(ceil(PER_DOUBLING * log2(scaled)), _LAST)
        self._counts[bucket] += times

    def counts(self) -> Counts:
        """The counts so far."""
        return tuple((bucket, count) for bucket, count in enumerate(self._counts) if count)


def bound_s(bucket: int) -> float:
    """The longest time in seconds that a bucket counts; of the last one, as if it counted no longer ones."""
    return float(_SMALLEST_S * 2 ** (bucket / PER_DOUBLING))


def added(histograms: Iterable[Counts]) -> Counts:
    """All that several histograms have counted."""
    total: dict[int, int] = {}
    for counts in histograms:
        for bucket, count in counts:
            total[bucket] = total.get(bucket, 0) + count
    return tuple(sorted(total.items()))


def since(before: Counts, now: Counts) -> Counts:
    """The counts between two moments; all of the later one if it has begun again in between."""
    earlier: Mapping[int, int] = dict(before)
    left = {bucket: count - earlier.get(bucket, 0) for bucket, count in now}
    if earlier.keys() - left.keys() or any(count < 0 for count in left.values()):
        return tuple(now)
    return tuple((bucket, count) for bucket, count in left.items() if count)


def percentile_s(counts: Counts, share: float) -> float | None:
    """The time in seconds that this share of what was counted does not exceed; None if nothing was.

    Args:
        counts: the histogram.
        share: from 0 to 1, e.g. 0.99.
    """
    wanted = share * sum(count for _, count in counts)
    reached = 0
    for bucket, count in counts:
        reached += count
        if reached >= wanted:
            return bound_s(bucket)
    return None
