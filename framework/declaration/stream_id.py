"""The name of a stream of a component, as an input refers to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from framework.topology import DEFAULT_STREAM


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
