"""Exceptions of user code: which classes count as such, and what a task can do after one."""

from __future__ import annotations

import enum
import os
import sys

from framework.model.importing import source_folder
from framework.model.topology import did_you_mean


class OnError(enum.StrEnum):
    """The reactions of a task when its component raises."""

    STOP = "stop"
    """The run ends with that error."""
    RESTART = "restart"
    """The component is constructed and initialized again, as on Storm; its state is lost."""
    SKIP = "skip"
    """The component continues with the next tuple."""


TRIES = 10
"""Restarts of one of our components within the window, where the configuration leaves that open."""


def user_errors() -> tuple[type[BaseException], ...]:
    """The classes of exceptions that user code may raise, for an ``except``.

    KeyboardInterrupt and the runtime's own `TaskStopped` are not among them. asyncio's CancelledError, which
    is no Exception, is among them once somebody has imported asyncio.
    """
    asyncio = sys.modules.get("asyncio.exceptions")
    cancelled = (asyncio.CancelledError,) if asyncio is not None else ()
    return (Exception, SystemExit, GeneratorExit, *cancelled)


def name_the_folder(error: BaseException, cls: type) -> None:
    """Note at a FileNotFoundError that the file is where the sources of a component's class are, if it is."""
    name = error.filename if isinstance(error, FileNotFoundError) else None
    if not isinstance(name, str) or os.path.isabs(name):
        return
    folder = source_folder(cls, sys.path)
    if folder is not None and os.path.exists(os.path.join(folder, name)):
        error.add_note(
            f"there is one in {folder!r}, from where {cls.__name__} was imported, and this process runs in "
            f"{os.getcwd()!r}: name it by os.path.dirname(__file__)"
        )


def name_the_fields(error: BaseException) -> None:
    """Improve the message of an AttributeError for a field that a stream lacks: name the fields that it has.

    Python's own message names a class that the user has never seen. The class of the values could raise a
    better error itself, but then each access to an existing field would take longer.
    """
    if not isinstance(error, AttributeError) or error.name is None:
        return
    stream = getattr(type(error.obj), "_stream", None)
    if stream is None or not isinstance(error.obj, tuple):
        return
    fields: tuple[str, ...] = type(error.obj)._fields  # type: ignore[attr-defined]
    near = did_you_mean(error.name, fields)
    error.args = (f"no field {error.name!r}; fields of {stream!r}: {', '.join(fields)}{near}",)
    error.name = None  # or else Python's traceback would add the same suggestion
