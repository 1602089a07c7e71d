"""Where a thread is within a callback."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from types import CodeType, FrameType

from framework.tracebacks import is_ours

_DEBUGGER = "bdb"


@dataclass(frozen=True, slots=True)
class Stack:
    """The frames of a callback, as they were at one moment; the callback's own is the first."""

    callback: str
    """The name of the callback, e.g. ``process``."""
    text: str
    """As in a traceback."""
    in_debugger: bool
    """Whether somebody looks at it with a debugger."""


def stack_of(thread: int, below: CodeType) -> Stack | None:
    """Where a thread is, from the user's code on; None if it is not in a callback any more.

    Args:
        thread: its identifier.
        below: the code of the function that makes callbacks; of several calls of it the innermost counts.
    """
    frames = _frames_below(sys._current_frames().get(thread), below)
    if not frames:
        return None
    shown = list(dropwhile(is_ours, frames)) or frames
    extracted = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in shown)
    return Stack(
        callback="a callback" if is_ours(shown[0]) else shown[0].f_code.co_name,
        text="".join(extracted.format()).rstrip(),
        in_debugger=any(frame.f_globals.get("__name__") == _DEBUGGER for frame in frames),
    )


def callback_of(thread: int, below: CodeType) -> str:
    """The name of the callback that a thread is in, as of `stack_of`; cheap enough to be asked often."""
    frames = _frames_below(sys._current_frames().get(thread), below)
    return next((frame.f_code.co_name for frame in frames if not _is_of_a_layer(frame)), "a callback")


def _is_of_a_layer(frame: FrameType) -> bool:
    """Whether a frame is of the framework, or of the layer below."""
    return is_ours(frame) or str(frame.f_globals.get("__name__")).startswith("viper.")


def _frames_below(innermost: FrameType | None, below: CodeType) -> Sequence[FrameType]:
    """The frames from the one that was called by `below`, the outermost first."""
    frames: list[FrameType] = []
    frame = innermost
    while frame is not None:
        if frame.f_code is below:
            return frames[::-1]
        frames.append(frame)
        frame = frame.f_back
    return ()
