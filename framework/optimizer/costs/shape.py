"""The shape of a topology: what a model of its costs has to know of it, and nothing else."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


class Spread(enum.StrEnum):
    """The way in which a stream's tuples are divided among the tasks of a consumer."""

    TURNS = "turns"
    """Each task in turn gets a run of them."""
    KEYS = "keys"
    """By key, so evenly, and neighbours independently of each other."""
    ALL = "all"
    """Each task gets every one."""
    ONE = "one"
    """The first task gets every one."""


@dataclass(frozen=True, slots=True)
class Node:
    """A component."""

    name: str
    is_spout: bool
    most: int
    """Tasks that it may have at most."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A stream from one component to another."""

    source: str
    stream: str
    target: str
    spread: Spread
    turn: int = 1
    """Tuples of a run, where tasks take turns."""


@dataclass(frozen=True)
class Shape:
    """All components, each after those that it receives from, and the flows between them, without cycles."""

    nodes: tuple[Node, ...]
    flows: tuple[Flow, ...]
    spouts_take_turns: bool = False
    """True if tuples of spouts have numbers and no times of their own, so that each task brings one in
    turn."""

    @cached_property
    def into(self) -> Mapping[str, tuple[Flow, ...]]:
        """The flows into each component, by name."""
        return {n.name: tuple(flow for flow in self.flows if flow.target == n.name) for n in self.nodes}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all components, in the order of the stream."""
        return tuple(node.name for node in self.nodes)

    def node(self, name: str) -> Node:
        """The component of this name.

        Raises:
            KeyError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)
