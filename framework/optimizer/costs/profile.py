"""The costs of the components of a topology: measured, edited, or taken from a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class StreamCost:
    """The tuples that a component emits to a stream, and their costs."""

    selectivity: float
    """Tuples for each one that the component processes; of a spout, for each one that it brings."""
    size: float = 0.0
    """Bytes of a tuple on its way to another process, or from socket to socket."""
    ns: float = 0.0
    """Nanoseconds for each tuple, to emit and to route it."""
    encode_ns: float = 0.0
    """For each tuple that leaves for another process, at its producer."""
    decode_ns: float = 0.0
    """The same, at its consumer."""


@dataclass(frozen=True, slots=True)
class Variation:
    """The differences between the times of a component's tuples, by the clock, waiting included.

    They are times of short turns, so single tuples are known where they take long.
    """

    spread: float
    """Their standard deviation, divided by their mean."""
    slow: float
    """The part of all their time, from 0 to 1, in tuples that take 50 ms and some 1,000 times as long as half
    of the tuples do, or longer."""


@dataclass(frozen=True, slots=True)
class ComponentCost:
    """The costs of a component for each tuple."""

    ns: float
    """Nanoseconds for each tuple that it processes; of a spout, that it brings."""
    streams: Mapping[str, StreamCost] = field(default_factory=dict)
    """By name of the stream."""
    inputs: Mapping[str, float] = field(default_factory=dict)
    """The time of tuples of an input stream, if it is another than `ns`: by ``source/stream``."""
    share: float = 1.0
    """Of a spout: its part of all tuples that spouts bring."""
    memory: float = 0.0
    """Bytes of a place's memory that each tuple has read and written, beside what is fetched of it."""
    variation: Variation | None = None
    """None where it was not measured."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All that a model has to know of a topology beside its shape, and of what the runtime costs."""

    components: Mapping[str, ComponentCost]
    """By name."""
    run_ns: float = 0.0
    """For each run of tuples that a task takes from one of several sources before another."""
    jumbo_ns: float = 0.0
    """For each jumbo tuple, at its producer and its consumer together; half is counted for each."""
    jumbo_tuples: float = 1000.0
    """Tuples of a jumbo tuple, on average."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Tuples a second that a spout can bring at most, where something else than time limits it, by name."""

    def varying(self, found: Mapping[str, Variation]) -> Profile:
        """The same, with how the times of these components' tuples vary, by name."""
        costs = {name: replace(cost, variation=found.get(name)) for name, cost in self.components.items()}
        return replace(self, components=costs)


def rounded(profile: Profile, digits: int) -> Profile:
    """The profile in so many significant digits.

    Args:
        profile: any.
        digits: at least 1.
    """

    def short(number: float) -> float:
        return float(f"{number:.{digits}g}")

    def stream(cost: StreamCost) -> StreamCost:
        return StreamCost(*map(short, (cost.selectivity, cost.size, cost.ns, cost.encode_ns, cost.decode_ns)))

    def component(cost: ComponentCost) -> ComponentCost:
        return ComponentCost(
            short(cost.ns),
            {name: stream(one) for name, one in cost.streams.items()},
            {name: short(ns) for name, ns in cost.inputs.items()},
            share=short(cost.share),
            memory=short(cost.memory),
            variation=cost.variation and Variation(short(cost.variation.spread), short(cost.variation.slow)),
        )

    return replace(
        profile,
        components={name: component(one) for name, one in profile.components.items()},
        run_ns=short(profile.run_ns),
        jumbo_ns=short(profile.jumbo_ns),
        jumbo_tuples=short(profile.jumbo_tuples),
        rates={name: short(rate) for name, rate in profile.rates.items()},
    )
