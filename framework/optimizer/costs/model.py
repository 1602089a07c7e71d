"""The rate that a plan is predicted to reach, and its bottleneck.

All is counted for one tuple that spouts bring, whose nanoseconds of processor time at each place are added
up. A place can do `cores` seconds of work in a second, a task one, and the machine as many as it has cores.
Memories and the ways between places move as many bytes as the machine says. Whichever of these is used up
first is the bottleneck.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from framework.optimizer.costs.deployment import Deployment
from framework.optimizer.costs.machine import Machine
from framework.optimizer.costs.profile import Profile
from framework.optimizer.costs.runs import block_of, run_length
from framework.optimizer.costs.shape import Flow, Shape, Spread


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for a deployment: its rate, its loads and its bottleneck."""

    rate: float
    """Tuples of spouts a second."""
    loads: Mapping[int, float]
    """Nanoseconds of processor time for each tuple of a spout, by index of the place."""
    tasks: Mapping[tuple[str, int], float]
    """The same by component and index of the task."""
    bottleneck: str
    """The first resource that is used up, for people."""
    rates: Mapping[str, float]
    """Tuples that each component processes for each tuple of a spout."""
    runs: Mapping[Flow, float]
    """Mean lengths of runs of each flow; infinite where its consumer has one source."""


def tuples(shape: Shape, profile: Profile) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """Tuples that each component processes, and that it emits to each stream, for one tuple of a spout.

    All tasks of a component are taken together. A stream that goes to all of them counts once for each of as
    many as it may have, as such a component keeps its number of tasks.
    """
    processed: dict[str, float] = {}
    emitted: dict[tuple[str, str], float] = {}
    brought = sum(profile.components[node.name].share for node in shape.nodes if node.is_spout)
    for node in shape.nodes:
        cost = profile.components[node.name]
        if node.is_spout:
            processed[node.name] = cost.share / brought
        else:
            processed[node.name] = sum(
                emitted[flow.source, flow.stream] * (node.most if flow.spread is Spread.ALL else 1)
                for flow in shape.into[node.name]
            )
        for stream in {flow.stream for flow in shape.flows if flow.source == node.name}:
            selectivity = cost.streams[stream].selectivity
            emitted[node.name, stream] = processed[node.name] * selectivity
    return processed, emitted


def predict(shape: Shape, profile: Profile, machine: Machine, deployment: Deployment) -> Prediction:
    """Predict the rate of a deployment.

    Args:
        shape: the topology's.
        profile: costs of all its components.
        machine: where it runs.
        deployment: the place of each task; each component has one task at least.
    """
    model = CostModel(shape, profile, machine)
    tasks: dict[tuple[str, int], float] = defaultdict(float)
    placed: dict[str, tuple[int, ...]] = {}
    for name in shape.names:
        placed[name] = deployment.tasks[name]
        for task, ns in model.added(name, placed):
            tasks[task] += ns
    loads: dict[int, float] = defaultdict(float)
    for (name, index), ns in tasks.items():
        loads[placed[name][index]] += ns
    moving = machine.moving(model.moved(placed))
    period, bottleneck = max(chain(model.limits(loads, tasks), moving))
    rate = 1e9 / period if period else math.inf
    counts = {name: len(places) for name, places in placed.items()}
    runs = {flow: model.run_length(flow, counts[flow.source], counts[flow.target]) for flow in shape.flows}
    return Prediction(rate, dict(loads), dict(tasks), bottleneck, dict(model.processed), runs)


