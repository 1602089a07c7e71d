"""A component as it is declared, which is what ``Cls.spec(...)`` returns, and its streams by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from framework.model.topology import DEFAULT_STREAM, Grouping, Implementation, Role, Stream, unknown


class Named(Protocol):
    """A spec, ours or streamparse's; it has its name from the moment its topology class exists."""

    name: str | None
    component_cls: type


@dataclass(frozen=True, slots=True)
class GlobalStreamId:
    """A stream of a component, by the component's name or its spec.

    By name it may refer to a component that is declared further down, which is how
    a topology with a cycle is written. The attributes are called as in streamparse.

    Raises:
        TypeError: the component is neither a str nor a spec, or the stream is no str.
    """

    componentId: str | Named
    streamId: str = DEFAULT_STREAM

    def __post_init__(self) -> None:
        if not isinstance(self.componentId, str) and not hasattr(self.componentId, "name"):
            raise TypeError(f"componentId must be a component's name or spec, found {self.componentId!r}")
        if not isinstance(self.streamId, str):
            raise TypeError(f"streamId must be a str, found {self.streamId!r}")

    @property
    def component_name(self) -> str:
        """Name of the component, or words for a spec that has none yet."""
        if isinstance(self.componentId, str):
            return self.componentId
        return self.componentId.name or f"<unnamed spec of {self.componentId.component_cls.__name__}>"


Par = int | Mapping[str, int]
"""Parallelism, or the parallelism in each environment."""

Inputs = tuple[tuple[GlobalStreamId, Grouping], ...]
"""Subscriptions in the order in which they were declared."""


@dataclass(slots=True, eq=False, repr=False)
class Spec:
    """A component with its inputs, parallelism and configuration.

    ``spec["stream"]`` names one of its streams as an input of another component.
    """

    component_cls: type
    role: Role
    implementation: Implementation
    name: str | None = None
    """Id of the component; the topology class gives it the attribute's name if None."""
    inputs: Inputs = ()
    par: Par = 1
    config: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[Stream, ...] = ()
    tasks: int | None = None
    """Number of tasks, where it differs from the parallelism."""
    resources: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"name must be a str, found {self.name!r}")

    def __getitem__(self, stream: str) -> GlobalStreamId:
        """The stream of that name.

        Raises:
            KeyError: the component declares no such stream.
        """
        names = [output.name for output in self.outputs]
        if stream not in names:
            raise KeyError(unknown(f"stream of {self.component_cls.__name__}", stream, names))
        return GlobalStreamId(self, stream)

    def __repr__(self) -> str:
        return f"<{self.role} spec {self.name or '(not named yet)'} of {self.component_cls.__name__}>"
