"""A component as it is declared: what ``Cls.spec(...)`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from framework.declaration.stream_id import GlobalStreamId
from framework.topology import Grouping, Implementation, Role, Stream, unknown

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
