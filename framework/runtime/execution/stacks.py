"""Reads where a thread is within a callback, from another thread or from a signal handler."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from types import CodeType, FrameType

from framework.model.tracebacks import is_ours
from framework.operators.components import Component

_DEBUGGER = "bdb"
_COMPONENTS = str(Path(inspect.getfile(Component)).parent)


@dataclass(frozen=True, slots=True)
class Stack:
    """The frames of a callback as they were at one moment; the first is that of the callback itself."""

    callback: str
    """The name of the callback, e.g. ``process``."""
    text: str
    """The frames as text, in the form of a traceback."""
    in_debugger: bool
    """True if somebody looks at it with a debugger."""


def stack_of(thread: int, below: CodeType) -> Stack | None:
    """The stack of a thread from the user's code on; None if the thread is not in a callback any more.

    Args:
        thread: the identifier of the thread.
        below: the code of the function that makes callbacks. If the thread is in several calls of it, the
            innermost one counts.
    """
    frames = _frames_below(sys._current_frames().get(thread), below)
    if not frames:
        return None
    shown = list(dropwhile(is_ours, frames)) or frames
    extracted = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in shown)
    return Stack(
        callback=_name(shown),
        text="".join(extracted.format()).rstrip(),
        in_debugger=any(frame.f_globals.get("__name__") == _DEBUGGER for frame in frames),
    )


def callback_of(thread: int, below: CodeType) -> str:
    """The name of the callback that a thread is in; cheaper than `stack_of`, so that it can be asked often.

    Args:
        thread: the identifier of the thread.
        below: as for `stack_of`.
    """
    frames = _frames_below(sys._current_frames().get(thread), below)
    return next((frame.f_code.co_name for frame in frames if not _is_of_a_layer(frame)), "a callback")


def _is_of_a_layer(frame: FrameType) -> bool:
    """True if a frame belongs to the framework, or to the communication layer below it."""
    return is_ours(frame) or str(frame.f_globals.get("__name__")).startswith("viper.")


def callback_at(innermost: FrameType | None, below: CodeType) -> str | None:
    """The name of the callback that a frame is in; None if it is in none.

    Args:
        innermost: the frame.
        below: as for `stack_of`.
    """
    frames = _frames_below(innermost, below)
    users = list(dropwhile(is_ours, frames))
    return _name(users or frames) if frames else None


def is_in_users_code(innermost: FrameType | None, callers: str) -> bool:
    """True if a frame belongs to a component's code, or to a library that the component has called.

    An exception that is raised there leaves nothing of the framework half done, because the component might
    have raised it, too.

    Args:
        innermost: the frame.
        callers: the folder of the modules that make callbacks.
    """
    frame = innermost
    while frame is not None and not _is_of_the_runtime(frame):
        frame = frame.f_back
    return frame is not None and frame is not innermost and frame.f_code.co_filename.startswith(callers)


def _is_of_the_runtime(frame: FrameType) -> bool:
    """True if a frame belongs to the framework, but not to the components' base classes.

    Frames of the base classes only call the user's code.
    """
    return is_ours(frame) and not frame.f_code.co_filename.startswith(_COMPONENTS)


def _name(frames: Sequence[FrameType]) -> str:
    return "a callback" if is_ours(frames[0]) else frames[0].f_code.co_name


def _frames_below(innermost: FrameType | None, below: CodeType) -> Sequence[FrameType]:
    """The frames from the one that `below` has called to the innermost; none if `below` is not there."""
    frames: list[FrameType] = []
    frame = innermost
    while frame is not None:
        if frame.f_code is below:
            return frames[::-1]
        frames.append(frame)
        frame = frame.f_back
    return ()
