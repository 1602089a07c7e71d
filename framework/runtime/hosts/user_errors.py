"""Exceptions of user code: which ones are the component's own, and what can happen after one."""

from __future__ import annotations

import enum
import sys

from framework.topology import did_you_mean


class OnError(enum.StrEnum):
    """What happens when a component raises."""

    STOP = "stop"
    """The run ends with that error."""
    RESTART = "restart"
    """The component is constructed and initialized again, as Storm does it; its state is gone."""
    SKIP = "skip"
    """The component goes on with the next tuple."""


TRIES = 10
"""Restarts of a component of ours within the window, where the configuration leaves that open."""


def user_errors() -> tuple[type[BaseException], ...]:
    """The classes, for an ``except``; KeyboardInterrupt and our own stop signal pass through.

    asyncio's CancelledError, which is no Exception, is among them where somebody has imported asyncio.
    """
    asyncio = sys.modules.get("asyncio.exceptions")
    cancelled = (asyncio.CancelledError,) if asyncio is not None else ()
    return (Exception, SystemExit, GeneratorExit, *cancelled)


def name_the_fields(error: BaseException) -> None:
    """Have an error of a field that a tuple's values do not have say which fields there are.

    Python's own message names a class that the user has never seen. The class of the values could raise a
    better one itself, but then each access to a field that does exist would take longer.
    """
    if not isinstance(error, AttributeError) or error.name is None:
        return
    stream = getattr(type(error.obj), "_stream", None)
    if stream is None or not isinstance(error.obj, tuple):
        return
    fields: tuple[str, ...] = type(error.obj)._fields  # type: ignore[attr-defined]
    near = did_you_mean(error.name, fields)
    error.args = (f"no field {error.name!r}; fields of {stream!r}: {', '.join(fields)}{near}",)
    error.name = None  # else Python's traceback would suggest the same once more
