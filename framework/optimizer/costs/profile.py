"""What the components of a topology cost: measured, edited, or taken from a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StreamCost:
    """What a component emits to a stream."""

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
class ComponentCost:
    """What a component does with a tuple."""

    ns: float
    """Nanoseconds for each tuple that it processes; of a spout, that it brings."""
    streams: Mapping[str, StreamCost] = field(default_factory=dict)
    """By name of the stream."""
    inputs: Mapping[str, float] = field(default_factory=dict)
    """Where tuples of one input stream take another time than `ns`: by ``source/stream``."""
    share: float = 1.0
    """Of a spout: its part of all tuples that spouts bring."""
    memory: float = 0.0
    """Bytes of a place's memory that each tuple has read and written, beside what is fetched of it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All that a model has to know of a topology beside its shape, and of what the runtime costs."""

    components: Mapping[str, ComponentCost]
    """By name."""
    run_ns: float = 0.0
    """For each run of tuples that a task takes from one of several sources before it goes on with another."""
    jumbo_ns: float = 0.0
    """For each jumbo tuple, at its producer and its consumer together; half is counted for each."""
    jumbo_tuples: float = 1000.0
    """Tuples of a jumbo tuple, on average."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Tuples a second that a spout can bring at most, where something else than time limits it, by name."""
