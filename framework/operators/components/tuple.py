"""The tuple as a component sees it."""

from __future__ import annotations

from typing import Any, NamedTuple

TICK_COMPONENT = "__system"
TICK_STREAM = "__tick"
"""Ticks come from this component on this stream, as in Storm."""
TICK_ID = "tick"
"""The beginning of a tick's id; nobody waits for an answer to it."""


class Tuple(NamedTuple):
    """One received tuple, with streamparse's attributes in streamparse's order."""

    id: str
    """Opaque; differs with the plan and from run to run."""
    component: str
    """Id of the component that emitted it."""
    stream: str
    """Name of the stream it came on."""
    task: int
    """Id of the task that emitted it."""
    values: Any
    """A tuple of its values, and a named one where the stream declares its fields: ``values.word``. It is not
    typed further, as no type checker can know which fields the stream declares."""
