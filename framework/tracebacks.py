"""What user code raised, without the frames of ours around it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, GeneratorType, TracebackType

from framework.errors import LoadError, ViperError

_FRAMEWORK = str(Path(__file__).parent) + os.sep

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]
"""An exception as `logging` takes it."""


class RemoteTraceback(Exception):
    """Stands for an exception of another process, as the cause of what was made of it.

    Attributes:
        text: its traceback there.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(f"\n{text}")


def of_user_code(error: BaseException | None) -> Sequence[str]:
    """The traceback of what user code raised, from where it was called on; nothing of nothing."""
    if error is None:
        return ()
    if isinstance(error, RemoteTraceback):
        return (error.text,)
    kind, error, frames = exc_info_of_user_code(error)
    # What one of our own errors was made of is in its message.
    return traceback.format_exception(kind, error, frames, chain=not isinstance(error, ViperError))


def exc_info_of_user_code(error: BaseException) -> ExcInfo:
    """An exception with its frames from where user code was called on.

    Of an object that could not be made it is the exception that kept it from being made. Where what a
    generator of the user's has yielded could not be taken, the frame is the one that yielded it.
    """
    while isinstance(error, LoadError) and error.__cause__ is not None:
        error = error.__cause__
    frames = error.__traceback__
    return type(error), error, _after_ours(frames) or _at_yield(frames) or frames


def is_ours(frame: FrameType) -> bool:
    """Whether a frame is of the framework's own code."""
    return frame.f_code.co_filename.startswith(_FRAMEWORK)


def _after_ours(frames: TracebackType | None) -> TracebackType | None:
    first = frames
    while first is not None and is_ours(first.tb_frame):
        first = first.tb_next
    return first


def _at_yield(frames: TracebackType | None) -> TracebackType | None:
    """Where a generator of the user's waits that one of these frames was drawing from, if there is one."""
    for generator in _generators(frames):
        frame = generator.gi_frame
        if frame is not None and not is_ours(frame):
            return TracebackType(None, frame, frame.f_lasti, frame.f_lineno)
    return None


def _generators(frames: TracebackType | None) -> Iterator[GeneratorType[object, object, object]]:
    for frame, _ in traceback.walk_tb(frames):
        yield from (value for value in frame.f_locals.values() if isinstance(value, GeneratorType))