class CostModel:
    """The costs of a topology on a machine, component by component, so that plans can be built up.

    Args:
        shape: the topology's.
        profile: costs of all its components.
        machine: where it runs.
    """

    def __init__(self, shape: Shape, profile: Profile, machine: Machine) -> None:
        self._shape = shape
        self._profile = profile
        self._machine = machine
        self.processed, self.emitted = tuples(shape, profile)
        self._own = {name: self._own_ns(name) for name in shape.names}

    def least_ns(self, name: str) -> float:
        """Nanoseconds that all tasks of a component take at least for each tuple of a spout."""
        return self._own[name]

    def added(
        self, name: str, placed: Mapping[str, tuple[int, ...]]
    ) -> Iterator[tuple[tuple[str, int], float]]:
        """Yield the work that is added when a component joins those before it, for each tuple of a spout.

        Args:
            name: of the component.
            placed: the places of its tasks, and of those of all components before it.

        Yields:
            A task, as component and index, and nanoseconds; of the component, and of those that send to it.
        """
        count = len(placed[name])
        for index in range(count):
            yield (name, index), self._own[name] / count
        for flow in self._shape.into[name]:
            number = self.emitted[flow.source, flow.stream]
            length = self.run_length(flow, len(placed[flow.source]), count)
            for index in range(count):
                yield (name, index), number / length * self._profile.run_ns * part_of(flow, index, count)
            yield from self._ways(flow, placed[flow.source], placed[name])

    def moved(self, placed: Mapping[str, tuple[int, ...]]) -> dict[tuple[int, int], float]:
        """Bytes that are moved for each tuple of a spout, by the place they are at and that they go to.

        Args:
            placed: the places of the tasks of all components.
        """
        found: dict[tuple[int, int], float] = defaultdict(float)
        for name, places in placed.items():
            for place in places:
                own = self._profile.components[name].memory * self.processed[name] / len(places)
                found[place, place] += own
        for flow in self._shape.flows:
            size = self._profile.components[flow.source].streams[flow.stream].size
            sources, targets = placed[flow.source], placed[flow.target]
            each = self.emitted[flow.source, flow.stream] / len(sources) * size
            for other, reached in enumerate(targets):
                for place in sources:
                    if place != reached:
                        found[place, reached] += each * part_of(flow, other, len(targets))
        return found

    def run_length(self, flow: Flow, sources: int, targets: int) -> float:
        """The mean length of a consumer's runs of a flow, for so many tasks of its producer and its own.

        Infinite where the consumer has one source only.
        """
        each = self._profile.components[flow.source].streams[flow.stream].selectivity
        length = run_length(flow, block_of(self._shape, flow.source, sources), each, sources, targets)
        if len(self._shape.into[flow.target]) == 1:
            return length
        # What was made of one tuple stands together, and tuples of other streams come in between.
        return min(length, max(1.0, each if flow.spread is Spread.ALL else each / targets))

    def limits(
        self, loads: Mapping[int, float], tasks: Mapping[tuple[str, int], float]
    ) -> Iterator[tuple[float, str]]:
        """Nanoseconds for each tuple of a spout that each limit sets, and what it is.

        Args:
            loads: nanoseconds for each tuple of a spout, by place.
            tasks: the same by task.
        """
        for place, ns in loads.items():
            yield ns / self._machine.places[place].cores, f"place {place + 1}"
        for (name, index), ns in tasks.items():
            yield ns, f"task {index} of {name}"
        yield sum(loads.values()) / self._machine.cores, "all cores"
        for name, rate in self._profile.rates.items():
            yield 1e9 / rate * self.processed[name], f"spout {name}"

    def _own_ns(self, name: str) -> float:
        cost = self._profile.components[name]
        ns = cost.ns * self.processed[name]
        for flow in self._shape.into[name]:
            number = self.emitted[flow.source, flow.stream]
            number *= self._shape.node(name).most if flow.spread is Spread.ALL else 1
            special = cost.inputs.get(f"{flow.source}/{flow.stream}", cost.ns)
            ns += (special - cost.ns + self._profile.jumbo_ns / self._profile.jumbo_tuples / 2) * number
        for flow in (flow for flow in self._shape.flows if flow.source == name):
            ns += self._profile.jumbo_ns / self._profile.jumbo_tuples / 2 * self.emitted[name, flow.stream]
        for stream in {flow.stream for flow in self._shape.flows if flow.source == name}:
            ns += cost.streams[stream].ns * self.emitted[name, stream]
        return ns

    def _ways(
        self, flow: Flow, sources: tuple[int, ...], targets: tuple[int, ...]
    ) -> Iterator[tuple[tuple[str, int], float]]:
        """Yield the work of bringing tuples from place to place."""
        cost = self._profile.components[flow.source].streams[flow.stream]
        each = self.emitted[flow.source, flow.stream] / len(sources)
        for other, reached in enumerate(targets):
            part = each * part_of(flow, other, len(targets))
            for index, place in enumerate(sources):
                if part and place != reached:
                    fetch = self._machine.fetch(place, reached, cost.size)
                    yield (flow.source, index), part * cost.encode_ns
                    yield (flow.target, other), part * (cost.decode_ns + fetch)


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
