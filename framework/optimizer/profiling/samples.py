"""The tasks of a run: counts, and the processor time that they took."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from framework.optimizer.costs import Variation


@dataclass
class TaskSample:
    """One task in one run."""

    component: str
    cpu_ns: float
    processed: int = 0
    """Tuples that it took in; of a spout, that it brought."""
    runs: int = 0
    """Runs that it took from one of several sources each."""
    encoded: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Tuples that left for another process, by ``component/consumer``."""
    decoded: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """The same of tuples that came from one."""

    def add(self, other: TaskSample) -> None:
        """Count what the task has done in another sample, too."""
        self.cpu_ns += other.cpu_ns
        self.processed += other.processed
        self.runs += other.runs
        for mine, more in ((self.encoded, other.encoded), (self.decoded, other.decoded)):
            for way, tuples in more.items():
                mine[way] += tuples


@dataclass(frozen=True)
class Way:
    """The traffic from one component to another in a run."""

    tuples: int
    jumbos: int
    bytes: int
    """Of tuples for other processes."""
    crossed: int
    """Tuples that went to another process."""

    def plus(self, other: Way) -> Way:
        """Both together."""
        return Way(
            self.tuples + other.tuples,
            self.jumbos + other.jumbos,
            self.bytes + other.bytes,
            self.crossed + other.crossed,
        )


@dataclass(frozen=True)
class Sample:
    """One run."""

    tasks: Mapping[str, TaskSample]
    """By ``component:task id``."""
    places: Mapping[str, int]
    """The worker of each task."""
    processed: Mapping[str, int]
    """Tuples that each component took in; of a spout, that it brought."""
    emitted: Mapping[str, int]
    """Tuples that each component emitted to each stream, by ``component/stream``."""
    ways: Mapping[str, Way]
    """By ``producer/consumer``."""
    lengths: Mapping[str, float]
    """By consumer: mean length of the runs that its tasks took from one of several sources."""
    elapsed_s: float

    @property
    def brought(self) -> int:
        """Tuples that all spouts brought."""
        consumed = {way.partition("/")[2] for way in self.ways}
        return sum(count for name, count in self.processed.items() if name not in consumed)

    def at_speed(self, factor: float) -> Sample:
        """The same as if all of it had taken so many times as long.

        The time of the run is taken to be that of a worker that computes without a pause.

        Args:
            factor: above 1 where the machine was faster at that time than it usually is.
        """
        tasks = {name: replace(task, cpu_ns=task.cpu_ns * factor) for name, task in self.tasks.items()}
        return replace(self, tasks=tasks, elapsed_s=self.elapsed_s * factor)

    def loads_ns(self) -> dict[int, float]:
        """Processor time of each worker for each tuple that spouts brought."""
        loads: dict[int, float] = defaultdict(float)
        for name, task in self.tasks.items():
            loads[self.places[name]] += task.cpu_ns / self.brought
        return dict(loads)


def summed(samples: Sequence[Sample]) -> Sample:
    """All that was done in several runs, or parts of one, with the same plan; lengths of runs are left out.

    Args:
        samples: at least one.
    """
    first = samples[0]
    tasks = {name: TaskSample(task.component, 0.0) for name, task in first.tasks.items()}
    ways: dict[str, Way] = {}
    processed, emitted = Counter[str](), Counter[str]()
    for sample in samples:
        for name, task in sample.tasks.items():
            tasks[name].add(task)
        for name, way in sample.ways.items():
            ways[name] = way.plus(ways[name]) if name in ways else way
        processed.update(sample.processed)
        emitted.update(sample.emitted)
    elapsed_s = sum(sample.elapsed_s for sample in samples)
    return Sample(tasks, first.places, processed, emitted, ways, {}, elapsed_s)


def sample_of(report: Mapping[str, Any]) -> Sample:
    """Read the tasks from the report of a run (`viper run --report`)."""
    measured: Sequence[Mapping[str, Any]] = report["statistics"]["tasks"]
    names = {f"{task['component']}:{task['task']}": task for task in measured}
    tasks = {name: _task(task) for name, task in names.items()}
    processed: dict[str, int] = defaultdict(int)
    for task in tasks.values():
        processed[task.component] += task.processed
    return Sample(
        tasks,
        {name: task["worker"] for name, task in names.items()},
        processed,
        _emitted(measured),
        _ways(measured),
        _lengths(measured),
        report["elapsed_s"],
    )


