"""Exceptions of user code: their tracebacks without the frames of ours around them, also in the log."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, GeneratorType, TracebackType

from framework.model.errors import EmitError, LoadError, ProgramError, SinkError, SourceError, ViperError

_FRAMEWORK = str(Path(__file__).parents[1]) + os.sep
_OURS = _FRAMEWORK, str(Path(__file__).parents[2] / "viper") + os.sep
_SAID_BY_MESSAGE = (EmitError, ProgramError, SinkError, SourceError)
"""Errors of ours that are user code's, a program's or the data's fault: our own frames would help nobody."""

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]
"""An exception as `logging` takes it."""


class RemoteTraceback(Exception):
    """The traceback of an exception in another process, as the cause of the error that is raised here.

    Attributes:
        text: its traceback there.
        kind: the name of its type.
    """

    def __init__(self, text: str, kind: str) -> None:
        self.text = text
        self.kind = kind
        super().__init__(f"\n{text}")


def of_user_code(error: BaseException | None) -> Sequence[str]:
    """The traceback of an exception of user code, from the frame in which user code was called.

    Empty if there is no exception, and for an error of ours without any frame of user code, whose message
    says everything.
    """
    if error is None:
        return ()
    if isinstance(error, RemoteTraceback):
        return (error.text,)
    kind, error, frames = exc_info_of_user_code(error)
    if isinstance(error, _SAID_BY_MESSAGE) and _before_ours(frames) is None:
        return ()
    return formatted((kind, error, frames))


def formatted(exc_info: ExcInfo) -> Sequence[str]:
    """An exception as Python prints it.

    Errors of ours that are user code's fault end with the user's own line, and without their cause, which is
    in their message.
    """
    kind, error, frames = exc_info
    if isinstance(error, _SAID_BY_MESSAGE):
        frames = _before_ours(frames)
    return traceback.format_exception(kind, error, frames, chain=not isinstance(error, ViperError))


def place_of(error: BaseException) -> str:
    """File and line, as ``takings.py:31``, of the innermost frame of user code; else of the innermost one.

    Of a group of exceptions it is that of the first one, as an ``asyncio.TaskGroup`` raises them.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = list(traceback.walk_tb(exc_info_of_user_code(error)[2]))
    found = [each for each in frames if not is_ours(each[0])] or frames
    if not found:
        return "somewhere"
    frame, line = found[-1]
    return f"{Path(frame.f_code.co_filename).name}:{line}"


def name_of(error: BaseException) -> str:
    """The name of an exception's type, even if the exception was raised in another process."""
    return error.kind if isinstance(error, RemoteTraceback) else type(error).__name__


def exc_info_of_user_code(error: BaseException) -> ExcInfo:
    """An exception with its frames, from the one in which user code was called.

    If an object could not be made, it is the exception that kept it from being made. If a row that a
    generator of the user's yielded was refused, the frame is the one that yielded it.
    """
    while isinstance(error, LoadError) and error.__cause__ is not None:
        error = error.__cause__
    frames = error.__traceback__
    return type(error), error, _after_ours(frames) or _at_yield(frames) or frames


def is_ours(frame: FrameType) -> bool:
    """True if a frame is of the framework's own code."""
    return frame.f_code.co_filename.startswith(_FRAMEWORK)


def let_go_of_frames(error: BaseException | None) -> None:
    """Empty the frames of our own code that an error has come through, once what it has ended is over.

    Whoever keeps the error would otherwise keep all that these frames refer to, such as the memory of a run.
    Some of it refers to the error in turn, so that only Python's collector of cycles would free it. Frames of
    the user's code stay as they are, for a look at their variables.
    """
    seen = set[int]()
    errors = [error]
    while errors:
        error = errors.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        errors += [error.__cause__, error.__context__]
        frames = error.__traceback__
        if frames is not None and _after_ours(frames) is None:
            error.__traceback__ = _followed_by(frames, _at_yield(frames))  # which is found there only
        for frame, _ in traceback.walk_tb(frames):
            if frame.f_code.co_filename.startswith(_OURS) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
                _let_go_of(frame)


def _let_go_of(frame: FrameType) -> None:
    """Empty the frame of a function."""
    with contextlib.suppress(RuntimeError):  # it is still at work
        frame.clear()
    if sys.version_info < (3, 13):
        frame.f_locals.clear()  # a copy, which who looks at it makes the frame keep


def _after_ours(frames: TracebackType | None) -> TracebackType | None:
    first = frames
    while first is not None and is_ours(first.tb_frame):
        first = first.tb_next
    return first


def _before_ours(frames: TracebackType | None) -> TracebackType | None:
    """The frames up to the last one that is not ours; None if all are ours."""
    if frames is None:
        return None
    rest = _before_ours(frames.tb_next)
    if rest is None and is_ours(frames.tb_frame):
        return None
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


def _followed_by(frames: TracebackType, others: TracebackType | None) -> TracebackType:
    rest = others if frames.tb_next is None else _followed_by(frames.tb_next, others)
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


def _at_yield(frames: TracebackType | None) -> TracebackType | None:
    """The line at which a user's generator has yielded, if one of these frames was iterating over it."""
    for generator in _generators(frames):
        frame = generator.gi_frame
        if frame is not None and not is_ours(frame):
            return TracebackType(None, frame, frame.f_lasti, frame.f_lineno)
    return None


def _generators(frames: TracebackType | None) -> Iterator[GeneratorType[object, object, object]]:
    for frame, _ in traceback.walk_tb(frames):
        yield from (value for value in frame.f_locals.values() if isinstance(value, GeneratorType))


def log_error(logger: logging.Logger, error: BaseException, message: str, *args: object) -> None:
    """Log an error of user code as one record, with its traceback from the user's own code on.

    Consequences of the error belong into further records.

    Args:
        logger: the component's.
        error: what user code raised.
        message: what it did, as in ``Logger.error``, like its arguments.
    """
    logger.error(message, *args, exc_info=exc_info_of_user_code(error))


def log_raised(
    logger: logging.Logger, error: BaseException, tup: object = None, during: str | None = None
) -> None:
    """Log what a callback raised, where the component continues afterwards.

    Args:
        logger: the component's.
        error: what it raised.
        tup: the tuple that it was called with; None or an empty one for none.
        during: the callback, where the message has to name it.
    """
    if tup:
        log_error(logger, error, "%s raised while processing %.500s", type(error).__name__, repr(tup))
    else:
        where = f" in {during}" if during else ""
        log_error(logger, error, "%s raised%s", type(error).__name__, where)
