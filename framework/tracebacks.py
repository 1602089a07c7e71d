"""What user code raised, without the frames of ours around it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

_FRAMEWORK = str(Path(__file__).parent) + os.sep


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
    return traceback.format_exception(type(error), error, _after_ours(error.__traceback__))


def _after_ours(frames: TracebackType | None) -> TracebackType | None:
    first = frames
    while first is not None and first.tb_frame.f_code.co_filename.startswith(_FRAMEWORK):
        first = first.tb_next
    return first or frames