def variations_of(report: Mapping[str, Any]) -> Mapping[str, Variation]:
    """Read how the times of each component's tuples vary, from the report of a run.

    Args:
        report: of a run in which a turn of a task had so few tuples (`OF_TURN`), as times are those of turns.
    """
    times: dict[str, Counter[int]] = defaultdict(Counter)
    for executor in report["statistics"]["executors"]:
        for task, counts in zip(executor["tasks"], executor["times"], strict=True):
            times[_component(task)].update(dict(counts))
    return {name: variation(counts) for name, counts in times.items() if counts}


OF_TURN: Final = 16
"""The most tuples of a turn where times of turns are to say how tuples vary.

A tuple that takes as long as a thousand others shows, and many tuples are seen: with turns of one tuple, a
run of 3 s had 1,278 of them. Tuples that take longer than half a millisecond get turns of their own anyway.
"""
_PER_DOUBLING = 4
"""Buckets of the times of a report from one time to its double; the first ends at a microsecond."""
_MUCH = 1000 / OF_TURN
_LONG_S = 0.05
"""Shorter turns do not count as slow. On a busy machine other programs take turns of 5 to 15 ms: up to 40 %
of the time of a bolt whose tuples are all alike."""


def variation(counts: Mapping[int, int]) -> Variation:
    """The variation of times.

    Args:
        counts: in each bucket, by its number, the tuples whose turns took that time; there is at least one.
    """
    buckets = sorted((1e-6 * 2.0 ** (bucket / _PER_DOUBLING), count) for bucket, count in counts.items())
    number = sum(count for _, count in buckets)
    mean = sum(time * count for time, count in buckets) / number
    deviation = math.sqrt(sum((time - mean) ** 2 * count for time, count in buckets) / number)
    reached, half = 0, buckets[-1][0]
    for time, count in buckets:
        reached += count
        if 2 * reached >= number:
            half = time
            break
    slow = sum(time * count for time, count in buckets if time >= max(_MUCH * half, _LONG_S))
    return Variation(deviation / mean, slow / (mean * number))


def _task(told: Mapping[str, Any]) -> TaskSample:
    found = TaskSample(told["component"], told["cpu_s"] * 1e9)
    for given in told["inputs"]:
        found.processed += given["tuples"]
        if len(told["inputs"]) > 1:
            found.runs += given["runs"]
        if given["decoded"]:
            found.decoded[f"{_component(given['task'])}/{found.component}"] += given["decoded"]
    for given in told["outputs"]:
        if given["encoded"]:
            found.encoded[f"{found.component}/{_component(given['tasks'][0])}"] += given["encoded"]
    if not told["inputs"]:
        found.processed = sum(told["emitted"].values())
    return found


def _component(task: str) -> str:
    return task.rpartition(":")[0]


def _emitted(measured: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for task in measured:
        for stream, count in task["emitted"].items():
            found[f"{task['component']}/{stream}"] += count
    return found


def _ways(measured: Sequence[Mapping[str, Any]]) -> dict[str, Way]:
    found: dict[str, Way] = {}
    for task in measured:
        for out in task["outputs"]:
            name = f"{task['component']}/{_component(out['tasks'][0])}"
            way = Way(out["tuples"], out["jumbos"], out["bytes"], out["encoded"])
            found[name] = way.plus(found[name]) if name in found else way
    return found


def _lengths(measured: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    taken: dict[str, int] = defaultdict(int)
    runs: dict[str, int] = defaultdict(int)
    for task in measured:
        if len(task["inputs"]) > 1:
            taken[task["component"]] += sum(given["tuples"] for given in task["inputs"])
            runs[task["component"]] += sum(given["runs"] for given in task["inputs"])
    return {name: taken[name] / runs[name] for name in taken if runs[name]}
