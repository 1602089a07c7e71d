"""What a plan is predicted to reach, and what holds it.

All is counted for one tuple that spouts bring, whose nanoseconds of processor time at each place are added
up. A place can do `cores` seconds of work in a second, a task one, and the machine as many as it has cores;
memories and the ways between places move as many bytes as the machine says. Whichever of these is used up
first is the bottleneck.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from framework.costs.deployment import Deployment
from framework.costs.machine import Machine
from framework.costs.profile import Profile, StreamCost
from framework.costs.runs import blocks, run_length
from framework.costs.shape import Flow, Shape, Spread


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a deployment is predicted to do."""

    rate: float
    """Tuples of spouts a second."""
    loads: Mapping[int, float]
    """Nanoseconds of processor time for each tuple of a spout, by index of the place."""
    tasks: Mapping[tuple[str, int], float]
    """The same by component and index of the task."""
    bottleneck: str
    """What is used up first, for people."""
    rates: Mapping[str, float]
    """Tuples that each component processes for each tuple of a spout."""
    runs: Mapping[Flow, float]
    """Mean lengths of runs of each flow; infinite where its consumer has one source."""


def tuples(shape: Shape, profile: Profile) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Tuples that each component processes, and that it emits to each stream, for one tuple of a spout."""
    processed: dict[str, float] = {}
    emitted: dict[tuple[str, str], float] = {}
    brought = sum(profile.components[node.name].share for node in shape.nodes if node.is_spout)
    for node in shape.nodes:
        cost = profile.components[node.name]
        if node.is_spout:
            processed[node.name] = cost.share / brought
        else:
            processed[node.name] = sum(emitted[flow.source, flow.stream] for flow in shape.into[node.name])
        for stream in {flow.stream for flow in shape.flows if flow.source == node.name}:
            selectivity = cost.streams[stream].selectivity
            emitted[node.name, stream] = processed[node.name] * selectivity
    return processed, emitted


def predict(shape: Shape, profile: Profile, machine: Machine, deployment: Deployment) -> Prediction:
    """What a deployment reaches.

    Args:
        shape: the topology's.
        profile: costs of all its components.
        machine: where it runs.
        deployment: what runs where; each component has one task at least.
    """
    return _Costing(shape, profile, machine, deployment).prediction()


class _Costing:
    def __init__(self, shape: Shape, profile: Profile, machine: Machine, deployment: Deployment) -> None:
        self._shape = shape
        self._profile = profile
        self._machine = machine
        self._deployment = deployment
        self._processed, self._emitted = tuples(shape, profile)
        self._tasks: dict[tuple[str, int], float] = defaultdict(float)
        self._moved: dict[tuple[int, int], float] = defaultdict(float)
        self._runs: dict[Flow, float] = {}

    def prediction(self) -> Prediction:
        self._add_components()
        for flow in self._shape.flows:
            self._add_flow(flow)
        self._add_runs()
        loads: dict[int, float] = defaultdict(float)
        for (name, index), ns in self._tasks.items():
            loads[self._deployment.tasks[name][index]] += ns
        period, bottleneck = max(self._limits(loads))
        rate = 1e9 / period if period else math.inf
        return Prediction(
            rate, dict(loads), dict(self._tasks), bottleneck, dict(self._processed), dict(self._runs)
        )

    def _limits(self, loads: Mapping[int, float]) -> Iterator[tuple[float, str]]:
        """Nanoseconds for each tuple of a spout that each limit sets."""
        for place, ns in loads.items():
            yield ns / self._machine.places[place].cores, f"place {place + 1}"
        for (name, index), ns in self._tasks.items():
            yield ns, f"task {index} of {name}"
        yield sum(loads.values()) / self._machine.cores, "all cores"
        for name, rate in self._profile.rates.items():
            yield 1e9 / rate * self._processed[name], f"spout {name}"
        yield from self._machine.moving(self._moved)

    def _add_components(self) -> None:
        for name in self._shape.names:
            cost = self._profile.components[name]
            count = self._deployment.count(name)
            ns = cost.ns * self._processed[name]
            for flow in self._shape.into[name]:
                special = cost.inputs.get(f"{flow.source}/{flow.stream}")
                if special is not None:
                    ns += (special - cost.ns) * self._emitted[flow.source, flow.stream]
            for (source, stream), number in self._emitted.items():
                ns += cost.streams[stream].ns * number if source == name else 0.0
            for index in range(count):
                self._tasks[name, index] += ns / count
                place = self._deployment.tasks[name][index]
                self._moved[place, place] += cost.memory * self._processed[name] / count

    def _add_flow(self, flow: Flow) -> None:
        cost = self._profile.components[flow.source].streams[flow.stream]
        sources, targets = self._deployment.tasks[flow.source], self._deployment.tasks[flow.target]
        each = self._emitted[flow.source, flow.stream] / len(sources)
        for index, place in enumerate(sources):
            for other, reached in enumerate(targets):
                part = each * part_of(flow, other, len(targets))
                if part:
                    self._add_way(flow, cost, part, (index, place), (other, reached))

    def _add_way(
        self, flow: Flow, cost: StreamCost, part: float, source: tuple[int, int], target: tuple[int, int]
    ) -> None:
        """So many tuples from one task, whose index and place are given, to another."""
        (index, place), (other, reached) = source, target
        jumbo = self._profile.jumbo_ns / self._profile.jumbo_tuples / 2
        crosses = place != reached
        self._tasks[flow.source, index] += part * (jumbo + (cost.encode_ns if crosses else 0.0))
        self._moved[place, reached] += part * cost.size if crosses else 0.0
        fetch = self._machine.fetch(place, reached, cost.size)
        self._tasks[flow.target, other] += part * (jumbo + fetch + (cost.decode_ns if crosses else 0.0))

    def _add_runs(self) -> None:
        counts = {name: self._deployment.count(name) for name in self._shape.names}
        out = {(name, stream): n / self._processed[name] for (name, stream), n in self._emitted.items()}
        block = blocks(self._shape, counts, out)
        for name in self._shape.names:
            flows = self._shape.into[name]
            for flow in flows:
                produced = block[flow.source] * out[flow.source, flow.stream]
                length = run_length(flow, produced, counts[name])
                if math.isinf(length) and len(flows) > 1:
                    length = 1.0
                self._runs[flow] = length
                number = self._emitted[flow.source, flow.stream] / length * self._profile.run_ns
                for index in range(counts[name]):
                    self._tasks[name, index] += number * part_of(flow, index, counts[name])


def part_of(flow: Flow, index: int, tasks: int) -> float:
    """The part of a stream that a consumer's task gets.

    Args:
        flow: the stream's way to the consumer.
        index: of the consumer's task.
        tasks: how many the consumer has.
    """
    if flow.spread is Spread.ALL:
        return 1.0
    if flow.spread is Spread.ONE:
        return 1.0 if index == 0 else 0.0
    return 1.0 / tasks
