"""What a run tells of its tasks: counts, and the processor time that they took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass
class TaskSample:
    """One task in one run."""

    component: str
    cpu_ns: float
    processed: int = 0
    """Tuples that it took in; of a spout, that it brought."""
    runs: int = 0
    """Runs that it took from one of several sources each."""
    jumbos: int = 0
    """Jumbo tuples that it took and sent."""
    encoded: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Tuples that left for another process, by ``component/consumer``."""
    decoded: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """The same of tuples that came from one."""


@dataclass
class Sample:
    """One run."""

    tasks: Mapping[str, TaskSample]
    """By ``component:task id``."""
    places: Mapping[str, int]
    """The worker of each task."""
    emitted: Mapping[str, int]
    """Tuples that each component emitted."""
    processed: Mapping[str, int]
    """Tuples that each component took in; of a spout, that it brought."""
    sent: Mapping[str, tuple[int, int, int]]
    """By ``producer/consumer``: tuples, jumbo tuples, and bytes of those for other processes."""
    crossed: Mapping[str, int]
    """By ``producer/consumer``: tuples that went to another process."""
    lengths: Mapping[str, float]
    """By consumer: mean length of the runs that its tasks took from one of several sources."""
    elapsed_s: float

    @property
    def brought(self) -> int:
        """Tuples that all spouts brought."""
        consumed = {way.partition("/")[2] for way in self.sent}
        return sum(count for name, count in self.processed.items() if name not in consumed)

    def at_speed(self, factor: float) -> Sample:
        """The same as if all processor time had been so many times as long.

        Args:
            factor: above 1 where the machine was faster at that time than it usually is.
        """
        tasks = {name: replace(task, cpu_ns=task.cpu_ns * factor) for name, task in self.tasks.items()}
        return replace(self, tasks=tasks)

    def loads_ns(self) -> dict[int, float]:
        """Processor time of each worker for each tuple that spouts brought."""
        loads: dict[int, float] = defaultdict(float)
        for name, task in self.tasks.items():
            loads[self.places[name]] += task.cpu_ns / self.brought
        return dict(loads)


def component_of(task: str) -> str:
    """The component of ``component:task id``."""
    return task.rpartition(":")[0]


def sample_of(report: Mapping[str, Any]) -> Sample:
    """What the report of a run says (`viper run --report`).

    Where processor time is known by executor only, each of its tasks gets as much of it as it has had of the
    time of turns.
    """
    statistics = report["statistics"]
    tasks: dict[str, TaskSample] = {}
    places: dict[str, int] = {}
    measured = {f"{t['component']}:{t['task']}": t["cpu_s"] for t in statistics.get("tasks", ())}
    for executor in statistics["executors"]:
        for name, ns in _cpu(executor, measured):
            tasks[name] = TaskSample(component_of(name), ns)
            places[name] = executor["worker"]
    sent: dict[str, tuple[int, int, int]] = {}
    crossed: dict[str, int] = defaultdict(int)
    lengths: dict[str, tuple[int, int]] = {}
    for channel in statistics["channels"]:
        _add_channel(channel, tasks, places, sent, crossed)
        if len(channel["sources"]) > 1:
            for reader in channel["readers"]:
                before = lengths.get(component_of(reader["task"]), (0, 0))
                now = before[0] + reader["delivered"], before[1] + reader["runs"]
                lengths[component_of(reader["task"])] = now
    emitted = {name: counts["emitted"] for name, counts in report["components"].items()}
    processed = {
        name: counts["processed"] or counts["emitted"] for name, counts in report["components"].items()
    }
    consumers = {component_of(reader["task"]) for c in statistics["channels"] for reader in c["readers"]}
    for name, task in tasks.items():
        if task.component not in consumers:
            task.processed = _brought(name, statistics["channels"]) or processed[task.component]
    means = {name: delivered / runs for name, (delivered, runs) in lengths.items() if runs}
    return Sample(tasks, places, emitted, processed, sent, crossed, means, report["elapsed_s"])


def _cpu(executor: Mapping[str, Any], measured: Mapping[str, float]) -> list[tuple[str, float]]:
    names, busy = executor["tasks"], executor["busy_s"]
    if all(name in measured for name in names):
        return [(name, measured[name] * 1e9) for name in names]
    whole = sum(busy) or 1.0
    return [(name, executor["cpu_s"] * 1e9 * part / whole) for name, part in zip(names, busy, strict=True)]


def _brought(task: str, channels: list[Mapping[str, Any]]) -> int:
    """Tuples that a spout's task sent to the component that got the most of them."""
    by_consumer: dict[str, int] = defaultdict(int)
    for channel in channels:
        consumer = component_of(channel["readers"][0]["task"])
        for source in channel["sources"]:
            by_consumer[consumer] += source["tuples"] if source["task"] == task else 0
    return max(by_consumer.values(), default=0)


def _add_channel(
    channel: Mapping[str, Any],
    tasks: Mapping[str, TaskSample],
    places: Mapping[str, int],
    sent: dict[str, tuple[int, int, int]],
    crossed: dict[str, int],
) -> None:
    for reader in channel["readers"]:
        taker = tasks[reader["task"]]
        taker.processed += reader["delivered"]
        taker.runs += reader["runs"] if len(channel["sources"]) > 1 else 0
        for source in channel["sources"]:
            giver = tasks[source["task"]]
            way = f"{giver.component}/{taker.component}"
            tuples, jumbos, size = sent.get(way, (0, 0, 0))
            sent[way] = (tuples + source["tuples"], jumbos + source["jumbos"], size + source["payload_bytes"])
            giver.jumbos += source["jumbos"]
            taker.jumbos += source["jumbos"]
            if places[source["task"]] != places[reader["task"]]:
                crossed[way] += source["tuples"]
                giver.encoded[way] += source["tuples"]
                taker.decoded[way] += source["tuples"]
