"""The one log of a run: who speaks, what a line looks like, what is only counted."""

from framework.log.counting import Counting, active_limits, limits_of
from framework.log.errors import log_error, log_raised
from framework.log.files import log_level, task_files
from framework.log.forms import FORMS, LogForm
from framework.log.origin import (
    Origin,
    ask_in_this_thread,
    attached_origins,
    component_logger,
    current_origin,
    origin_of,
    speaking_as,
)
from framework.log.repetition import Limits, key_of

__all__ = [
    "FORMS",
    "Counting",
    "Limits",
    "LogForm",
    "Origin",
    "active_limits",
    "ask_in_this_thread",
    "attached_origins",
    "component_logger",
    "current_origin",
    "key_of",
    "limits_of",
    "log_error",
    "log_level",
    "log_raised",
    "origin_of",
    "speaking_as",
    "task_files",
]
