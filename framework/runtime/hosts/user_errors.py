"""Exceptions of user code: which ones are the component's own, and what can happen after one."""

from __future__ import annotations

import enum
import sys


class OnError(enum.StrEnum):
    """What happens when a component raises."""

    STOP = "stop"
    """The run ends with that error."""
    RESTART = "restart"
    """The component is constructed and initialized again, as Storm does it; its state is gone."""
    SKIP = "skip"
    """The component goes on with the next tuple."""


def user_errors() -> tuple[type[BaseException], ...]:
    """The classes, for an ``except``; KeyboardInterrupt and our own stop signal pass through.

    asyncio's CancelledError, which is no Exception, is among them where somebody has imported asyncio.
    """
    asyncio = sys.modules.get("asyncio.exceptions")
    cancelled = (asyncio.CancelledError,) if asyncio is not None else ()
    return (Exception, SystemExit, GeneratorExit, *cancelled)
