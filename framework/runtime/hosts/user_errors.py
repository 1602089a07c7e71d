"""What user code may raise, so that it is the component's error and nobody else's."""

from __future__ import annotations

import sys


def user_errors() -> tuple[type[BaseException], ...]:
    """The classes, for an ``except``; KeyboardInterrupt and our own stop signal pass through.

    asyncio's CancelledError, which is no Exception, is among them where somebody has imported asyncio.
    """
    asyncio = sys.modules.get("asyncio.exceptions")
    cancelled = (asyncio.CancelledError,) if asyncio is not None else ()
    return (Exception, SystemExit, GeneratorExit, *cancelled)
